"""What the arrays of a checkpoint must be, so that they fit its bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError
from pliant.io.arrays import Expected, check_arrays, indices, like
from pliant.model import CARRIED, Body, Model, RigidBody
from pliant.model.body import FIXED, FREE
from pliant.model.placement import ROW
from pliant.model.topology import Topology, whole_topology, with_topology_arrays

CORNERS = {"TetMesh": 4, "TriMesh": 3}  # of an element


def check_mesh(path: Path, prefix: str, kind: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Points and elements of a mesh, named `prefix`.points and `prefix`.elements."""
    points, elements = f"{prefix}.points", f"{prefix}.elements"
    count = len(arrays[points]) if points in arrays and arrays[points].ndim else 0
    check_arrays(
        path,
        {name: arrays[name] for name in (points, elements) if name in arrays},
        {
            points: Expected((None, 3), np.float64),
            elements: Expected((None, CORNERS[kind]), np.int64, 0, count),
        },
    )


def expected_of_body(
    prefix: str, body: Body, names: Sequence[str], about: dict[str, Any], arrays: Mapping[str, np.ndarray]
) -> dict[str, Expected]:
    """Arrays of a body that was built from its ingredients: those named, then motions and releases.

    about: its header; names begin with `prefix`.
    """
    n = body.n_vertices
    wanted = {f"{prefix}{name}": like(vars(body)[name]) for name in names}
    is_rigid = isinstance(body, RigidBody)
    wanted[f"{prefix}subspace"] = like(body.subspace, FIXED, (CARRIED if is_rigid else FREE) + 1)
    chosen = Expected((None,), np.int64, 0, n, is_unique=True)
    wanted |= {f"{prefix}release{r}": chosen for r in range(len(about["releases"]))}
    for m, kept in enumerate(about["motions"]):
        moved = f"{prefix}motion{m}"
        wanted[moved] = chosen
        if is_kept(kept):
            count = len(arrays[moved]) if moved in arrays and arrays[moved].ndim else 0
            wanted[f"{moved}.points"] = Expected((count, 3), np.float64)
    return wanted


def is_kept(motion: Mapping[str, Any] | None) -> bool:
    """Whether a file holds a motion, by what its header says of it: a Python function has no name there."""
    return motion is not None and motion["name"] is not None


def expected_of_attachment(
    prefix: str, bodies: tuple[Body, Body], arrays: Mapping[str, np.ndarray]
) -> dict[str, Expected]:
    """Indices and weights of the links between two bodies."""
    first = arrays.get(f"{prefix}vertices_a")
    count = len(first) if first is not None and first.ndim else 0
    wanted = {}
    for side, body in zip("ab", bodies, strict=True):
        vertices = arrays.get(f"{prefix}vertices_{side}")
        corners = vertices.shape[1] if vertices is not None and vertices.ndim == 2 else None
        wanted[f"{prefix}vertices_{side}"] = Expected((count, corners), np.int64, 0, body.n_vertices)
        wanted[f"{prefix}weights_{side}"] = Expected((count, corners), np.float64)
    return wanted


def check_state(
    path: Path | str,
    model: Model,
    bodies: Sequence[Body],
    state: Mapping[str, np.ndarray],
    topology: dict[str, np.ndarray],
) -> None:
    """Arrays of the state and of the topology, by names without their prefixes, against a model that was just built."""
    named = {f"topology.{name}": array for name, array in topology.items()}
    if topology or model.topology is not None:
        check_arrays(path, named, _expected_of_topology(model.topology or whole_topology(model, bodies), topology))
        _check_corners(path, model, bodies, topology)
        model = with_topology_arrays(model, bodies, topology)
    n = model.n_vertices
    wanted = {f"state.{name}": Expected((n, 3), np.float64) for name in ("x", "v", "v_previous")}
    wanted["state.internal_state"] = like(model.internal_state)
    bodies_count = 0 if model.carried is None else model.carried.count
    wanted["state.poses"] = Expected((bodies_count, 7), np.float64)
    wanted["state.twists"] = Expected((bodies_count, 6), np.float64)
    for name, width in (("x_previous", 3), ("poses_previous", 7), ("twists_previous", 6)):
        count = n if name == "x_previous" else bodies_count
        has_any = name in state and state[name].ndim and len(state[name]) > 0
        wanted[f"state.{name}"] = Expected((count if has_any else 0, width), np.float64)
    turning = n if model.particles is not None and model.particles.has_spin else 0
    wanted["state.inflation"] = Expected((len(model.volume_controls), 2), np.float64)
    wanted["state.spins"] = Expected((turning, 3), np.float64)
    check_arrays(path, {f"state.{name}": array for name, array in state.items()}, wanted)


