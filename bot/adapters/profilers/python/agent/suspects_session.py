"""One process under the agent: begins to watch, follows threads and forks, and leaves a file when it ends."""

# ruff: noqa: BLE001, PTH123, S110, UP031  (runs from 3.8 on; the program must never hear of a failure of ours)
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
_FILE_FLAGS = posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND | posix.O_CLOEXEC
_open, _write, _close = posix.open, posix.write, posix.close
_getpid, _getppid, _kill = posix.getpid, posix.getppid, posix.kill
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


class Session:
    """The watching of this process. `watcher` has begin, forked, thread, stop and body."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.notes: set[str] = set()
        self.folder = FOLDER
        self.quote, self.listed = quote, listed
        self.watcher: Any = None
        self.name = ""
        self.pid = self.killed = 0
        self.ending = False
        self.masks: dict[int, Any] = {}

    def begin(self, *, forked: bool = False) -> None:
        """Says in a new file that this process is watched."""
        self.pid = _getpid()
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
        self.write("{" + ",".join(fields) + "}\n")

    def write(self, line: str) -> None:
        """Appends to this process's file, which is not kept open: programs close what they did not open."""
        data = memoryview(line.encode("ascii"))
        file = _open(self.name, _FILE_FLAGS, 0o600)
        try:
            while data:
                data = data[_write(file, data) :]
        finally:
            _close(file)

    def end(self, *_: Any) -> None:
        """Stops watching and leaves what was seen; the last thing that was left counts."""
        try:
            if _getpid() != self.pid or self.ending:
                return  # a fork that went round the hooks is not ours to tell; a signal may come in between
            self.ending = True
            self.watcher.stop(sys._getframe())
            line = self.watcher.body()
            if len(line) > _MOST_BYTES:
                line = '{"notes":["large"]}'
            self.write(line + "\n")
        except BaseException:
            pass  # the program is never to hear of it; a file without a last line says enough
        self.ending = False
        if self.killed:
            _kill(self.pid, self.killed)

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


def _ends_before(session: Session, original: Any) -> Any:
    """os._exit and os.exec*: no other hook sees these ends."""

    def replaced(*arguments: Any, **keywords: Any) -> Any:
        session.end()
        try:
            return original(*arguments, **keywords)
        finally:
            session.watcher.begin()  # it failed: the program goes on

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


def load(name: str) -> dict[str, Any]:
    """Another file of the agent."""
    path = FOLDER + "/suspects_" + name + ".py"
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    space: dict[str, Any] = {"__name__": "suspects_" + name, "__file__": path}
    exec(code, space)  # noqa: S102
    return space


def start() -> None:
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


def _main_thread() -> int:
    threading = sys.modules.get("threading")
    return threading.main_thread().ident if threading else _thread.get_ident()


start()
