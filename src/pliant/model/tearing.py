"""Tearing (VBD 3.9): sheets that split and springs that break; and deleting elements by hand.

Vertices that are made by splitting have the colour, position and velocity of the one they were, and a part of its mass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pliant.errors import SceneError
from pliant.geometry.tearing import overstretched, rewired, split
from pliant.model.blocks import Block, Pressures, Sheets, Solids, Springs, Tearing, TetRates
from pliant.model.body import FREE, Body
from pliant.model.cloth import Cloth
from pliant.model.model import Model
from pliant.model.solid import Solid
from pliant.model.spring_net import SpringNet
from pliant.model.tear_topology import rows_of
from pliant.model.topology import Topology, held_where_loose, whole_topology, with_topology
from pliant.model.yarn_sheet import YarnSheet


class Edit(NamedTuple):
    """Elements of a block that are gone or at other vertices."""

    block: Block  # as they were
    elements: np.ndarray  # (m, k) vertices where they are now, -1 where they are gone


class TopologyChange(NamedTuple):
    """A model that has changed, and what a solver and a state must know of it."""

    model: Model
    parents: np.ndarray  # (k,) vertices that the k new ones, numbered last, were split from
    edits: tuple[Edit, ...]  # of each block


def tear(model: Model, x: np.ndarray, v: np.ndarray) -> TopologyChange | None:
    """What tears and breaks at positions x [m] and velocities v [m/s]; None if nothing does."""
    before = model.topology
    if before is None:
        return None
    broken = {
        k: _broken(k, block, before, x, v) for k, block in enumerate(model.blocks) if block.tearing is Tearing.BREAKS
    }
    edges = overstretched(x, v, before.corners, before.tear_topology.limits)
    nothing = np.zeros(0, np.int64)
    corners, parents, origin, mass = before.corners, nothing, before.origin, model.mass
    if len(edges):
        tear_topology = before.tear_topology
        arrays = (model.subspace == FREE, mass, tear_topology.shares, tear_topology.fans)
        corners, parents, origins, mass = split(edges, x, corners, origin, *arrays)
        origin = np.concatenate([origin, origins])
    if not len(parents) and not any(part.any() for part in broken.values()):
        return None
    return _changed(model, corners, origin, parents, mass, broken)


def _broken(k: int, springs: Block, topology: Topology, x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(r,) which springs are longer than their limits and growing."""
    limits = topology.tear_topology.spring_limits[k]
    assert limits is not None
    i, j = springs.elements.T
    d = x[j] - x[i]
    is_long = np.einsum("ra,ra->r", d, d) > limits[topology.left[k]] ** 2
    return is_long & (np.einsum("ra,ra->r", d, v[j] - v[i]) > 0)


def deleted(model: Model, bodies: Sequence[Body], number: int, elements: np.ndarray, x: np.ndarray) -> TopologyChange:
    """The model without some elements, numbered as in its mesh, of a body.

    Their mass goes with them; springs have none.  Vertices without any element are held where they are, x [m].
    """
    if model.topology is None:
        model = replace(model, topology=whole_topology(model, bodies))
    topology, body = model.topology, bodies[number]
    assert topology is not None
    _check_whole(model, body)
    corners, mass, gone, tets_left = topology.corners.copy(), model.mass.copy(), {}, topology.tets_left
    if isinstance(body, Cloth):
        own = 3 * topology.tear_topology.triangle_start[number] + (3 * elements[:, None] + np.arange(3)).ravel()
        own = own[corners[own] >= 0]
        np.subtract.at(mass, corners[own], topology.tear_topology.shares[own])
        corners[own] = -1
    elif isinstance(body, SpringNet):
        gone = _rows_gone(model, topology, number, elements, (Springs,))
    elif isinstance(body, Solid):
        gone = _rows_gone(model, topology, number, elements, (Solids, TetRates))
        gone |= _empty_patches(topology, gone)
        own = _rows_of_body(topology, number, topology.tear_topology.tets)
        lost = elements[np.isin(own[elements], tets_left)]
        share = np.repeat(body.mesh.volumes[lost, None] * body.density / 4, 4, axis=1)
        np.subtract.at(mass, topology.tear_topology.tets[own[lost]], share)
        tets_left = np.setdiff1d(tets_left, own[elements])
    change = _changed(model, corners, topology.origin, np.zeros(0, np.int64), mass, gone, tets_left)
    return change._replace(model=_without_loose(change.model, body, number, x))


def _rows_of_body(topology: Topology, number: int, elements: np.ndarray) -> np.ndarray:
    """Rows of the whole scene's elements (m, k) that are a body's, in its order."""
    return rows_of(elements, *topology.tear_topology.body_start[number : number + 2])


