"""One process under the agent: begins to watch, follows threads and forks, and leaves a file when it ends."""

# ruff: noqa: BLE001, PTH123, S110, SIM105, UP031  (runs from 3.8 on; the program must never hear of a failure of ours)
# Run by exec, never imported. References are kept here: programs may delete what they like.

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # the C half of signal: no enums
import _thread
import atexit
import posix
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDER = __file__.rpartition("/")[0]
_MOST_BYTES = 1 << 26
_FILE_FLAGS = posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC | posix.O_CLOEXEC
_open, _read, _write, _close = posix.open, posix.read, posix.write, posix.close
_rename, _getpid, _getppid, _kill = posix.rename, posix.getpid, posix.getppid, posix.kill
_set_signal, _clock = _signal.signal, time.perf_counter_ns


def quote(text: str) -> str:
    """A JSON string in ASCII; what is no character becomes a question mark."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return '"' + text + '"'
    units = text.encode("utf-8", "replace").decode("utf-8").encode("utf-16-be")
    return '"' + "".join("\\u%02x%02x" % pair for pair in zip(units[::2], units[1::2])) + '"'  # noqa: B905


def listed(items: Any) -> str:
    """A JSON list of what is JSON already."""
    return "[" + ",".join(items) + "]"


def clocks() -> tuple[float, float, float]:
    """Seconds of CPU, of the wall clock, and ready without a core (of the main thread)."""
    queued = 0.0
    try:
        file = _open("/proc/self/schedstat", posix.O_RDONLY | posix.O_CLOEXEC)
        queued = int(_read(file, 100).split()[1]) / 1e9
        _close(file)
    except (OSError, IndexError, ValueError):
        pass
    return time.process_time(), _clock() / 1e9, queued


class Session:
    """The watching of this process. `watcher` has begin, forked, thread, stop and body."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.notes: set[str] = set()
        self.folder = FOLDER
        self.quote, self.listed, self.load = quote, listed, load
        self.watcher: Any = None
        self.name = self.head = ""
        self.pid = self.killed = 0
        self.spent_writing = 0.0
        self.began = clocks()
        self.ending = False
        self.masks: dict[int, Any] = {}
        # A watcher that changes code sets this; None: the code is compiled as it is.
        self.compile: Any = lambda *_: None

    def begin(self, *, forked: bool = False) -> None:
        """Says in a new file that this process is watched."""
        self.pid = _getpid()
        self.began = clocks()
        self.name = "%s/%020d-%d.report" % (FOLDER, _clock(), self.pid)
        try:
            cwd = posix.getcwd()
        except OSError:
            cwd = "/"
        version = ".".join(map(str, sys.version_info[:3]))
        fields = (
            '"version":1',
            '"pid":%d' % self.pid,
            '"parent":%d' % _getppid(),
            '"forked":' + ("true" if forked else "false"),
            '"python":' + quote(version),
            '"cwd":' + quote(cwd),
        )
        self.head = "{" + ",".join(fields) + "}\n"
        self.write("")

    def write(self, body: str) -> None:
        """Replaces this process's file, which is not kept open: programs close what they did not open."""
        data = memoryview((self.head + body).encode("ascii"))
        file = _open(self.name + ".part", _FILE_FLAGS, 0o600)
        try:
            while data:
                data = data[_write(file, data) :]
        finally:
            _close(file)
        _rename(self.name + ".part", self.name)

    def tell(self, *, final: bool) -> None:
        """Leaves what was seen up to now."""
        line = self.watcher.body()
        spent = [max(0.0, now - then) for now, then in zip(clocks(), self.began)]  # noqa: B905
        start = '{"final":%s,' % ("true" if final else "false")
        line = start + '"cpu":%.6f,"wall":%.6f,"queued":%.6f,' % tuple(spent) + line[1:]
        if len(line) > _MOST_BYTES:
            line = line[: line.index('"files"')] + '"notes":["large"]}'
        self.write(line + "\n")

    def end(self, *_: Any) -> None:
        """Stops watching and leaves what was seen; the last thing that was left counts."""
        try:
            if _getpid() != self.pid or self.ending:
                return  # a fork that went round the hooks is not ours to tell; a signal may come in between
            self.ending = True
            self.watcher.stop(sys._getframe())
            self.tell(final=True)
        except BaseException:
            pass  # the program is never to hear of it; a file without a last line says enough
        self.ending = False
        if self.killed:
            _kill(_getpid(), self.killed)

    def resume(self) -> None:
        """Watches again."""
        try:
            self.watcher.begin()
        except BaseException:
            pass

    def checkpoint(self) -> None:
        """In a worker that may be killed whenever it waits; takes about a tenth of its time at most."""
        began = _clock() / 1e9
        allowed = 0.1 * (began - self.began[1]) + 0.25
        if self.ending or _getpid() != self.pid or self.spent_writing > allowed:
            return
        self.ending = True
        try:
            self.tell(final=False)
        except BaseException:
            pass
        self.ending = False
        self.spent_writing += _clock() / 1e9 - began

    def before_fork(self) -> None:
        """Holds SIGTERM back: Python forgets signals that reach a child before its hooks have run."""
        self.masks[_thread.get_ident()] = _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGTERM,))

    def after_fork(self) -> None:
        """In the parent, and in the child at the end."""
        mask = self.masks.pop(_thread.get_ident(), None)
        if mask is not None:
            _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)

    def child(self) -> None:
        """A fork: its own file, and what the parent did is not its work."""
        try:
            self.begin(forked=True)
            self.spent_writing = 0.0
            # A handler in Python runs only between two instructions: a worker that just went to sleep on a
            # lock would never die. So workers die as always, and leave their profile before they wait.
            if _signal.getsignal(_signal.SIGTERM) == self.terminated:
                _set_signal(_signal.SIGTERM, _signal.SIG_DFL)
            _checkpoints(self)
            self.watcher.forked()
        except BaseException:
            self.name = ""
        self.after_fork()

    def terminated(self, number: int, _: Any) -> None:
        """The default of SIGTERM, after the file is written."""
        _set_signal(number, _signal.SIG_DFL)
        self.killed = number
        if not self.ending:
            self.end()


