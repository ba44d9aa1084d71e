"""`pliant convert`: from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pliant.cli.output import print_json
from pliant.cli.run import Json, Quiet


def convert(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A result or a mesh.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="The file to write; its ending names the format.")],
    surface: Annotated[bool, typer.Option("--surface", help="Leave out tets and inner points.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Convert a result or a mesh to another format.

    Results: from .npz, .pvd, .usdc, .usda, .ply, .obj to these and .glb, .mp4,
    .gif, .png. A series run_00000.ply, run_00001.ply ... is named run.ply.
    Meshes: all formats that meshio reads and writes.
    Results of killed runs are read up to the last complete frame.

    \b
    Example: pliant convert run.npz run.usdc
             pliant convert bunny.msh bunny.vtu
             pliant convert movie.mp4.frames.npz movie.mp4 --json
    """
    from pliant.io.results.convert import convert as convert_file

    written = convert_file(source, target, surface)
    if as_json:
        print_json({"source": str(source), "target": str(target), **written})
    elif not quiet:
        typer.echo(f"{target}: {', '.join(f'{count} {name}' for name, count in written.items())}")
