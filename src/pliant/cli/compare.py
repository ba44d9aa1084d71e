"""`pliant compare`: which solver is first on a scene, and at which accuracy."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.output import writable_folder
from pliant.errors import SolverError

if TYPE_CHECKING:
    from pliant.model import Scene

DEFAULT = "vbd,vbd+chebyshev,gradientdescent+chebyshev:rho=0.95,lbfgs,laplacianquasinewton,newton"


def compare(
    scene: Annotated[str, typer.Argument(help="A scene of pliant.scenes, or a .py file with a function scene().")],
    solvers: Annotated[
        str, typer.Option(help="Names with commas between; options as newton:linear=cg; parts as vbd+chebyshev.")
    ] = DEFAULT,
    budget: Annotated[str, typer.Option(help="Time for each solver, as 1s or 500ms.")] = "",
    iterations: Annotated[int, typer.Option(min=0, help="Iterations of each solver, if there is no budget.")] = 200,
    frames: Annotated[int, typer.Option(min=0, help="Compare motions over so many frames, too.")] = 0,
    precision: Annotated[str, typer.Option(help="single or double.")] = "single",
    substeps: Annotated[int, typer.Option(min=1, help="Steps a frame of 1/60 s.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder for curves and pictures.")] = Path("compare"),
) -> None:
    """Solve one step of a scene by several solvers and say who is first at which accuracy.

    Writes compare.csv, compare.json, compare.png and compare.svg.

    Example: pliant compare hanging_beam --solvers vbd,vbd+chebyshev:rho=0.9,newton --budget 1s
    """
    from rich.console import Console

    from pliant.comparison import compare as run
    from pliant.comparison import outputs
    from pliant.scenes.find import find_scene
    from pliant.solvers import SOLVERS
    from pliant.solvers.names import solver_from_text

    folder, make = writable_folder(out), find_scene(scene)
    chosen = [solver_from_text(text, SOLVERS) for text in solvers.split(",")]
    seconds = _seconds(budget) if budget else None
    limits = {"seconds": seconds} if seconds else {"iterations": iterations}
    result = run(make(), chosen, substeps=substeps, precision=precision, progress=True, **limits)  # type: ignore[arg-type]
    Console().print(outputs.table(result))
    for sentence in result.verdicts():
        typer.echo(sentence)
    if frames:
        _compare_motion(make, chosen, frames, substeps, precision)
    paths = outputs.save(result, folder)
    typer.echo(f"Curves and pictures: {', '.join(str(path) for path in paths)}")


def _compare_motion(make: Callable[[], Scene], chosen: list[Any], frames: int, substeps: int, precision: str) -> None:
    from pliant.comparison import compare_motion

    motion = compare_motion(make, chosen, frames, substeps=substeps, precision=precision, progress=True)
    for run in motion.runs:
        if run.distances:
            typer.echo(
                f"{run.name}: after {len(run.distances)} frames {100 * run.distances[-1]:.3g} % of the scene's size "
                f"from the converged motion (largest {100 * max(run.distances):.3g} %), "
                f"{1e3 * sum(run.seconds) / len(run.seconds):.3g} ms a frame"
            )
        if run.ended != "did all frames":
            typer.echo(f"{run.name}: {run.ended}")


def _seconds(budget: str) -> float:
    match = re.fullmatch(r"([0-9.]+)\s*(ms|s)", budget.strip())
    if not match or not float(match[1]) > 0:
        raise SolverError(f"--budget is {budget!r}: write a time such as 1s or 500ms.")
    return float(match[1]) * (1e-3 if match[2] == "ms" else 1.0)
