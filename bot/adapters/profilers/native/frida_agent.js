// Inside of the program: puts the hooks of `frida_hooks.c` at functions, and sends what they recorded.

const VISIT = 10; // milliseconds
const CAPACITY = 4 << 20;
const WAY = 16; // bytes of what is told of an open call
const PATIENCE = 0.02; // seconds between two looks at threads
const RETURNED = 1e6; // nanoseconds on a core in which a thread has certainly gone the way back
const WAY_BACK = 16, ROUND = 24, MOST = 28, STATE = 32 + 8 * 512; // where in `State`, and its bytes
const NEAR = 5, FAR = 16; // bytes that Gum overwrites with a jump, if need be to far away
const NEEDED = ['abort', 'clock_gettime', 'pthread_key_create', 'pthread_key_delete', 'pthread_getspecific', 'pthread_setspecific'];
const UNWINDERS = ['_Unwind_RaiseException', '_Unwind_Resume', '_Unwind_Resume_or_Rethrow', '_Unwind_ForcedUnwind'];
const CATCHERS = ['__cxa_begin_catch'];

let hooks = null;
let state = null;
let buffer = null;
let wayBack = null;
let call = null;
let observer = null;
let timer = null;
let listeners = [];
let wanted = new Map();
let places = [];
const guarded = new Set();

function prepare(source) {
  state = Memory.alloc(STATE);
  buffer = Memory.alloc(CAPACITY);
  const symbols = { state };
  for (const name of NEEDED) symbols[name] = Module.getGlobalExportByName(name);
  hooks = new CModule(source, symbols);
  call = {
    start: new NativeFunction(hooks.start, 'int', []),
    open: new NativeFunction(hooks.open_calls, 'uint', ['pointer', 'uint']),
    skipped: new NativeFunction(hooks.skipped_calls, 'uint', []),
    drain: new NativeFunction(hooks.drain, 'uint', ['pointer', 'uint']),
  };
  if (call.start() !== 0) throw new Error('the program has used up what belongs to threads');
  wayBack = Memory.alloc(Process.pageSize);
  Memory.patchCode(wayBack, Process.pageSize, (code) => writeWayBack(new X86Writer(code, { pc: wayBack })));
  state.add(WAY_BACK).writePointer(wayBack);
}

// A watched call returns to this: asks `leave` for where to go on, and changes no register on the way. (Compilers
// know which ones a function leaves alone.) `rbx` holds the stack, which may be anything but must be even for C.
function writeWayBack(writer) {
  const kept = ['rax', 'rcx', 'rdx', 'rsi', 'rdi', 'r8', 'r9', 'r10', 'r11', 'rbx'];
  const above = 8 * (kept.length + 2);
  const vectors = (opcode) => {
    for (let n = 0; n !== 16; n++)
      writer.putBytes([...(n < 8 ? [] : [0x44]), 0x0f, opcode, 0x84 | ((n & 7) << 3), 0x24, 16 * n, (16 * n) >> 8, 0, 0]);
  };
  writer.putPushReg('rax'); // room for the address
  writer.putPushfx();
  for (const name of kept) writer.putPushReg(name);
  writer.putMovRegReg('rbx', 'rsp');
  writer.putLeaRegRegOffset('rdi', 'rsp', above);
  writer.putSubRegImm('rsp', 256);
  writer.putBytes([0x48, 0x83, 0xe4, 0xf0]); // and rsp, -16
  vectors(0x11); // movups to memory
  writer.putBytes([0xfc]); // cld
  writer.putMovRegAddress('rax', hooks.leave);
  writer.putCallReg('rax');
  writer.putMovRegOffsetPtrReg('rbx', above - 8, 'rax');
  vectors(0x10);
  writer.putMovRegReg('rsp', 'rbx');
  for (const name of kept.reverse()) writer.putPopReg(name);
  writer.putPopfx();
  writer.putRet();
  writer.flush();
}

// Exceptions pass through watched calls only when the unwinder sees the stack as the program made it.
function guard(module) {
  const own = module.path === Process.mainModule.path;
  for (const [names, probe] of [[UNWINDERS, hooks.unwinding], [CATCHERS, hooks.caught]]) {
    for (const name of names) {
      const found = module.findExportByName(name) ?? (own ? module.findSymbolByName(name) : null);
      if (found === null || guarded.has(found.toString())) continue;
      guarded.add(found.toString());
      Interceptor.attach(found, probe);
    }
  }
}

// Gum moves a function's first instructions: an exception cannot pass through a call that was among them.
function untilCall(address) {
  if (guarded.size === 0) return FAR; // there are no exceptions
  let at = Instruction.parse(address);
  while (at.mnemonic !== 'call' && at.address.compare(address.add(FAR)) < 0) at = Instruction.parse(at.next);
  return at.address.sub(address).toInt32();
}

