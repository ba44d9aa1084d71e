"""From the name of a scene on the command line to something that can be run."""

from __future__ import annotations

import runpy
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pliant.garbage import kept

with kept():
    from pliant.device.opencl import OpenCL
    from pliant.errors import FileError, PliantError, SceneError
    from pliant.model import Scene
    from pliant.scenes import files, gallery
    from pliant.scenes.files.fields import nearest
    from pliant.scenes.files.schema import Output, RunTable
    from pliant.simulate import Simulation
    from pliant.solvers import Solver

_OF_A_MESH = " A mesh needs a scene around it (docs/scene-files.md)."
#: What to do with files that are no scenes, by their endings.
USES = {
    ".npz": " A result is for `pliant view` or `pliant render`, a checkpoint for `pliant resume`.",
    **dict.fromkeys((".obj", ".ply", ".stl", ".off", ".vtu", ".vtk", ".msh", ".mesh"), _OF_A_MESH),
}


@dataclass(frozen=True)
class Plan:
    """A scene and how to run it. `simulation()` and `scene()` build it, a new one every time."""

    name: str
    title: str
    description: str
    frames: int
    duration: float  # [s]
    step_length: float  # [s]
    outputs: tuple[Output, ...]
    simulation: Callable[[], Simulation]
    scene: Callable[[], Scene]
    solver: Callable[[], Solver[Any] | None]  # that the scene or the command line asks for


def open_plan(
    scene: str,
    solver: str | None = None,
    settings: Sequence[str] = (),
    threads: int | None = None,
    device: str | OpenCL = "cpu",
) -> Plan:
    """Find and check a scene: a .toml file, a .py file with a function scene(), or a name of the gallery.

    solver: name of another solver; settings: further changes, each KEY=VALUE; threads and device: as of Simulation.
    """
    path = Path(scene)
    if path.suffix.lower() == ".py":
        return _python_plan(path, solver, settings, threads, device)
    known = {entry.name: entry.path for entry in gallery.entries()}
    if path.suffix.lower() != ".toml":
        if scene not in known:
            raise FileError(
                f"{scene}: this is neither a .toml file, nor a .py file, nor a scene of the gallery."
                f"{USES.get(path.suffix.lower()) or nearest(scene, known)} `pliant gallery` lists them."
            )
        path = known[scene]
    source = files.read_source(path)
    _change(source, solver, settings)
    table = files.check(source)
    about = {"title": table.title or path.stem, "description": table.description}
    return _plan(path.stem, table, source, (threads, device), lambda: files.build_scene(table, source), **about)


def _plan(
    name: str,
    run: RunTable,
    source: files.Source,
    execution: tuple[int | None, str | OpenCL],
    scene: Callable[[], Scene],
    **about: str,
) -> Plan:
    about = {"title": name, "description": "", **about}
    frames = max(1, round(run.simulation.duration * run.simulation.frame_rate))
    make = lambda: files.simulate(scene(), run, source, *execution)  # noqa: E731
    return Plan(
        name=name,
        frames=frames,
        duration=run.simulation.duration,
        step_length=1 / (run.simulation.frame_rate * run.simulation.substeps),
        outputs=tuple(run.outputs),
        simulation=make,
        scene=scene,
        solver=lambda: files.solver_of(run, source),
        **about,
    )


def _change(source: files.Source, solver: str | None, settings: Sequence[str]) -> None:
    if solver is not None:
        files.set_solver(source, solver)
    for setting in settings:
        files.apply_setting(source, setting)


def _python_plan(
    path: Path, solver: str | None, settings: Sequence[str], threads: int | None, device: str | OpenCL
) -> Plan:
    """A scene that Python makes; a Simulation brings its solver and steps along, and settings change them."""
    made = _call(path)
    source = files.Source(path, "", files.describe_run(made) if isinstance(made, Simulation) else {})
    _change(source, solver, settings)
    run = files.check_run(source)

    def scene() -> Scene:
        again = _call(path)
        return again.scene if isinstance(again, Simulation) else again

    return _plan(path.stem, run, source, (threads, device), scene)


def _call(path: Path) -> Scene | Simulation:
    """What the file's function scene() returns; its errors become one sentence."""
    if not path.is_file():
        raise FileError(f"{path}: there is no such file.")
    try:
        function: Any = runpy.run_path(str(path)).get("scene")
        if not callable(function):
            raise SceneError("it has no function scene() that returns a Scene or a Simulation.")
        made = function()
    except PliantError as error:
        raise SceneError(f"{path}: {error}") from None
    except Exception as error:  # whatever a user's file raises
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        place = f"{path}, line {lines[-1]}" if lines else str(path)
        raise SceneError(f"{place}: {type(error).__name__}: {error}") from None
    if not isinstance(made, Scene | Simulation):
        raise SceneError(f"{path}: scene() returned a {type(made).__name__}; return a Scene or a Simulation.")
    return made
