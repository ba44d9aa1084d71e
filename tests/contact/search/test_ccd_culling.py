"""The culling lets everything through that touches, whatever its shape, and points that are in tets."""

import numpy as np
import pytest

from contact_arrays import impact_times
from pliant.contact.search.bvh import FAN
from pliant.contact.search.ccd_culling import LANES, VERTEX_TET, CcdCulling, Pack, coarse_cull, fine_cull
from pliant.contact.search.motion import ROW, motion_of
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE
from pliant.kernels.threads import Team
from pliant.lanes.compiled import allocating, cached


@allocating
def pass_of_all(our_rows, their_rows, our_places, their_places, culling, passes):
    ours, theirs = np.zeros(LANES, np.int64), np.zeros(LANES, np.int64)
    for k in range(len(passes)):
        ours[k % LANES], theirs[k % LANES] = our_places[k], their_places[k]
        pack = Pack(0, ours, theirs, our_rows, their_rows)
        bits = coarse_cull(pack, -1, culling)
        if culling.kind != VERTEX_TET:
            bits = fine_cull(pack, bits, culling)
        passes[k] = (bits >> (k % LANES)) & 1 == 1


def in_blocks(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of corners (k, c) as of a tree, and where those of each primitive begin."""
    k, c = corners.shape
    blocks = corners[np.minimum(np.arange(-(-k // FAN) * FAN), k - 1)].reshape(-1, FAN, c)
    rows = ROW * blocks.transpose(0, 2, 1).ravel().astype(np.uint32)
    return rows, np.arange(k) // FAN * FAN * c + np.arange(k) % FAN


def passing(kind: int, start: np.ndarray, end: np.ndarray, separation: float = 0.0) -> np.ndarray:
    """Which of pairs (k, c, 3) pass; a vertex or an edge comes first."""
    k, c = start.shape[:2]
    corners = np.arange(k * c, dtype=np.int32).reshape(k, c)
    own = 2 if kind == EDGE_EDGE else 1
    team, passes = Team(1), np.empty(k, bool)
    motion = motion_of(team, start.reshape(-1, 3), end.reshape(-1, 3), 0.0)
    rows, places = zip(*(in_blocks(part) for part in (corners[:, :own], corners[:, own:])), strict=True)
    cached(pass_of_all)(*rows, *places, CcdCulling(kind, motion, separation), passes)
    return passes


def pairs(rng: np.random.Generator, shape: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Moving pairs (n, 4, 3): scattered, flat in a plane, on a line, or with repeated points; some far from the
    origin.
    """
    start = rng.normal(0, 1, (n, 4, 3))
    move = rng.normal(0, 1, start.shape)
    if shape == "flat":
        start[:, :, 2], move[:, :, 2] = 0.0, 0.0
    if shape == "line":
        start, move = start * [1.0, 0.0, 0.0], move * [1.0, 0.0, 0.0]
    if shape == "repeated":
        start[:, 3] = start[:, 2]
        start[::2, 1] = start[::2, 0]
    if shape == "far":
        start += 1e4
    if shape == "still":
        move[:] = 0.0
    return start, start + move


@pytest.mark.parametrize("kind", [VERTEX_TRIANGLE, EDGE_EDGE])
@pytest.mark.parametrize("shape", ["scattered", "flat", "line", "repeated", "far", "still"])
@pytest.mark.parametrize("separation", [0.0, 0.3])
def test_nothing_that_hits_is_left_out(kind: int, shape: str, separation: float) -> None:
    start, end = pairs(np.random.default_rng(3), shape, 8000)
    hits = np.isfinite(impact_times(kind, start, end, separation))
    passes = passing(kind, start, end, separation)
    assert passes[hits].all()
    if shape in ("scattered", "far", "still"):
        assert hits.sum() > 200 or (shape == "still" and not separation)  # at rest, nothing random touches
        assert (~passes[~hits]).mean() > 0.5


@pytest.mark.parametrize("kind", [VERTEX_TRIANGLE, EDGE_EDGE])
@pytest.mark.parametrize("corner", range(4))
@pytest.mark.parametrize("is_late", [False, True])
def test_nan_passes(kind: int, corner: int, is_late: bool) -> None:
    way = pairs(np.random.default_rng(4), "scattered", 8)
    way[is_late][:, corner, 1] = np.nan
    assert passing(kind, *way).all()


def test_points_in_tets() -> None:
    """Barycentric coordinates tell who is inside, for tets of both orientations; a flat tet has no inside."""
    rng = np.random.default_rng(5)
    tets = rng.normal(0, 1, (8000, 4, 3))
    coordinates = rng.dirichlet(np.ones(4), 8000)
    coordinates[::2] += rng.normal(0, 1, (4000, 1)) * [1.0, -1.0, 0.0, 0.0]
    points = np.einsum("ki,kia->ka", coordinates, tets)
    flat = tets.copy()
    flat[:, :, 2] = 0.0
    inside = (coordinates >= 0).all(axis=1)
    assert 0.4 < inside.mean() < 0.9
    np.testing.assert_array_equal(passing(VERTEX_TET, *2 * [np.concatenate([points[:, None], tets], 1)]), inside)
    assert not passing(VERTEX_TET, *2 * [np.concatenate([points[:, None], flat], 1)]).any()
    corner = passing(VERTEX_TET, *2 * [np.concatenate([tets[:, :1], tets], 1)])
    assert corner.all()
