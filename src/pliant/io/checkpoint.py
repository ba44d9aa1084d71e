"""Checkpoints: a scene, its settings and its state in one .npz file, so that a run continues with the same bits."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from pliant.arguments import is_one_of
from pliant.errors import FileError, MeshError, PliantError, SceneError
from pliant.geometry import TetMesh, TriMesh
from pliant.io.archives import read_arrays, write_arrays
from pliant.io.arrays import check_arrays, check_numbers
from pliant.io.contact_header import describe_contact, describe_shapes, restore_contact
from pliant.io.outside import (
    Functions,
    check_functions,
    pack_outside,
    pack_settings,
    unpack_outside,
    unpack_settings,
)
from pliant.io.saved_arrays import check_mesh, check_state, expected_of_body, is_kept
from pliant.materials import SOLID_LAWS, Invertible, SolidLaw, YarnCloth
from pliant.model import (
    BODIES,
    MOTIONS,
    PRIMITIVES,
    Body,
    ComponentMotion,
    Force,
    KeptMotion,
    Model,
    Motion,
    Primitive,
    Scene,
    Schedule,
)
from pliant.state import HISTORY, State

FORMAT = 12
_STATE = ("x", "v", "v_previous", "internal_state", "poses", "twists", "spins", "inflation", *HISTORY)
SCHEDULED = ("pressure", "cavity_pressure", "volume", "cavity_volume")  # settings that may be functions of time
_BODY = ("initial_positions", "initial_velocities", "subspace", "directions", "touches_nothing")


@dataclass(frozen=True)
class Kept:
    """What a checkpoint holds."""

    scene: Scene
    solver: dict[str, Any]  # its name and options (solvers.contract.registry)
    settings: dict[str, Any]
    state: dict[str, np.ndarray]  # unchecked: see `checked_state`
    step: int
    notes: dict[str, Any]
    topology: dict[str, np.ndarray]  # unchecked: what tearing and deleting have left, by name
    contact: dict[str, np.ndarray]  # unchecked: the detector's state


def checked_state(path: Path, kept: Kept, model: Model) -> State:
    """The state, if its arrays and those of the topology fit the model that was built of the scene."""
    check_state(path, model, kept.scene.bodies, kept.state, kept.topology)
    return State(**kept.state, step=kept.step)


def write(
    path: Path,
    scene: Scene,
    solver: dict[str, Any],
    settings: dict[str, Any],
    state: State,
    notes: dict[str, Any],
    topology: dict[str, np.ndarray],
    contact: Mapping[str, np.ndarray],
) -> None:
    """Write the whole file beside its place first, then move it there: a crash leaves the old one."""
    arrays: dict[str, np.ndarray] = {f"state.{name}": getattr(state, name) for name in _STATE}
    arrays.update({f"topology.{name}": array for name, array in topology.items()})
    arrays.update({f"contact.{name}": array for name, array in contact.items()})
    bodies = [_pack_body(k, body, arrays) for k, body in enumerate(scene.bodies)]
    header = {
        "format": FORMAT,
        "gravity": scene.gravity.tolist(),
        "contact": describe_contact(scene),
        "obstacles": describe_shapes(scene),
        "apart": sorted(scene.apart),
        "bodies": bodies,
        "outside": pack_outside(scene, arrays),
        "solver": solver,
        "settings": settings,
        "step": state.step,
        "notes": notes,
    }
    arrays["header"] = np.array(json.dumps(header))
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    _discard_leftovers(path)
    try:
        with temporary.open("wb") as file:
            write_arrays(file, arrays)
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


def _discard_leftovers(path: Path) -> None:
    """Delete what processes that were killed while they wrote this checkpoint have left beside it."""
    for left in path.parent.glob(f"{glob.escape(path.name)}.*.tmp"):
        number = left.name.removeprefix(f"{path.name}.").removesuffix(".tmp")
        if number.isascii() and number.isdigit() and not _is_running(int(number)):
            _discard(left)


def _is_running(process: int) -> bool:
    if os.name != "posix":
        return True  # there, signal 0 would end it: leave the file
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # of another user
        return True
    return True


@contextmanager
def whole(path: Path) -> Iterator[None]:
    """What a header that was edited or damaged makes the code within stumble over becomes one sentence."""
    try:
        yield
    except FileError:
        raise
    except (PliantError, KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
        words = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)
        raise FileError(f"{path}: its header is damaged or made by hand: {words}") from None


def read(
    path: Path,
    motions: dict[str, list[Motion]],
    forces: dict[str, list[Force]],
    functions_of_time: Functions,
) -> Kept:
    """A checkpoint."""
    arrays = read_arrays(path, "Pliant checkpoint")
    if "result" in arrays and "header" not in arrays:
        raise FileError(
            f"{path}: this is a result of sim.record, to be looked at (pliant view, pliant render), not resumed. "
            "sim.save writes checkpoints, and `pliant run` leaves one, run.npz."
        )
    try:
        header = json.loads(str(arrays.pop("header")))
        format_number = header["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FileError(f"{path}: this is not a whole Pliant checkpoint ({error}).") from None
    if format_number != FORMAT:
        raise FileError(f"{path}: checkpoint format {format_number}, this Pliant reads format {FORMAT}.")
    with whole(path):
        return _kept(path, header, arrays, motions, forces, functions_of_time)


def _kept(
    path: Path,
    header: dict[str, Any],
    arrays: dict[str, np.ndarray],
    motions: dict[str, list[Motion]],
    forces: dict[str, list[Force]],
    functions_of_time: Functions,
) -> Kept:
    """What a header and its arrays say."""
    names = [about["name"] for about in header["bodies"]]
    for what, given in (("motions", motions), ("forces", forces)):
        for name in given:
            if name not in names:
                raise FileError(f"{path}: {what} are given for {name!r}, but its bodies are {', '.join(names)}.")
    check_functions(path, header, functions_of_time)
    scene = Scene(gravity=header["gravity"])
    for k, about in enumerate(header["bodies"]):
        functions: dict[str, list[Any]] = {
            "motions": motions.get(about["name"], []),
            "forces": forces.get(about["name"], []),
        }
        body = scene.add(_unpack_body(path, f"body{k}.", about, arrays, functions))
        unpack_settings(body, about["settings"], functions_of_time)
    unpack_outside(path, scene, header["outside"], arrays, functions_of_time)
    restore_contact(scene, header["contact"], header["obstacles"])
    scene.apart = {(one, other) for one, other in header["apart"]}
    state, topology, contact = (_taken(arrays, f"{group}.") for group in ("state", "topology", "contact"))
    check_arrays(path, arrays, {})
    step = header["step"]
    if not isinstance(step, int) or isinstance(step, bool) or not 0 <= step < 2**53:
        raise FileError(f"{path}: its header has the step {step!r}; give a whole number from 0.")
    about = (header["solver"], header["settings"], state, step, header["notes"])
    return Kept(scene, *about, topology, contact)


def _taken(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Take the arrays out whose names begin with a prefix; by names without it."""
    return {name.removeprefix(prefix): arrays.pop(name) for name in list(arrays) if name.startswith(prefix)}