def _checkpoints(session: Session) -> None:
    """Where workers of multiprocessing wait for work."""
    queues = sys.modules.get("multiprocessing.queues")
    for name in ("SimpleQueue", "Queue"):
        kind = getattr(queues, name, None)
        original = getattr(kind, "get", None)
        if original is not None and not hasattr(original, "suspects"):
            setattr(kind, "get", _checkpointed(session, original))  # noqa: B010  (kind has no type)


def _checkpointed(session: Session, original: Any) -> Any:
    def get(*arguments: Any, **keywords: Any) -> Any:
        session.checkpoint()
        return original(*arguments, **keywords)

    get.suspects = True  # type: ignore[attr-defined]
    return get


def _ends_before(session: Session, original: Any) -> Any:
    """os._exit and os.exec*: no other hook sees these ends."""

    def replaced(*arguments: Any, **keywords: Any) -> Any:
        session.end()
        try:
            return original(*arguments, **keywords)
        finally:
            session.resume()  # it failed: the program goes on

    replaced.__name__ = replaced.__qualname__ = original.__name__
    replaced.__module__, replaced.__doc__ = original.__module__, original.__doc__
    return replaced


def _starts_thread(session: Session, original: Any) -> Any:
    def replaced(function: Any, *arguments: Any, **keywords: Any) -> Any:
        return original(session.watcher.thread(function), *arguments, **keywords)

    replaced.__name__ = replaced.__qualname__ = original.__name__
    replaced.__module__, replaced.__doc__ = original.__module__, original.__doc__
    return replaced


def _replace(modules: tuple[str, ...], names: tuple[str, ...], change: Any) -> None:
    """Replaces functions wherever modules that are loaded already hold them."""
    for name in names:
        changed = None
        for module in modules:
            place = sys.modules.get(module)
            for attribute in (name, "_" + name):
                original = getattr(place, attribute, None) if place is not None else None
                if callable(original) and type(original) is type(len):
                    changed = changed or change(original)
                    setattr(place, attribute, changed)


_loaded: dict[str, dict[str, Any]] = {}


def load(name: str) -> dict[str, Any]:
    """Another file of the agent."""
    if name in _loaded:
        return _loaded[name]
    path = FOLDER + "/suspects_" + name + ".py"
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    space: dict[str, Any] = {"__name__": "suspects_" + name, "__file__": path}
    exec(code, space)  # noqa: S102
    _loaded[name] = space
    return space


def start() -> Session:
    """Watches this process from here on."""
    with open(FOLDER + "/settings.json", "rb") as file:
        # Our own JSON is Python too; importing its reader would show.
        settings = eval(file.read(), {"true": True, "false": False, "null": None})  # noqa: S307
    session = Session(settings)
    session.begin()
    session.watcher = load(settings["watcher"])["make"](session)
    posix.register_at_fork(
        before=session.before_fork, after_in_parent=session.after_fork, after_in_child=session.child
    )
    atexit.register(session.end)  # registered first: runs last
    _replace(("posix", "os"), ("_exit", "execv", "execve"), lambda f: _ends_before(session, f))
    names = ("start_new_thread", "start_joinable_thread", "start_new")
    _replace(("_thread", "threading"), names, lambda f: _starts_thread(session, f))
    if _signal.getsignal(_signal.SIGTERM) == _signal.SIG_DFL and _thread.get_ident() == _main_thread():
        _set_signal(_signal.SIGTERM, session.terminated)
    session.watcher.begin()
    return session


def _main_thread() -> int:
    threading = sys.modules.get("threading")
    return threading.main_thread().ident if threading else _thread.get_ident()


SESSION = start()
