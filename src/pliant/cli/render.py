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
        tuple[float, float] | None, typer.Option(help="Values at the ends of the colour scale.", metavar="LOW HIGH")
    ] = None,
    forces: Annotated[bool, typer.Option("--forces", help="Draw contact forces as arrows.")] = False,
    label: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="Text below a result; repeat it for each.")
    ] = None,
    at: Annotated[
        list[float] | None,
        typer.Option(metavar="TIME", help="Time of a picture [s]; several make a strip. Default: 7 times."),
    ] = None,
    height: Annotated[int, typer.Option(min=16, help="Height of the picture [pixels].")] = 540,
    azimuth: Annotated[float, typer.Option(help="Direction of the viewer, from x towards y [degrees].")] = -60.0,
    elevation: Annotated[float, typer.Option(help="Angle of the viewer above the horizontal [degrees].")] = 18.0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Draw results into a movie or a picture.

    Needs no display. Several results are drawn side by side, with one camera.

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