def expected_of_contact(
    n: int, triangles: int, edges: int, bodies: int, obstacles: int, arrays: Mapping[str, np.ndarray]
) -> dict[str, Expected]:
    """Arrays of Detector.state_dict, for so many vertices, triangles and edges of the surface, bodies and obstacles;
    those with an entry per pair are as long as the first of them in `arrays`.
    """
    sided, crossed, pressed, pressing, short, near = (
        len(arrays[name]) if name in arrays and arrays[name].ndim else 0
        for name in ("vertices", "edges", "multipliers_ids", "pressing_keys", "shortfall_ids", "neighbours")
    )
    last_key = n * (bodies + 2 * obstacles)
    wanted = {
        "vertices": Expected((sided,), np.int32, 0, n),
        "triangles": Expected((sided,), np.int32, 0, triangles),
        "sides": Expected((sided,), np.float64, -1, 2),
        "crossed": Expected((sided,), bool),
        "edges": Expected((crossed, 2), np.int32, 0, edges),
        "normals": Expected((crossed, 3), np.float64),
        "pressing_keys": Expected((pressing,), np.int64, 0, last_key, is_ascending=True, is_optional=True),
        "pressing_depths": Expected((pressing,), np.float64, 0),
        "pressing_loads": Expected((pressing,), np.float64, 0),
        "pressing_shortfalls": Expected((pressing,), np.float64, 0),
        "shortfall_ids": Expected((short, 5), np.int32, -8),
        "shortfall_values": Expected((short,), np.float64, 0),
        "stored": Expected((1,), np.float64, 0),
        "no_self_contact": Expected((bodies,), bool, is_optional=True),
        "neighbours": Expected((near, 2), np.int32, 0, n, is_optional=True),
        "multipliers_ids": Expected((pressed, 5), np.int32, -8),
        "multipliers_normal": Expected((pressed,), np.float64, 0),
        "multipliers_tangential": Expected((pressed, 3), np.float64),
        "multipliers_earlier": Expected((pressed,), np.float64, 0),
        "multipliers_drift": Expected((pressed, 3), np.float64),
        "least_width": Expected((1,), np.float64, 0),
        "obstacles": Expected((obstacles, ROW), np.float64),
    }
    return {f"contact.{name}": expected for name, expected in wanted.items()}


def _expected_of_topology(whole: Topology, arrays: Mapping[str, np.ndarray]) -> dict[str, Expected]:
    before = len(whole.origin)
    origin = arrays.get("origin")
    n = max(before, len(origin)) if origin is not None and origin.ndim else before
    wanted = {
        "origin": indices(n, before),
        "corners": Expected(whole.corners.shape, np.int64, -1, n),
        "tets_left": indices(None, len(whole.tear_topology.tets), is_ascending=True),
        "mass": Expected((n,), np.float64, 0),
        "positions": Expected((n, 3), np.float64),
    }
    left = {
        f"left{k}": indices(None, len(own), is_ascending=True) for k, own in enumerate(whole.tear_topology.elements)
    }
    return {f"topology.{name}": array for name, array in (wanted | left).items()}


def _check_corners(path: Path | str, model: Model, bodies: Sequence[Body], arrays: Mapping[str, np.ndarray]) -> None:
    """Vertices that tearing has added come after those of the scene, and corners are at descendants of their own."""
    whole = model.topology or whole_topology(model, bodies)
    origin, corners = arrays["origin"], arrays["corners"]
    is_left = corners >= 0
    problem = ""
    if not np.array_equal(origin[: len(whole.origin)], whole.origin):
        problem = f"origin of shape {origin.shape} does not begin with the {len(whole.origin)} vertices of the bodies"
    elif not np.array_equal(origin[corners[is_left]], whole.corners[is_left]):
        problem = f"corners of shape {corners.shape} has corners at vertices that come from others"
    if problem:
        raise FileError(f"{path}: array topology.{problem}: it does not fit the bodies of the file.")
