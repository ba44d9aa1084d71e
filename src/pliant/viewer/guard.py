"""Who may talk to a page: those who know its address, from the page itself.

A page of any other site can open connections to this computer, and a name of its own can be made to lead here (DNS
rebinding). So every request must carry a secret in its path, be sent to a name of this computer (Host) and, from a
browser, come from the page itself (Origin). The secret is new for every run and is printed with the address.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from pliant.errors import PliantError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
#: The page is shown in no frame of another, tells no other site its address, and is kept in no cache.
HEADERS = {"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}
_starting = threading.Lock()


@dataclass(frozen=True)
class Guard:
    """Lets requests in whose path begins with the token, for a server that listens on a host."""

    host: str = "127.0.0.1"
    token: str = field(default_factory=lambda: secrets.token_urlsafe(16))

    def refusal(self, path: str, headers: Mapping[str, str]) -> str:
        """Why a request is refused; empty if it is let in."""
        given = path.partition("?")[0].split("/")[1] if path.startswith("/") else ""
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            return "the address has no valid token; use the one that pliant view printed"
        host = headers.get("Host", "")
        if not self._is_own(_name_of(f"//{host}")):
            return f"the request was sent to {host!r}, which is not this computer"
        origin = headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return f"the request comes from {origin!r}, which is not this page"
        return ""

    def inner_path(self, path: str) -> str:
        """The path without the token."""
        return path[1 + len(self.token) :] or "/"

    def _is_own(self, name: str) -> bool:
        """Whether a name leads to this computer whoever asks: loopback, the name it listens on, or an address, which
        cannot be made to lead elsewhere.
        """
        if name in (*LOOPBACK, self.host):
            return True
        if self.host in LOOPBACK:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name == socket.gethostname().lower()
        return True


def _name_of(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


@contextmanager
def guarding(guard: Guard) -> Iterator[None]:
    """Servers of websockets that start within let in only what the guard does.

    viser hands its own handler of requests to websockets.asyncio.server.serve and has no place for another.
    """
    from websockets.asyncio import server

    used, serve = [], server.serve

    def guarded(*arguments: Any, process_request: Any = None, **options: Any) -> Any:
        used.append(True)
        return serve(*arguments, process_request=_checked(guard, process_request), **options)

    with _starting:
        server.serve = guarded  # type: ignore[assignment,misc]
        try:
            yield
        finally:
            server.serve = serve  # type: ignore[misc]
    if not used:
        raise PliantError(
            "this version of viser starts its server in another way and cannot be guarded; use viser 1.1."
        )


def _checked(guard: Guard, handler: Callable[..., Any] | None) -> Callable[..., Any]:
    """A handler of requests that answers those the guard refuses, and passes the others on without the token."""

    def process(connection: Any, request: Any) -> Any:
        refusal = guard.refusal(request.path, request.headers)
        if refusal:
            return connection.respond(HTTPStatus.FORBIDDEN, f"Refused: {refusal}.\n")
        is_page = request.headers.get("Upgrade", "").lower() != "websocket"
        if is_page and request.path.partition("?")[0] == f"/{guard.token}":  # names in the page begin at its folder
            response = connection.respond(HTTPStatus.FOUND, "")
            response.headers["Location"] = f"/{guard.token}/"
            return response
        request.path = guard.inner_path(request.path)
        response = None if handler is None else handler(connection, request)
        if response is not None:
            for name, value in HEADERS.items():
                response.headers[name] = value
        return response

    return process