def _rows_gone(
    model: Model, topology: Topology, number: int, elements: np.ndarray, kinds: tuple[type[Block], ...]
) -> dict[int, np.ndarray]:
    """Of the blocks of some kinds that hold a body: which rows (r,) are among some elements of the body."""
    gone = {}
    for k, block in enumerate(model.blocks):
        own = _rows_of_body(topology, number, topology.tear_topology.elements[k])
        if isinstance(block, kinds) and len(own):
            gone[k] = np.isin(topology.left[k], own[elements])
    return gone


def _empty_patches(topology: Topology, gone: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Of the blocks of patches: which rows (r,) have no tet where some rows of other blocks are gone."""
    empty = {}
    for k, members in enumerate(topology.tear_topology.patches):
        if members is not None and members.block in gone:
            kept = members.patch[topology.left[members.block][~gone[members.block]]]
            empty[k] = ~np.isin(topology.left[k], kept)
    return empty


def _check_whole(model: Model, body: Body) -> None:
    """Refuse where something else than elements stands on them."""
    if not isinstance(body, Cloth | SpringNet | Solid):
        raise SceneError(f"{body.name}: it has no elements that could be deleted.")
    if isinstance(body, YarnSheet):
        raise SceneError(f"{body.name}: yarn cloth cannot be taken apart: nothing of it can be deleted.")
    if isinstance(body, Cloth) and body.bending > 0 and body.bending_model == "quadratic" and not body.tears:
        raise SceneError(
            f"{body.name}: quadratic bending of a sheet that does not tear cannot be taken apart. Set tear_at, or use "
            "bending_model='coupled'."
        )
    if isinstance(body, Solid) and body.viscosity > 0:
        raise SceneError(f"{body.name}: viscosity cannot be taken apart: set it to 0 before you build the simulation.")
    if any(isinstance(block, Pressures) for block in model.blocks) and body.inflated():
        raise SceneError(
            f"{body.name}: a surface with a pressure or volume must stay closed; nothing of it can be deleted."
        )


def _without_loose(model: Model, body: Body, number: int, x: np.ndarray) -> Model:
    """Hold the vertices that have no element any more, and hence no mass."""
    if isinstance(body, SpringNet):
        return model
    assert model.topology is not None
    loose = np.zeros(model.n_vertices, bool)
    loose[model.topology.vertices_of(number)] = True
    for block in model.blocks:
        if isinstance(block, Sheets | Solids):
            loose[block.elements] = False
    model = held_where_loose(model, loose, x)
    if not model.is_free.any():
        raise SceneError(f"{body.name}: nothing that moves would be left. Delete fewer elements.")
    return model


def _changed(
    model: Model,
    corners: np.ndarray,
    origin: np.ndarray,
    parents: np.ndarray,
    mass: np.ndarray,
    gone: dict[int, np.ndarray],
    tets_left: np.ndarray | None = None,
) -> TopologyChange:
    """Drop what has no corner any more or hangs on two sides of a tear, and what is gone by itself."""
    before = model.topology
    assert before is not None
    cut = [
        block.elements[gone[k]] for k, block in enumerate(model.blocks) if block.tearing is Tearing.BREAKS and k in gone
    ]
    left, edits = [], []
    for k, block in enumerate(model.blocks):
        now, is_left, is_other = _now(k, block, before, corners, cut)
        if k in gone:
            is_left &= ~gone[k]
        left.append(before.left[k] if is_left.all() else before.left[k][is_left])
        rows = np.flatnonzero(is_other | ~is_left)
        edits.append(Edit(block.taken(rows), np.where(is_left[rows, None], now[rows], -1)))
    after = Topology(
        before.tear_topology, corners, origin, tuple(left), before.tets_left if tets_left is None else tets_left
    )
    return TopologyChange(with_topology(model, after, mass), parents, tuple(edits))


def _now(
    k: int, block: Block, before: Topology, corners: np.ndarray, cut: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices of a block's elements (r, k) now, which are still whole (r,), and which have other vertices (r,)."""
    follow = before.tear_topology.follow[k]
    if follow is not None:
        return rewired(follow, before.left[k], corners, block.elements)
    r = len(block.elements)
    is_whole = np.ones(r, bool)
    if block.tearing is Tearing.FOLLOWS_SPRINGS and cut:
        n = len(before.origin)
        lost = _keys(np.concatenate(cut), n)
        for pair in (block.elements[:, :2], block.elements[:, 1:]):
            is_whole &= ~np.isin(_keys(pair, n), lost)
    return block.elements, is_whole, np.zeros(r, bool)


def _keys(pairs: np.ndarray, n: int) -> np.ndarray:
    """One number a pair of vertices, whatever their order."""
    return pairs.min(axis=1) * n + pairs.max(axis=1)
