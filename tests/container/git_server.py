"""A git server over smart HTTP on loopback: bare repositories in a folder, one token that may push."""

from __future__ import annotations

import base64
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit


class GitServer:
    """`git http-backend` behind HTTP; reading is free, pushing needs the token."""

    def __init__(self, folder: Path, token: str) -> None:
        server = self
        self.folder = folder
        self.pushes = 0
        self._expected = "Basic " + base64.b64encode(f"x-access-token:{token}".encode()).decode()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server._serve(self)

            do_POST = do_GET  # noqa: N815  http.server's name

            def log_message(self, format: str, *arguments: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops serving."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        split = urlsplit(handler.path)
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        pushing = "git-receive-pack" in handler.path
        if pushing and handler.headers.get("Authorization") != self._expected:
            handler.send_error(401)
            return
        self.pushes += pushing and handler.command == "POST"
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "REMOTE_USER": "somebody" if pushing else "",
            "REQUEST_METHOD": handler.command,
            "PATH_INFO": split.path,
            "QUERY_STRING": split.query,
            "CONTENT_TYPE": handler.headers.get("Content-Type") or "",
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding") or "",
            "GIT_PROTOCOL": handler.headers.get("Git-Protocol") or "",
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=environment, capture_output=True, check=True
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        handler.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)
