"""Checkpoints: a scene, its settings and its state in one .npz file, so that a run continues with the same bits."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError
from pliant.geometry import TetMesh
from pliant.materials import SOLID_LAWS
from pliant.model import Motion, Scene
from pliant.state import State

FORMAT = 1
_STATE = ("x", "v", "v_previous")
_BODY = ("initial_positions", "initial_velocities", "subspace", "directions")


def write(
    path: Path, scene: Scene, solver: Any, settings: dict[str, Any], state: State, solvers: Mapping[str, Any]
) -> None:
    """Write the whole file beside its place first, then move it there: a crash leaves the old one."""
    _check_names(path, scene, solver, solvers)
    arrays: dict[str, np.ndarray] = {f"state.{name}": getattr(state, name) for name in _STATE}
    bodies = []
    for k, body in enumerate(scene.solids):
        arrays[f"body{k}.points"], arrays[f"body{k}.tets"] = body.mesh.points, body.mesh.tets
        arrays.update({f"body{k}.{name}": getattr(body, name) for name in _BODY})
        arrays.update({f"body{k}.motion{m}": vertices for m, (vertices, _) in enumerate(body.motions)})
        bodies.append(
            {
                "name": body.name,
                "law": type(body.material).__name__,
                "parameters": [float(value) for value in body.material.parameters],
                "density": body.density,
                "damping": body.damping,
                "motions": len(body.motions),
            }
        )
    header = {
        "format": FORMAT,
        "gravity": scene.gravity.tolist(),
        "bodies": bodies,
        "solver": _describe(solver),
        "settings": settings,
        "step": state.step,
    }
    arrays["header"] = np.array(json.dumps(header))
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        _discard(temporary)
        raise FileError(
            f"{path}: the checkpoint cannot be written ({error.strerror or error}). "
            "Choose another folder, or free some disk."
        ) from None
    except BaseException:
        _discard(temporary)
        raise


def _discard(temporary: Path) -> None:
    with suppress(OSError):
        temporary.unlink()


def _check_names(path: Path, scene: Scene, solver: Any, solvers: Mapping[str, Any]) -> None:
    """Refuse now what `read` could not find again."""
    for body in scene.solids:
        if type(body.material) is not SOLID_LAWS.get(type(body.material).__name__):
            raise FileError(
                f"{path}: body {body.name} has the law {type(body.material).__name__}, which is not registered."
            )
    while solver is not None:
        if type(solver) is not solvers.get(type(solver).__name__):
            raise FileError(
                f"{path}: the solver {type(solver).__name__} is not registered: a checkpoint could not name it."
            )
        solver = getattr(solver, "solver", None)


def read(
    path: Path, motions: dict[str, list[Motion]], solvers: Mapping[str, Any]
) -> tuple[Scene, Any, dict[str, Any], State]:
    """Scene, solver, settings and state of a checkpoint; solvers by name."""
    if not path.exists():
        raise FileError(f"{path}: there is no such file.")
    if not zipfile.is_zipfile(path):
        raise FileError(f"{path}: this is not a whole Pliant checkpoint (no .npz archive).")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        header = json.loads(str(arrays["header"]))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise FileError(f"{path}: this is not a whole Pliant checkpoint ({error}).") from None
    if header["format"] != FORMAT:
        raise FileError(f"{path}: checkpoint format {header['format']}, this Pliant reads format {FORMAT}.")
    names = [about["name"] for about in header["bodies"]]
    for name in motions:
        if name not in names:
            raise FileError(f"{path}: motions are given for {name!r}, but its bodies are {', '.join(names)}.")
    scene = Scene(gravity=header["gravity"])
    for k, about in enumerate(header["bodies"]):
        _add_body(path, scene, k, about, arrays, motions.get(about["name"], []))
    state = State(**{name: arrays[f"state.{name}"] for name in _STATE}, step=header["step"])
    return scene, _rebuild(header["solver"], solvers), header["settings"], state


def _add_body(
    path: Path, scene: Scene, k: int, about: dict[str, Any], arrays: dict[str, np.ndarray], motions: list[Motion]
) -> None:
    name = about["name"]
    if about["law"] not in SOLID_LAWS:
        raise FileError(f"{path}: body {name} has the law {about['law']}, which this Pliant does not know.")
    if len(motions) != about["motions"]:
        raise FileError(
            f"{path}: body {name} is moved by {about['motions']} Python functions, which a file cannot hold, and "
            f"{len(motions)} were given. Pass them again: "
            f"Simulation.resume(path, motions={{{name!r}: [motion, ...]}})."
        )
    mesh = TetMesh(arrays[f"body{k}.points"], arrays[f"body{k}.tets"])
    law = SOLID_LAWS[about["law"]](*about["parameters"])
    body = scene.add_solid(mesh, law, about["density"], about["damping"], name)
    for field_name in _BODY:
        setattr(body, field_name, arrays[f"body{k}.{field_name}"])
    body.motions.extend((arrays[f"body{k}.motion{m}"], motion) for m, motion in enumerate(motions))


def _describe(solver: Any) -> dict[str, Any]:
    """A solver as names and numbers; a wrapped solver inside its wrapper."""
    values = {f.name: getattr(solver, f.name) for f in fields(solver)}
    plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in values.items()}
    return {"name": type(solver).__name__, **{k: _describe(v) if is_dataclass(v) else v for k, v in plain.items()}}


def _rebuild(about: dict[str, Any], solvers: Mapping[str, Any]) -> Any:
    options = {k: _rebuild(v, solvers) if isinstance(v, dict) else v for k, v in about.items() if k != "name"}
    return solvers[about["name"]](**options)
