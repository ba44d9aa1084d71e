"""How vertices are held, written as tables of a scene file."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError
from pliant.model import Body
from pliant.model.body import AXES, FIXED, FREE, LINE, PLANE
from pliant.model.motions import MOTIONS, ComponentMotion, KeptMotion


def describe_holds(path: Path, body: Body) -> list[dict[str, Any]]:
    """Every held vertex once: motions first, then pins by the time they end, then lines and planes by direction."""
    until = np.full(body.n_vertices, np.inf)
    for vertices, time in body.releases:
        until[vertices] = time
    holds, kinematic = [], np.zeros(body.n_vertices, bool)
    for vertices, motion in body.motions:
        kinematic[vertices] = True
        if isinstance(motion, ComponentMotion):
            holds += _pins_beside(body, vertices, motion.components)
        holds.append(_describe_motion(path, body, vertices, motion) | _until(until[vertices[0]]))
    pinned = np.flatnonzero((body.subspace == FIXED) & ~kinematic)
    holds += [{"kind": "pin", "where": where_indices(group)} | _until(time) for time, group in grouped(pinned, until)]
    partly = (body.subspace < FREE) & (body.subspace > FIXED) & ~kinematic
    for (time, components), group in grouped(np.flatnonzero(partly & np.isfinite(until)), _ends(body, until)):
        holds.append({"kind": "pin", "where": where_indices(group), "components": components} | _until(time))
    for subspace, kind, key in ((LINE, "line", "direction"), (PLANE, "plane", "normal")):
        bound = np.flatnonzero(partly & (body.subspace == subspace) & ~np.isfinite(until))
        for direction, group in grouped(bound, [tuple(d) for d in body.directions.tolist()]):
            holds.append({"kind": kind, "where": where_indices(group), key: list(direction)})
    return holds


def _held_components(body: Body, vertex: Any) -> str:
    """Which coordinates of a vertex are held."""
    kind, along = body.subspace[vertex], np.abs(body.directions[vertex]) == 1.0
    held = {FREE: np.zeros(3, bool), PLANE: along, LINE: ~along, FIXED: np.ones(3, bool)}[int(kind)]
    return "".join(axis for axis, is_held in zip(AXES, held, strict=True) if is_held)


def _ends(body: Body, until: np.ndarray) -> dict[int, tuple[float, str]]:
    """When and in which components vertices are let go that pins of some components hold."""
    return {int(v): (float(until[v]), _held_components(body, v)) for v in np.flatnonzero(np.isfinite(until))}


def _pins_beside(body: Body, vertices: np.ndarray, components: str) -> list[dict[str, Any]]:
    """Pins of those components of vertices that a motion of others leaves."""
    rest = {int(v): "".join(a for a in _held_components(body, v) if a not in components) for v in vertices}
    groups = grouped(np.array([v for v in rest if rest[v]], np.int64), rest)
    return [{"kind": "pin", "where": where_indices(group), "components": held} for held, group in groups]


def _describe_motion(path: Path, body: Body, vertices: np.ndarray, motion: Any) -> dict[str, Any]:
    if isinstance(motion, ComponentMotion):
        return {
            **_describe_motion(path, body, vertices, motion.motion),
            "components": "".join(sorted(motion.components)),
        }
    check_kept(path, body.name, motion)
    if not np.array_equal(np.asarray(motion.points), body.initial_positions[vertices]):
        raise FileError(
            f"{path}: a motion of {body.name} does not begin where its vertices do; a scene file says it must."
        )
    return {"kind": motion.name.lower(), "where": where_indices(vertices), **motion.options}


def check_kept(path: Path, name: str, motion: Any) -> None:
    """Refuse motions that are Python functions; name: of what moves."""
    if not isinstance(motion, KeptMotion) or type(motion) is not MOTIONS.get(motion.name):
        raise FileError(
            f"{path}: {name} is moved by a Python function, which a scene file cannot hold; "
            f"use one of pliant.motions: {', '.join(MOTIONS)}."
        )


def _until(time: float) -> dict[str, Any]:
    return {"until": float(time)} if np.isfinite(time) else {}


def where_indices(vertices: np.ndarray) -> dict[str, Any]:
    """Vertices by their numbers."""
    return {"kind": "indices", "indices": np.asarray(vertices).tolist()}


def grouped(vertices: np.ndarray, values: Any) -> list[tuple[Any, np.ndarray]]:
    """Vertices with the same value, in the order of values."""
    ordered = sorted(vertices.tolist(), key=lambda v: values[v])
    return [(value, np.array(list(group))) for value, group in groupby(ordered, key=lambda v: values[v])]
