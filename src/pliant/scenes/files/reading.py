"""Scene files read, checked and built."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from pliant.model import Scene
from pliant.scenes.files import generated, schema
from pliant.scenes.files.build import build_scene
from pliant.scenes.files.source import Source, read_source
from pliant.simulate import Simulation
from pliant.solvers import Solver

AnyTable = TypeVar("AnyTable", bound=schema.RunTable)


def load_scene(path: str | Path) -> Scene:
    """The scene of a TOML file (docs/scene-files.md). One SceneError names file, line, key, value and remedy.

    What the file says of solver and steps is taken by `load_simulation`.
    """
    source = read_source(path)
    return build_scene(check(source), source)


def load_simulation(path: str | Path, threads: int | None = None) -> Simulation:
    """The scene of a TOML file with its solver, frame rate, substeps and precision, ready to run."""
    source = read_source(path)
    table = check(source)
    return make_simulation(table, source, threads)


def check(source: Source) -> schema.SceneTable:
    """The tables of a file, or the one error that tells what is wrong first."""
    return _validated(schema.SceneTable, source)


def check_run(source: Source) -> schema.RunTable:
    """The same of the settings that a scene made by Python has."""
    return _validated(schema.RunTable, source)


def _validated(table: type[AnyTable], source: Source) -> AnyTable:
    try:
        return table.model_validate(source.data)
    except ValidationError as invalid:
        raise source.explain(invalid) from None


def make_simulation(table: schema.SceneTable, source: Source, threads: int | None = None) -> Simulation:
    """The simulation that a checked file describes."""
    return simulate(build_scene(table, source), table, source, threads)


def simulate(scene: Scene, table: schema.RunTable, source: Source, threads: int | None = None) -> Simulation:
    """A simulation of a scene, with the solver and the steps of a file or the command line."""
    solver, settings = solver_of(table, source), table.simulation
    with source.at():
        steps = (settings.frame_rate, settings.substeps, settings.precision, threads, settings.integrator)
        return Simulation(scene, solver, *steps)


def solver_of(table: schema.RunTable, source: Source) -> Solver[Any] | None:
    """The solver that a file or the command line asks for; None: the default."""
    return None if table.solver is None else generated.make_solver(table.solver, source, "solver")


def json_schema() -> dict[str, Any]:
    """The JSON schema of scene files, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema.SceneTable.model_json_schema(),
        "title": "Pliant scene",
    }
