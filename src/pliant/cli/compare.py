"""`pliant compare`: which solver is first on a scene, and at which accuracy."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.output import only_warnings, print_json, writable_folder
from pliant.cli.run import Json, Quiet, Scene
from pliant.errors import FileError, PliantError, SolverError

if TYPE_CHECKING:
    from pliant.comparison import Comparison, MotionComparison

WIDTH = 170  # of a table that goes into a file
DEFAULT = "vbd,vbd+chebyshev,gradientdescent+chebyshev:rho=0.95,lbfgs,laplacianquasinewton,newton"


def compare(
    scene: Scene,
    solvers: Annotated[
        str,
        typer.Option(
            help="Comma-separated names; options as newton:linear=cg, accelerators as vbd+chebyshev.",
            show_default="vbd, newton and four more",
        ),
    ] = DEFAULT,
    budget: Annotated[str, typer.Option(help="Time for each solver, such as 1s or 500ms.")] = "",
    iterations: Annotated[int, typer.Option(min=0, help="Iterations of each solver, if there is no budget.")] = 200,
    frames: Annotated[int, typer.Option(min=0, help="Also compare motions over this many frames.")] = 0,
    precision: Annotated[str, typer.Option(help="single or double.")] = "single",
    out: Annotated[Path, typer.Option(help="Folder for curves and pictures.")] = Path("compare"),
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Solve one step with several solvers and rank them.

    Lists the fastest at each of several accuracies, by time and by iterations.
    Writes compare.csv and compare.json, and with matplotlib also compare.png and
    compare.svg.

    \b
    Example: pliant compare cantilever --solvers vbd,newton --budget 1s
             pliant compare twist --solvers vbd,vbd+chebyshev:rho=0.9 --json
    """
    from pliant.comparison import compare as run
    from pliant.comparison import compare_motion, outputs
    from pliant.scenes.plans import open_plan
    from pliant.solvers import SOLVERS
    from pliant.solvers.contract.names import solver_from_text

    folder, plan = writable_folder(out), open_plan(scene)
    chosen = [solver_from_text(text, SOLVERS) for text in solvers.split(",")]
    seconds = _seconds(budget) if budget else None
    limits: dict[str, Any] = {"seconds": seconds} if seconds else {"iterations": iterations}
    shown = not (quiet or as_json)
    motion = None
    with only_warnings(quiet):
        result = run(plan.simulation(), chosen, precision=precision, progress=shown, **limits)
        if shown:
            _say(result)
        if frames:
            motion = compare_motion(plan.simulation, chosen, frames, precision=precision, progress=shown)
    if shown and motion:
        _say_motion(motion)
    paths = outputs.save(result, folder)
    try:
        paths += outputs.save_pictures(result, folder)
    except FileError:
        raise
    except PliantError as reason:
        typer.secho(f"No pictures were made. {reason}", fg="yellow", err=True)
    if as_json:
        print_json(
            {
                **outputs.summary(result),
                "motion": outputs.motion_summary(motion) if motion else None,
                "files": [str(path) for path in paths],
            }
        )
    elif shown:
        typer.echo(f"Curves and pictures: {', '.join(map(str, paths))}")


def _say(result: Comparison) -> None:
    from rich.console import Console

    from pliant.comparison import outputs

    Console(width=None if sys.stdout.isatty() else WIDTH).print(outputs.table(result))
    for sentence in result.verdicts():
        typer.echo(sentence)


def _say_motion(motion: MotionComparison) -> None:
    for run in motion.runs:
        if run.distances:
            typer.echo(
                f"{run.name}: after {len(run.distances)} frames {100 * run.distances[-1]:.3g} % of the scene's size "
                f"from the converged motion (largest {100 * max(run.distances):.3g} %), "
                f"{1e3 * sum(run.seconds) / len(run.seconds):.3g} ms per frame"
            )
        if run.ended != "did all frames":
            typer.echo(f"{run.name}: {run.ended}")


def _seconds(budget: str) -> float:
    match = re.fullmatch(r"([0-9.]+)\s*(ms|s)", budget.strip())
    if not match or not float(match[1]) > 0:
        raise SolverError(f"--budget is {budget!r}: write a time such as 1s or 500ms.")
    return float(match[1]) * (1e-3 if match[2] == "ms" else 1.0)
