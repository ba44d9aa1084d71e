"""`pliant view`: a scene or a result in the browser."""

from __future__ import annotations

import errno
import socket
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import IO, Annotated

import typer

from pliant.cli.output import only_warnings, print_json, writable_folder
from pliant.cli.run import Json, Quiet, Scene, Settings, Solver, Threads
from pliant.errors import PliantError

LOCAL = ("127.0.0.1", "localhost", "::1")


def view(
    scene: Scene,
    solver: Solver = None,
    settings: Settings = None,
    threads: Threads = None,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for other computers too.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any free one.")] = 8080,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for recordings.")] = Path(),
    play: Annotated[bool, typer.Option("--play", help="Start playing at once.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Watch and steer a scene in the browser, or look at a result.

    Scenes: play, pause and step; pull bodies with the mouse; change solver,
    iterations, stiffness and gravity while it runs. Needs the extra `view`.
    Results (.npz, .pvd, .usdc ...): a time slider, field colours, contact
    forces. `pliant convert run.npz run.html` makes one HTML file to share.

    \b
    Example: pliant view twist
             pliant view jelly --solver newton --play
             pliant view jelly/jelly.npz
    """
    from pliant.io.results.formats import READERS

    _check_address(host, port)
    if Path(scene).suffix.lower() in READERS:
        if solver is not None or settings or play:
            raise PliantError(f"{scene}: a result is only looked at; --solver, --set and --play are for scenes.")
        return _view_result(Path(scene), host, port, quiet, as_json)
    from pliant.scenes.plans import open_plan
    from pliant.viewer.page import Page
    from pliant.viewer.session import Session

    writable_folder(out)
    plan = open_plan(scene, solver, settings or [], threads)
    session, out_stream = Session(plan.simulation()), sys.stdout
    try:
        # the server says when it stops: not where scripts read
        with only_warnings(quiet), redirect_stdout(sys.stderr), Page(session, plan.title, out, host, port) as page:
            _tell(plan.title, page.url, page.port, host, quiet, as_json, out_stream)
            if play:
                session.play()
            while True:
                time.sleep(1.0)
    finally:
        session.close()


def _view_result(path: Path, host: str, port: int, quiet: bool, as_json: bool) -> None:
    from pliant.io.results import open_result
    from pliant.viewer import share
    from pliant.viewer.result_server import ResultServer

    with open_result(path) as result:
        page = share.page(result, path.stem)
    with ResultServer(page, host, _free(host, port)) as server:
        _tell(path.name, server.url, server.port, host, quiet, as_json, sys.stdout)
        while True:
            time.sleep(1.0)


def _tell(title: str, url: str, port: int, host: str, quiet: bool, as_json: bool, stream: IO[str]) -> None:
    if as_json:
        print_json({"title": title, "url": url, "port": port, "only_this_computer": host in LOCAL}, stream)
    elif not quiet:
        who = "this computer only" if host in LOCAL else "whoever reaches this computer and knows the address"
        typer.echo(f"{title}: {url} ({who}). Ctrl-C ends it.", stream)


def _free(host: str, port: int) -> int:
    """The port if it is free, else 0: any that is."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.bind(address)
    except OSError:
        return 0
    return port


def _check_address(host: str, port: int) -> None:
    """Refuse an address that this computer cannot listen on, which the server would try for ever; a port that is in use
    is none: the server takes the next one.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return
        raise PliantError(
            f"--host {host} --port {port}: this computer cannot listen there ({error.strerror}). "
            "Use 127.0.0.1 or one of its own addresses, and a port of 1024 to 65535."
        ) from None