function isNear(address) {
  const first = Instruction.parse(address);
  const jump = first.mnemonic.startsWith('endbr') ? Instruction.parse(first.next) : first;
  return jump.mnemonic === 'jmp' && jump.size === NEAR;
}

// The places of a module's functions; no way to hook one: it is said.
function resolve(module, wanted) {
  guard(module);
  const found = [];
  for (const { offset, id } of wanted.get(module.path) ?? []) {
    const address = module.base.add(offset);
    let room = 0;
    try {
      room = untilCall(address);
    } catch (_) {} // not code
    if (room < NEAR) send({ type: 'refused', id });
    else found.push({ address, id, room });
  }
  wanted.delete(module.path);
  return found;
}

// Overwrites the begins of functions.
function attach(places) {
  const added = [];
  for (const { address, id, room } of places) {
    try {
      added.push({ address, id, room, listener: Interceptor.attach(address, hooks.enter, ptr(id)) });
    } catch (_) {
      send({ type: 'refused', id });
    }
  }
  Interceptor.flush();
  for (const { address, id, room, listener } of added) {
    if (room >= FAR || isNear(address)) {
      listeners.push(listener);
    } else {
      listener.detach();
      send({ type: 'refused', id });
    }
  }
  Interceptor.flush();
}

function deliver() {
  for (let size; (size = call.drain(buffer, CAPACITY)) !== 0; ) send({ type: 'calls' }, buffer.readByteArray(size));
}

// What the system tells of a thread; null: there is no such thread, or it tells nothing.
//
// Frida would stop all threads for that, its own, too; it lets each go on with a SIGCONT, which takes back the stop of
// the next one where it is blocked (as in Frida's own threads), and then waits for ever.
function told(thread, file) {
  try {
    return File.readAllText(`/proc/self/task/${thread}/${file}`).trim().split(' ');
  } catch (_) {
    return null;
  }
}

// Whether the way back is on the stack of a thread that has come no further; a thread that runs may not have.
function isOpen(thread, slot) {
  const blocked = told(thread, 'syscall'); // ..., stack pointer, program counter; or only "running"
  if (blocked === null && told(thread, 'stat') === null) return false;
  if (blocked !== null && blocked.length > 2 && slot.compare(ptr(blocked.at(-2))) < 0) return false;
  return slot.readPointer().equals(wayBack);
}

// Waits until the calls that are open have ended, and threads that were just on the way back have gone it.
function settle() {
  const threads = new Set();
  for (let waiting = true; waiting; ) {
    waiting = false;
    const count = call.open(buffer, CAPACITY / WAY);
    for (let place = buffer, n = 0; n !== count; place = place.add(WAY), n++) {
      const thread = place.readU32();
      threads.add(thread);
      waiting = isOpen(thread, place.add(8).readPointer()) || waiting;
    }
    if (waiting) Thread.sleep(PATIENCE);
  }
  const ran = (thread) => Number((told(thread, 'schedstat') ?? [Infinity])[0]); // nanoseconds on a core
  const since = new Map([...threads].map((thread) => [thread, ran(thread)]));
  const mayBe = (thread) => (told(thread, 'syscall') ?? []).length < 3 && ran(thread) < since.get(thread) + RETURNED;
  do Thread.sleep(PATIENCE);
  while ([...threads].some(mayBe));
}

rpc.exports = {
  // functions: where they are in an object file's memory, and the number, from 1, that calls are recorded under.
  // Returns where code will be overwritten.
  prepare(source, functions) {
    if (hooks === null) prepare(source);
    wanted = new Map();
    for (const [path, offset, id] of functions) {
      if (!wanted.has(path)) wanted.set(path, []);
      wanted.get(path).push({ offset, id });
    }
    const modules = Process.enumerateModules();
    modules.forEach(guard);
    Interceptor.flush();
    places = modules.flatMap((module) => resolve(module, wanted));
    return places.map(({ address }) => address.toString());
  },
  // Which of these are Frida's.
  guests: (threads) => threads.filter((thread) => Cloak.hasThread(thread)),
  // These two run while the program's threads stand still: nothing here may wait for one of them.
  hook(most) {
    state.add(ROUND).writeUInt(state.add(ROUND).readUInt() + 1);
    state.add(MOST).writeUInt(most);
    attach(places);
    state.writeInt(1);
  },
  unhook() {
    state.writeInt(0);
    for (const listener of listeners) listener.detach();
    listeners = [];
    Interceptor.flush();
  },
  begin() {
    observer = Process.attachModuleObserver({ onAdded: (module) => attach(resolve(module, wanted)) });
    timer = setInterval(deliver, VISIT);
  },
  // Returns how many calls were not recorded since Frida is there.
  end() {
    clearInterval(timer);
    observer.detach();
    deliver();
    return call.skipped();
  },
  // Called when Frida leaves, or who sent it was killed: open calls still need what goes with it.
  dispose(reason) {
    if (hooks === null) return;
    if (reason === 'exit') return deliver();
    rpc.exports.unhook();
    settle();
  },
};
