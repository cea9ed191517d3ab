"""The plumbing of the fake GitHub: HTTP on two loopback ports, faults, and the check of every exchange."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from tests.github.description import description

Kind: TypeAlias = Literal[
    "500",
    "502",
    "500 after",
    "502 after",
    "403 secondary",
    "429",
    "timeout",
    "drop",
    "drop after",
    "cut",
    "garbage",
    "empty",
    "revoked",
    "meanwhile",
]
"""`after`: the request was applied and only its answer is lost, as with `timeout` (no answer ever comes),
`cut` (half of it comes) and `empty` (an answer without any field). `garbage`: a proxy's page. `meanwhile`:
something else happens first, as with `revoked` (the token may no longer do anything)."""
_LONGER_THAN_ANY_PATIENCE = 20.0


@dataclass
class Fault:
    """What goes wrong with the next `times` requests that match, after the first `skip` of them."""

    kind: Kind
    method: str
    path: str
    times: int = 1
    skip: int = 0
    retry_after: str | None = "0"
    happens: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Request:
    """A request as a handler sees it."""

    method: str
    path: str
    query: dict[str, str]
    body: bytes
    token: str | None
    host: str


@dataclass
class Answer:
    """A response; `raw` instead of `body` is for what is not JSON."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None


def refusal(status: int, message: str, **headers: str) -> Answer:
    """An error as GitHub words it."""
    body = {"message": message, "documentation_url": "https://docs.github.com/rest", "status": str(status)}
    return Answer(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


class _Server(ThreadingHTTPServer):
    """Clients that leave in the middle of an answer are no news."""

    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Site:
    """A server on a loopback port of its own; what breaks the rules is kept in `violations`."""

    def __init__(self, answer: Callable[[Request], Answer], *, described: bool) -> None:
        self.answer = answer
        self.described = described
        self.faults: list[Fault] = []
        self.log: list[tuple[str, str, int]] = []
        self.violations: list[str] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else each answer waits 40 ms for its own acknowledgement

            def handle_any(self) -> None:
                site._serve(self)

            def __getattr__(self, name: str) -> Any:
                if name.startswith("do_"):
                    return self.handle_any
                raise AttributeError(name)

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet: `log` has it."""

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops serving."""
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def count(self, method: str, path: str) -> int:
        """How many requests came in that match."""
        return sum(1 for one, place, _ in self.log if one == method and re.search(path, place))

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        request = _request(handler)
        if len(request.body) < int(handler.headers.get("Content-Length") or 0):
            handler.close_connection = True  # its sender was killed: it never arrived
            return
        with self._lock:  # one request at a time: state needs no other care
            fault = self._fault(request)
            if fault and fault.kind in ("meanwhile", "revoked"):
                fault.happens()
            answer = self._answer(request, fault)
            self.log.append((request.method, request.path, answer.status if answer else 0))
        if fault and fault.kind == "timeout":
            self._closing.wait(_LONGER_THAN_ANY_PATIENCE)
        if answer is None:
            handler.close_connection = True
            return
        _send(handler, answer, cut=fault is not None and fault.kind == "cut")

    def _fault(self, request: Request) -> Fault | None:
        for fault in self.faults:
            if fault.times and fault.method == request.method and re.search(fault.path, request.path):
                if fault.skip:
                    fault.skip -= 1
                    continue
                fault.times -= 1
                return fault
        return None

    def _answer(self, request: Request, fault: Fault | None) -> Answer | None:
        kind = fault.kind if fault else None
        retry = {"Retry_After": fault.retry_after} if fault and fault.retry_after is not None else {}
        match kind:
            case "drop":
                return None
            case "500" | "502":
                return refusal(int(kind), "Server Error")
            case "429":
                return refusal(429, "API rate limit exceeded for installation", **retry)
            case "403 secondary":
                return refusal(
                    403, "You have exceeded a secondary rate limit. Please wait a few minutes", **retry
                )
            case "garbage":
                return Answer(200, raw=b"<html>unicorn</html>", headers={"Content-Type": "text/html"})
        answer = self._checked(request)
        match kind:
            case "500 after" | "502 after":
                return refusal(int(kind[:3]), "Server Error")
            case "drop after" | "timeout":
                return None
            case "empty":
                return Answer(200, raw=b"{}", headers={"Content-Type": "application/json"})
        return answer

    def _checked(self, request: Request) -> Answer:
        try:
            if self.described:
                description().check_request(
                    request.method, request.path, query=request.query, body=request.body
                )
            answer = self.answer(request)
            if self.described:
                description().check_response(
                    request.method, request.path, status=answer.status, body=answer.body
                )
        except AssertionError as error:
            self.violations.append(str(error))
            return refusal(418, str(error))
        return answer


def _request(handler: BaseHTTPRequestHandler) -> Request:
    split = urlsplit(handler.path)
    length = int(handler.headers.get("Content-Length") or 0)
    credentials = (handler.headers.get("Authorization") or "").split()
    return Request(
        method=handler.command,
        path=split.path,
        query=dict(parse_qsl(split.query, keep_blank_values=True)),
        body=handler.rfile.read(length),
        token=credentials[1] if len(credentials) == 2 else None,
        host=handler.headers.get("Host") or "",
    )


def _send(handler: BaseHTTPRequestHandler, answer: Answer, *, cut: bool = False) -> None:
    content = answer.raw
    headers = dict(answer.headers)
    if content is None:
        content = b"" if answer.body is None else json.dumps(answer.body).encode()
        headers.setdefault("Content-Type", "application/json; charset=utf-8")
    handler.send_response(answer.status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content[: len(content) // 2] if cut else content)
    if cut:
        handler.close_connection = True
