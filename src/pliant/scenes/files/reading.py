"""Scene files read, checked and built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pliant.model import Scene
from pliant.scenes.files import generated, schema
from pliant.scenes.files.build import build_scene
from pliant.scenes.files.source import Source, read_source
from pliant.simulate import Simulation


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
    try:
        return schema.SceneTable.model_validate(source.data)
    except ValidationError as invalid:
        raise source.explain(invalid) from None


def make_simulation(table: schema.SceneTable, source: Source, threads: int | None = None) -> Simulation:
    """The simulation that a checked file describes."""
    scene = build_scene(table, source)
    with source.at("solver"):
        solver = None if table.solver is None else generated.make_solver(table.solver)
    settings = table.simulation
    with source.at():
        return Simulation(scene, solver, settings.frame_rate, settings.substeps, settings.precision, threads)


def json_schema() -> dict[str, Any]:
    """The JSON schema of scene files, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema.SceneTable.model_json_schema(),
        "title": "Pliant scene",
    }
