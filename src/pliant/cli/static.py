"""`pliant run --static`: the static shape of a scene."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from pliant.cli.output import print_json

if TYPE_CHECKING:
    from pliant.scenes.plans import Plan
    from pliant.statics import Equilibrium

RESULT = "static.pvd"


def find_equilibrium(
    plan: Plan,
    solver: Any,
    folder: Path,
    elsewhere: Sequence[Path],
    threads: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Solve, write `static.pvd` into the folder and further results elsewhere, and report. Prescribed motions end where
    the scene's duration ends.
    """
    from pliant.io.results.places import check_place
    from pliant.statics import equilibrium

    paths = [folder / RESULT, *elsewhere]
    for path in paths:
        check_place(path)
    began = time.perf_counter()
    scene = plan.scene()
    found = equilibrium(scene, solver, time=plan.duration, threads=threads, progress=not (quiet or as_json))
    seconds = time.perf_counter() - began
    for path in paths:
        found.save(path)
    if as_json:
        print_json(_summary(plan, found, seconds, paths))
    elif not quiet:
        _report(plan, found, seconds, paths)
    if not found.report.converged:
        raise typer.Exit(1)


def _report(plan: Plan, found: Equilibrium, seconds: float, paths: Sequence[Path]) -> None:
    report = found.report
    typer.echo(f"{plan.title}: {report.reason}, in {seconds:.1f} s.")
    if not found.stable:
        typer.echo("The equilibrium is not stable: a small push would let it buckle into another shape.")
    largest = float(np.linalg.norm(found.displacements, axis=1).max())
    typer.echo(f"Load factor {report.load_factor:.4g}, largest displacement {largest:.4g} m.")
    for body in found.scene.bodies:
        force = found.reaction_force(body)
        if force.any():
            typer.echo(f"Reaction on {body.name}: ({', '.join(f'{value:.6g}' for value in force)}) N.")
    for name, pressure in _pressures(found).items():
        typer.echo(f"Pressure of {name}: {pressure:.6g} Pa.")
    for path in paths:
        typer.echo(f"  {path}")


def _summary(plan: Plan, found: Equilibrium, seconds: float, paths: Sequence[Path]) -> dict[str, Any]:
    report = found.report
    return {
        "title": plan.title,
        "converged": report.converged,
        "reason": report.reason,
        "load_factor": report.load_factor,
        "iterations": report.iterations,
        "residual": report.residual if np.isfinite(report.residual) else None,
        "stable": found.stable,
        "seconds": seconds,
        "energies": found.energies(),
        "reactions": {body.name: found.reaction_force(body).tolist() for body in found.scene.bodies},
        "pressures": _pressures(found),
        "results": [str(path) for path in paths],
    }


def _pressures(found: Equilibrium) -> dict[str, float]:
    """[Pa] that keep prescribed volumes, by what is prescribed."""
    bodies, controls = found.scene.bodies, found.case.model.volume_controls
    return {own.what: found.pressure_of(bodies[own.body], cavity=own.is_cavity) for own in controls}