def how_to_resume(path: Path, scene: Scene) -> str:
    """A sentence on what continues a checkpoint of a scene: Python functions are not in it."""
    motions = (motion for body in scene.bodies for _, motion in body.motions)
    kinematic = (motion.motion if isinstance(motion, ComponentMotion) else motion for motion in motions)
    schedules = [getattr(body, name, 0.0) for body in scene.bodies for name in SCHEDULED]
    schedules += [] if scene.wind is None else [scene.wind.velocity]
    functions = {
        "motions": any(not isinstance(motion, KeptMotion) for motion in kinematic),
        "forces": any(body.forces for body in scene.bodies),
        "functions": any(callable(value) and not isinstance(value, Schedule) for value in schedules),
    }
    again = "".join(f", {name}={{...}}" for name, needed in functions.items() if needed)
    call = f"Continue with pliant.Simulation.resume({str(path)!r}{again})"
    return f"{call}." if again else f"{call}, or in a shell: pliant resume {path}"


def _pack_body(k: int, body: Body, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """A body's header; its arrays are added to `arrays`."""
    own = {name: getattr(body, name) for name in _BODY}
    own.update({f"release{r}": vertices for r, (vertices, _) in enumerate(body.releases)})
    motions = [_pack_motion(m, vertices, motion, own) for m, (vertices, motion) in enumerate(body.motions)]
    ingredients = {name: _pack(body, name, value, own) for name, value in body.ingredients().items()}
    arrays.update({f"body{k}.{name}": array for name, array in own.items()})
    return {
        "name": body.name,
        "kind": body.kind,
        "ingredients": ingredients,
        "motions": motions,
        "forces": len(body.forces),
        "settings": pack_settings(body),
        "releases": [time for _, time in body.releases],
        "colour": body.colour,
        "friction": body.friction,
    }


def _pack_motion(m: int, vertices: np.ndarray, motion: Motion, arrays: dict[str, np.ndarray]) -> dict[str, Any] | None:
    """A motion as its name and options; None for a Python function, which a file cannot hold."""
    if isinstance(motion, ComponentMotion):
        return {
            "name": None,
            **(_pack_motion(m, vertices, motion.motion, arrays) or {}),
            "components": motion.components,
        }
    arrays[f"motion{m}"] = vertices
    if not (isinstance(motion, KeptMotion) and type(motion) is MOTIONS.get(motion.name)):
        return None
    arrays[f"motion{m}.points"] = np.asarray(motion.points)
    return {"name": motion.name, **motion.options}


def _unpack_motion(about: dict[str, Any] | None, points: np.ndarray | None, passed_again: Iterator[Motion]) -> Motion:
    """A motion from its name, options and points, or the next of the Python functions that were passed again."""
    if about is not None and "components" in about:
        inner = {name: value for name, value in about.items() if name != "components"}
        kept = inner if inner["name"] is not None else None
        return ComponentMotion(_unpack_motion(kept, points, passed_again), about["components"])
    if about is None:
        return next(passed_again)
    assert points is not None
    options = {name: value for name, value in about.items() if name != "name"}
    return MOTIONS[about["name"]](points, **options)


def _pack(body: Body, name: str, value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """An ingredient as plain numbers and words; arrays go to `arrays`."""
    if isinstance(value, TetMesh | TriMesh):
        arrays[f"{name}.points"], arrays[f"{name}.elements"] = value.points, value.elements
        return {"mesh": type(value).__name__}
    if isinstance(value, Primitive):
        return {"primitive": value.kind, **value.sizes}
    if isinstance(value, SolidLaw):
        law = type(value).__name__
        if type(value) is not SOLID_LAWS.get(law):
            raise FileError(f"body {body.name} has the law {law}, which is not registered: a file could not name it.")
        parameters = dict(zip(value.parameter_names(), value.parameters, strict=True))
        varying = {key: number for key, number in parameters.items() if isinstance(number, np.ndarray)}
        arrays.update({f"{name}.{key}": number for key, number in varying.items()})
        kept = [{"array": f"{name}.{key}"} if key in varying else float(parameters[key]) for key in parameters]
        return {"law": law, "parameters": kept}
    if isinstance(value, YarnCloth):
        return {"yarn cloth": value.document, "name": value.name}
    if isinstance(value, Invertible):
        law = _pack(body, name, value.law, arrays)
        return {"invertible": law, **{f.name: getattr(value, f.name) for f in fields(value) if f.name != "law"}}
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return {"array": name}
    return value


def _unpack_body(
    path: Path, prefix: str, about: dict[str, Any], arrays: dict[str, np.ndarray], functions: dict[str, list]
) -> Body:
    """A body from its header and its arrays, whose names begin with `prefix` and which are taken out."""
    name = about["name"]
    needed = {"motions": sum(not is_kept(kept) for kept in about["motions"]), "forces": about["forces"]}
    for what, given in functions.items():
        if needed[what] != len(given):
            raise FileError(
                f"{path}: body {name} has {needed[what]} Python functions as {what}, which a file cannot hold, and "
                f"{len(given)} were given. Pass them again: "
                f"Simulation.resume(path, {what}={{{name!r}: [{what.removesuffix('s')}, ...]}})."
            )
    own = {key: arrays.pop(key) for key in list(arrays) if key.startswith(prefix)}
    made_of = dict(own)
    ingredients = {key: _unpack(path, name, prefix + key, value, own) for key, value in about["ingredients"].items()}
    try:
        body = BODIES[about["kind"]](name, **ingredients)
    except (SceneError, MeshError) as error:
        used = ", ".join(key for key in made_of if key not in own)
        raise FileError(f"{path}: {name} cannot be built from the arrays {used}: {error}") from None
    check_arrays(path, own, expected_of_body(prefix, body, _BODY, about, own))
    for field_name in _BODY:
        setattr(body, field_name, own[prefix + field_name])
    body.colour, body.friction = about["colour"], about["friction"]
    body.releases.extend((own[f"{prefix}release{r}"], time) for r, time in enumerate(about["releases"]))
    passed_again = iter(functions["motions"])
    for m, kept in enumerate(about["motions"]):
        motion = _unpack_motion(kept, own.get(f"{prefix}motion{m}.points"), passed_again)
        body.motions.append((own[f"{prefix}motion{m}"], motion))
    body.forces.extend(functions["forces"])
    return body


def _unpack(path: Path, body: str, name: str, value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """An ingredient; its arrays, whose names begin with `name`, are checked and taken out."""
    if not isinstance(value, dict):
        return value
    if "mesh" in value:
        check_mesh(path, name, value["mesh"], arrays)
        points, elements = arrays.pop(f"{name}.points"), arrays.pop(f"{name}.elements")
        try:
            return {"TetMesh": TetMesh, "TriMesh": TriMesh}[value["mesh"]](points, elements)
        except MeshError as error:
            raise FileError(f"{path}: arrays {name}.points and {name}.elements are not a mesh: {error}") from None
    if "primitive" in value:
        return PRIMITIVES[value["primitive"]](**{key: size for key, size in value.items() if key != "primitive"})
    if "yarn cloth" in value:
        return YarnCloth.from_document(value["yarn cloth"], value["name"])
    if "invertible" in value:
        law = _unpack(path, body, name, value["invertible"], arrays)
        return Invertible(law, **{key: number for key, number in value.items() if key != "invertible"})
    if "law" in value:
        if not is_one_of(value["law"], SOLID_LAWS):
            raise FileError(f"{path}: body {body} has the law {value['law']}, which this Pliant does not know.")
        kind = SOLID_LAWS[value["law"]]
        named = zip(kind.parameter_names(), value["parameters"], strict=True)
        return kind(*(_unpack(path, body, f"{name}.{key}", one, arrays) for key, one in named))
    check_numbers(path, name, arrays)
    return arrays.pop(name)
