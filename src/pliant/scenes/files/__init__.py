"""Scenes in TOML files: read with tomllib, checked by pydantic, written back without loss.

`schema.py` says what a file may hold, `build.py` makes a Scene of it, `writing.py` goes the other way, `source.py`
tells errors with their line.
"""

from pliant.scenes.files.build import build_scene
from pliant.scenes.files.reading import (
    check,
    check_run,
    json_schema,
    load_scene,
    load_simulation,
    make_simulation,
    simulate,
    solver_of,
)
from pliant.scenes.files.settings import apply_setting, set_solver
from pliant.scenes.files.source import Source, read_source
from pliant.scenes.files.writing import describe_run, save_scene

__all__ = [
    "Source",
    "apply_setting",
    "build_scene",
    "check",
    "check_run",
    "describe_run",
    "json_schema",
    "load_scene",
    "load_simulation",
    "make_simulation",
    "read_source",
    "save_scene",
    "set_solver",
    "simulate",
    "solver_of",
]
