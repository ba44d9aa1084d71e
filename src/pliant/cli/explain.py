"""`pliant explain`: what the manual's troubleshooting page has on a warning or an error."""

from __future__ import annotations

from importlib.resources import files
from typing import Annotated

import typer

from pliant.errors import PliantError
from pliant.help_links import sections


def explain(
    entry: Annotated[
        str | None, typer.Argument(help="The name that a warning or an error ends with. Default: list all names.")
    ] = None,
) -> None:
    """Explain a warning or an error, and what to do about it.

    \b
    Example: pliant explain
             pliant explain not-converged
    """
    known = sections(files("pliant").joinpath("troubleshooting.md").read_text(encoding="utf-8"))
    if entry is None:
        for name, text in known.items():
            typer.echo(f"{name:<24}{text.splitlines()[0]}")
        return
    if entry not in known:
        from pliant.scenes.files.fields import nearest

        raise PliantError(f"pliant explain {entry}: there is no such entry.{nearest(entry, known)}")
    typer.echo(known[entry])
