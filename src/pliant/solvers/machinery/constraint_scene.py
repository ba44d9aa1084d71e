"""Which scenes the schemes with hard constraints take, and the distances that their springs and sheets keep."""

from __future__ import annotations

import numpy as np

from pliant.constraints.blocks import room_for_blocks
from pliant.constraints.distances import Distances, cloth_distances, spring_distances
from pliant.constraints.lists import PALETTE, colour_rows, room_for_colours
from pliant.constraints.rows import empty_rows
from pliant.errors import SolverError
from pliant.grains.convex_pairs import ConvexPairs
from pliant.kernels.threads import new_barrier
from pliant.model import (
    CARRIED,
    FREE,
    CurvedSquares,
    Fibres,
    FoldFans,
    FoldPairs,
    Hinges,
    Model,
    Pairs,
    PlateSquares,
    RestHeights,
    Sheets,
    Springs,
)
from pliant.relaxations import Relaxation

FIXED = 0  # dimension of the space in which a held vertex moves


def check_scene(name: str, model: Model, relaxation: Relaxation) -> None:
    """Refuse what has no form as rows."""
    known = (Springs, Sheets, Hinges, FoldPairs, FoldFans, PlateSquares, CurvedSquares, Pairs, RestHeights, Fibres)
    for block in model.blocks:
        if not isinstance(block, known):
            raise SolverError(
                f"{name} has no constraints for {type(block).__name__}: it takes particles, rigid bodies, springs and "
                "cloth. Use Auto or AVBD, in which particles meet all bodies, or build the scene without them."
            )
    held = np.flatnonzero(~np.isin(model.subspace, (FREE, FIXED, CARRIED)))
    if len(held):
        raise SolverError(
            f"{name}: {model.describe_vertex(int(held[0]))} moves on a line or in a plane, which it does not support: "
            "pin it, move it or leave it free."
        )
    if model.particles is not None and model.particles.rolling.any() and not relaxation.resists_rolling:
        raise SolverError(
            f"{name}: the scene has particles with rolling_resistance, which {type(relaxation).__name__} does not "
            "find: use pl.ImprovedJacobi() or pl.GaussSeidel(), or set it to 0."
        )
    if model.contact is not None and model.contact.settings.detect_every is not None:
        raise SolverError(f"{name} detects contacts once per step: leave Contact.detect_every at None.")
    if model.contact is not None and model.carried is not None:
        _check_rigid(name, model)


def _check_rigid(name: str, model: Model) -> None:
    """Refuse what rigid bodies may do and these schemes do not."""
    assert model.contact is not None
    bouncing = np.flatnonzero(model.contact.restitution > 0)
    if len(bouncing):
        raise SolverError(
            f"{name}: {model.body_names[bouncing[0]]} has restitution {model.contact.restitution[bouncing[0]]:g}, but "
            "contacts of this solver do not bounce: use AVBD, or set restitution to 0."
        )
    unseen = ConvexPairs(model).unseen()
    if unseen is not None:
        one, other = (model.body_names[k] for k in unseen)
        raise SolverError(
            f"{name}: {one} and {other} may touch each other, and it finds contacts only between rigid bodies that "
            "are convex: use AVBD, or scene.ignore_contact(...) for the two."
        )


def distances_of(model: Model) -> Distances:
    """Of all springs and sheets, without those whose two ends are held."""
    parts = [spring_distances(block) for block in model.blocks if isinstance(block, Springs)]
    bends = any(isinstance(block, Hinges | PlateSquares | CurvedSquares | Pairs) for block in model.blocks)
    for block in model.blocks:
        if isinstance(block, Sheets):
            parts.append(cloth_distances(block, model.n_vertices, bends))
    if not parts:
        nothing = np.zeros(0)
        return Distances(np.zeros((0, 2), np.int64), nothing, nothing, nothing.astype(bool), nothing.astype(int))
    whole = Distances(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    moves = (model.subspace[whole.pairs] != FIXED).any(axis=1)
    return _by_colours(Distances(*(array[moves] for array in whole)), model.n_vertices)


def _by_colours(distances: Distances, n_vertices: int) -> Distances:
    """Those of one colour after each other, so that Gauss-Seidel finds them in a row."""
    m = len(distances.pairs)
    rows, colours, colour = empty_rows(m, np.float64), room_for_colours(m), np.zeros(m, np.int8)
    rows.vertices[:, :2], rows.vertices[:, 2:] = distances.pairs, -1
    used = np.zeros((1, n_vertices), np.uint64)
    about = (room_for_blocks(m), np.ones(n_vertices), used, colour, colours, True)
    colour_rows(0, 1, new_barrier(), rows, m, *about)
    order = np.lexsort((colour, np.arange(m) // PALETTE))
    return Distances(*(array[order] for array in distances))
