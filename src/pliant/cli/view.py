"""`pliant view`: a scene in the browser."""

from __future__ import annotations

import errno
import socket
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

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
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 lets others in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0: any that is free.")] = 8080,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for what is recorded.")] = Path(),
    play: Annotated[bool, typer.Option("--play", help="Begin at once.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Watch and steer a scene in the browser.

    Play, pause, step; click on a body and pull at the arrows; change solver,
    iterations, stiffness and gravity while it runs. Needs the extra `view`.
    Uses as many threads as are fastest beside the browser, unless --threads gives a number.

    \b
    Example: pliant view twist
             pliant view jelly --solver newton --play
             pliant view jelly --port 0 --json
    """
    from pliant.scenes.plans import open_plan
    from pliant.viewer.page import Page
    from pliant.viewer.session import Session

    _check_address(host, port)
    writable_folder(out)
    plan = open_plan(scene, solver, settings or [], threads)
    session, out_stream = Session(plan.simulation()), sys.stdout
    try:
        # the server says when it stops: not where scripts read
        with only_warnings(quiet), redirect_stdout(sys.stderr), Page(session, plan.title, out, host, port) as page:
            who = "this computer only" if host in LOCAL else "whoever reaches this computer and knows the address"
            url = page.url
            if as_json:
                about = {"title": plan.title, "url": url, "port": page.port, "only_this_computer": host in LOCAL}
                print_json(about, out_stream)
            elif not quiet:
                typer.echo(f"{plan.title}: {url} ({who}). Ctrl-C ends it.", out_stream)
            if play:
                session.play()
            while True:
                time.sleep(1.0)
    finally:
        session.close()


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
