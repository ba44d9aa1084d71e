"""`pliant render`: pictures and movies of results."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from pliant.cli.output import print_json
from pliant.cli.run import Json, Quiet


def render(
    results: Annotated[list[Path], typer.Argument(metavar="RESULT...", help="Results, drawn side by side.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The movie (.mp4, .gif) or picture (.png) to write.")],
    field: Annotated[
        str | None, typer.Option(help="Colour by von_mises, energy_density, speed, penetration ...")
    ] = None,
    limits: Annotated[
        tuple[float, float] | None, typer.Option(help="Lowest and highest value of the colours.", metavar="LOW HIGH")
    ] = None,
    forces: Annotated[bool, typer.Option("--forces", help="Draw contact forces as arrows.")] = False,
    label: Annotated[list[str] | None, typer.Option(metavar="TEXT", help="Text below a result; once for each.")] = None,
    at: Annotated[
        list[float] | None,
        typer.Option(metavar="TIME", help="Moment of a picture [s]; several make a strip. Default: 7 moments."),
    ] = None,
    height: Annotated[int, typer.Option(min=16, help="Height of the picture [pixels].")] = 540,
    azimuth: Annotated[float, typer.Option(help="Where the viewer stands, from x towards y [degrees].")] = -60.0,
    elevation: Annotated[float, typer.Option(help="How high the viewer stands [degrees].")] = 18.0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Draw results into a movie or a picture.

    Needs no display. Several results stand side by side, seen by one camera.

    \b
    Example: pliant render run.npz -o run.mp4
             pliant render run.npz -o stress.png --field von_mises --at 1.5
             pliant render run.npz -o forces.png --forces --at 1.5
             pliant render a.npz b.npz -o both.mp4 --label VBD --label XPBD
    """
    from pliant.io.results import open_result
    from pliant.io.results.places import check_place
    from pliant.viewer import movies
    from pliant.viewer.stage import View

    movies.check_ending(out)
    check_place(out)
    with ExitStack() as stack:
        opened = [stack.enter_context(open_result(path)) for path in results]
        view = View(height, azimuth, elevation, field, limits, forces)
        movies.render(opened, out, view, label or (), at or None, progress=None if quiet or as_json else "drawing")
        spans = [{"frames": len(result), "begin_s": result.times[0], "end_s": result.times[-1]} for result in opened]
    if as_json:
        sources = [{"source": str(path), **span} for path, span in zip(results, spans, strict=True)]
        print_json({"target": str(out), "bytes": out.stat().st_size, "results": sources})
    elif not quiet:
        typer.echo(f"{out}")
