// Inside of the program: puts the hooks of `frida_hooks.c` at functions, and sends what they recorded.

const VISIT = 50; // milliseconds
const NEAR = 5, FAR = 16; // bytes that Gum overwrites with a jump, if need be to far away
const CAPACITY = 4 << 20;
const TRAMPOLINES = 16, MOST_FUNCTIONS = 4096, MOST_THREADS = 512; // of `State`
const STATE = TRAMPOLINES + 8 * MOST_FUNCTIONS + 8 * MOST_THREADS;
const NEEDED = ['clock_gettime', 'pthread_key_create', 'pthread_key_delete', 'pthread_getspecific', 'pthread_setspecific'];
const UNWINDERS = ['_Unwind_RaiseException', '_Unwind_Resume', '_Unwind_Resume_or_Rethrow', '_Unwind_ForcedUnwind'];
const CATCHERS = ['__cxa_begin_catch'];
const EXITS = ['exit', '_exit'];

let hooks = null;
let state = null;
let buffer = null;
let call = null;
let listeners = [];
let timer = null;
const guarded = new Set();

function prepare(source) {
  state = Memory.alloc(STATE);
  buffer = Memory.alloc(CAPACITY);
  const symbols = { state };
  for (const name of NEEDED) symbols[name] = Module.getGlobalExportByName(name);
  hooks = new CModule(source, symbols);
  call = {
    start: new NativeFunction(hooks.start, 'void', []),
    stop: new NativeFunction(hooks.stop, 'void', []),
    open: new NativeFunction(hooks.open_calls, 'uint', []),
    drain: new NativeFunction(hooks.drain, 'uint', ['pointer', 'uint']),
  };
  call.start();
}

// Exceptions pass through watched calls only when the unwinder sees the stack as the program made it.
function guard(module) {
  const own = module.path === Process.mainModule.path;
  for (const [names, probe] of [[UNWINDERS, hooks.unwinding], [CATCHERS, hooks.caught]]) {
    for (const name of names) {
      const found = module.findExportByName(name) ?? (own ? module.findSymbolByName(name) : null);
      if (found === null || guarded.has(found.toString())) continue;
      guarded.add(found.toString());
      Interceptor.attach(found, probe); // without a way back: an unwinder looks at its own frame
    }
  }
}

// Gum's jump at the begin of a function leads to `push [context]`; the function returns to the next one of these.
function trampoline(address, room) {
  let jump = Instruction.parse(address);
  if (jump.mnemonic.startsWith('endbr')) jump = Instruction.parse(jump.next);
  if (jump.mnemonic !== 'jmp') return null;
  const near = jump.operands[0].type === 'imm';
  if (!near && room < FAR) return null;
  const enter = near ? ptr(jump.operands[0].value) : addressed(jump.address).readPointer();
  for (let step = 6; isPush(enter) && step < 160; step++) {
    const place = enter.add(step);
    if (isPush(place) && addressed(place).equals(addressed(enter))) return place;
  }
  return null;
}

const isPush = (place) => place.readU16() === 0x35ff;
const addressed = (place) => place.add(6).add(place.add(2).readS32()); // of six bytes, relative to the next

function deliver() {
  for (let size; (size = call.drain(buffer, CAPACITY)) !== 0; ) send({ type: 'calls' }, buffer.readByteArray(size));
}

// Gum moves a function's first instructions: an exception cannot pass through a call that was among them.
function untilCall(address) {
  if (guarded.size === 0) return FAR; // there are no exceptions
  let at = Instruction.parse(address);
  while (at.mnemonic !== 'call' && at.address.compare(address.add(FAR)) < 0) at = Instruction.parse(at.next);
  return at.address.sub(address).toInt32();
}

function attach(module, wanted) {
  guard(module);
  const added = [];
  for (const { offset, id } of wanted.get(module.path) ?? []) {
    const address = module.base.add(offset);
    try {
      const room = untilCall(address);
      if (room < NEAR) throw new Error('not to be moved');
      const listener = Interceptor.attach(address, { onEnter: hooks.enter, onLeave: hooks.leave }, ptr(id));
      added.push({ address, id, room, listener });
    } catch (_) {
      send({ type: 'refused', id });
    }
  }
  wanted.delete(module.path);
  Interceptor.flush();
  for (const { address, id, room, listener } of added) {
    const found = trampoline(address, room);
    if (found === null) {
      listener.detach();
      send({ type: 'refused', id });
    } else {
      listeners.push(listener);
      state.add(TRAMPOLINES + 8 * id).writePointer(found);
    }
  }
}

rpc.exports = {
  // functions: where they are in an object file's memory, and the number, from 1, that calls are recorded under.
  watch(source, functions, exits) {
    if (hooks === null) prepare(source);
    const wanted = new Map();
    for (const [path, offset, id] of functions) {
      if (!wanted.has(path)) wanted.set(path, []);
      wanted.get(path).push({ offset, id });
    }
    Process.enumerateModules().forEach(guard);
    listeners.push(Process.attachModuleObserver({ onAdded: (module) => attach(module, wanted) }));
    for (const name of exits ? EXITS : [])
      Interceptor.attach(Module.getGlobalExportByName(name), {
        onEnter: (args) => send({ type: 'exit', code: args[0].toInt32() & 255 }),
      });
    state.writeInt(1);
    timer = setInterval(deliver, VISIT);
  },
  // How many calls are still open: the way back from them leads over Gum's trampolines.
  unwatch() {
    if (hooks === null) return 0;
    clearInterval(timer);
    state.writeInt(0);
    for (const listener of listeners) listener.detach();
    listeners = [];
    Interceptor.flush();
    deliver();
    return call.open();
  },
  dispose() {
    if (hooks !== null) deliver();
  },
};
