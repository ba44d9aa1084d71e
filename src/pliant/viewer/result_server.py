"""A result in the browser: serves its HTML file (share.py) on this computer to those who know the address."""

from __future__ import annotations

import socket
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from pliant.viewer.guard import HEADERS, Guard


class _ServerOfSix(ThreadingHTTPServer):
    """For addresses of version 6."""

    address_family = socket.AF_INET6


class ResultServer:
    """Serves one page at `url` until closed. Nothing can be changed through it. Use it as a context manager."""

    def __init__(self, page: str, host: str = "127.0.0.1", port: int = 8080):
        self._guard, self._page = Guard(host), page.encode("utf-8")
        kind = _ServerOfSix if ":" in host else ThreadingHTTPServer
        self._server = kind((host, port), self._handler())
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{self.port}/{self._guard.token}/"
        self._thread = threading.Thread(target=self._server.serve_forever, name="result", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        guard, page = self._guard, self._page

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                refusal = guard.refusal(self.path, {name.title(): value for name, value in self.headers.items()})
                if refusal:
                    self._answer(HTTPStatus.FORBIDDEN, f"Refused: {refusal}.\n".encode(), "text/plain")
                elif guard.inner_path(self.path).partition("?")[0] == "/":
                    self._answer(HTTPStatus.OK, page, "text/html")
                else:
                    self._answer(HTTPStatus.NOT_FOUND, b"There is nothing here.\n", "text/plain")

            def _answer(self, status: HTTPStatus, body: bytes, kind: str) -> None:
                self.send_response(status)
                headers = HEADERS | {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(body))}
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: Any) -> None:
                """Requests are not told."""

        return Handler
