"""Seams between sheets and elastic bands along their edges.

A seam joins two chains of edges point by point: points at equal parts of both lengths at rest, at every vertex of
either, so that the chains may have different numbers of vertices and lengths (gathers).  Each is a stitch
(elements.stitch), whose stiffness is that of the seam per length times the length of the seam that it holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.arguments import as_indices
from pliant.errors import SceneError
from pliant.materials.rest_moduli import lame_parameters_at_rest
from pliant.model import checks
from pliant.model.blocks import Bands, Stitches
from pliant.model.body import Body
from pliant.model.cloth import Cloth
from pliant.model.yarn_sheet import YarnSheet

RATIO = 10.0  # of a seam's stiffness to the sheet's over an edge's length: at a strain s it opens by s / 10 of an edge
MOST_EDGES = 1.0  # that a gap may close by in a step, as two parts of cloth between which something may lie
USUAL_EDGES = 0.1  # the same, as it is advised
SAME = 1e-4  # parts of a chain's length nearer to each other are one: files round coordinates


@dataclass(frozen=True)
class Seam:
    """Two chains of vertices that are sewn together."""

    body_a: Cloth
    chain_a: np.ndarray  # (p,) vertices; a loop ends with the vertex it begins with
    body_b: Cloth
    chain_b: np.ndarray  # (q,)
    stiffness: float  # [N/m^2]: force per length of the seam and per gap
    seconds: float  # until it is closed


@dataclass(frozen=True)
class Band:
    """An elastic band along a chain of vertices."""

    body: Cloth
    chain: np.ndarray  # (p,)
    ratio: float  # length of the band at rest over that of the chain
    stiffness: float  # [N]: force at twice its length
    seconds: float  # until it has its own length


def make_seam(
    body_a: Body, chain_a: ArrayLike, body_b: Body, chain_b: ArrayLike, stiffness: float | None, seconds: float,
    align: bool,
) -> Seam:  # fmt: skip
    """Check what a user gives, and let both chains run the same way."""
    a, b = _chain(body_a, chain_a, "add_seam: chain_a"), _chain(body_b, chain_b, "add_seam: chain_b")
    assert isinstance(body_a, Cloth)
    assert isinstance(body_b, Cloth)
    if _is_loop(a) != _is_loop(b):
        loop, open_one = (body_a, body_b) if _is_loop(a) else (body_b, body_a)
        raise SceneError(
            f"add_seam: the chain of {loop.name} is closed and that of {open_one.name} is open; sew two loops, or two "
            "chains. A loop ends with the vertex it begins with."
        )
    if body_a is body_b and np.array_equal(np.unique(a), np.unique(b)):
        raise SceneError(f"add_seam: both chains are the same vertices of {body_a.name}; give two.")
    k = _usual_stiffness(body_a, body_b) if stiffness is None else stiffness
    k = checks.number(k, "add_seam: stiffness", "N/m^2", positive=True)
    time = checks.number(seconds, "add_seam: seconds", "s")
    align = checks.flag(align, "add_seam: align")
    return Seam(body_a, a, body_b, _aligned(body_a, a, body_b, b) if align else b, k, time)


def make_band(body: Body, chain: ArrayLike, ratio: float, stiffness: float, seconds: float) -> Band:
    """Check what a user gives."""
    vertices = _chain(body, chain, "add_band: chain")
    assert isinstance(body, Cloth)
    ratio = checks.number(ratio, "add_band: ratio", "length over the chain's length", positive=True)
    force = checks.number(stiffness, "add_band: stiffness", "N", positive=True)
    return Band(body, vertices, ratio, force, checks.number(seconds, "add_band: seconds", "s"))


def check_closing(seams: Iterable[Seam], h: float) -> None:
    """Refuse seams that draw sheets together by more than an edge in a step of h [s], faster than contact can tell what
    lies between them.
    """
    for seam in seams:
        gap = float(seam_block(seam, 0, 0).gaps.max(initial=0.0))
        edge = min(_mean_edge(body) for body, _ in _sides(seam))
        if gap * h > MOST_EDGES * edge * max(seam.seconds, h):
            names = seam.body_a.name if seam.body_a is seam.body_b else f"{seam.body_a.name} and {seam.body_b.name}"
            raise SceneError(
                f"add_seam: the seam of {names} closes a gap of {gap:.3g} m in seconds={seam.seconds:g}, more than an "
                f"edge ({edge:.2g} m) per step of {h:.2g} s: contact does not follow, and cloth is drawn through what "
                f"lies between. Give seconds={_rounded_up(gap * h / (USUAL_EDGES * edge)):g} or more."
            )


def _rounded_up(seconds: float) -> float:
    """To one digit."""
    digit = 10.0 ** np.floor(np.log10(seconds))
    return float(np.ceil(seconds / digit - 1e-9) * digit)


def seam_block(seam: Seam, first_a: int, first_b: int) -> Stitches:
    """Its stitches; first_a and first_b are the scene's numbers of the bodies' vertices 0."""
    part_a, part_b = (_parts(body.mesh.points[chain]) for body, chain in _sides(seam))
    parts = np.unique(np.concatenate([part_a, part_b]))
    parts = parts[np.concatenate([[True], np.diff(parts) > SAME])]
    if _is_loop(seam.chain_a):
        parts = parts[parts < 1 - SAME]
    vertices_a, shares_a = _points_at(parts, part_a, seam.chain_a)
    vertices_b, shares_b = _points_at(parts, part_b, seam.chain_b)
    elements = np.hstack([vertices_a + first_a, vertices_b + first_b])
    shares = np.hstack([-shares_a, shares_b])
    total = np.mean([_length(body.mesh.points[chain]) for body, chain in _sides(seam)])
    stiffness = seam.stiffness * total * _widths(parts, _is_loop(seam.chain_a))
    if seam.body_a is seam.body_b:
        elements, shares = _without_repeats(elements, shares, first_a, seam.body_a.n_vertices)
    kept = np.abs(shares).max(axis=1) > SAME  # a dart's end is sewn to itself
    gaps = _gaps(seam, vertices_a, shares_a, vertices_b, shares_b)
    m = int(kept.sum())
    return Stitches(
        elements[kept], shares[kept], stiffness[kept], np.zeros(m), gaps[kept], np.full(m, seam.seconds)
    ).at(0.0)


def band_block(band: Band, first: int) -> Bands:
    """Its edges; `first` is the scene's number of the body's vertex 0."""
    edges = np.column_stack([band.chain[:-1], band.chain[1:]])
    points = band.body.mesh.points
    lengths = np.linalg.norm(points[edges[:, 1]] - points[edges[:, 0]], axis=1)
    own, m = band.ratio * lengths, len(edges)
    stiffness, seconds = band.stiffness / own, np.full(m, band.seconds)
    return Bands(edges + first, own, stiffness, np.zeros(m), own, lengths - own, seconds).at(0.0)


def stitched_vertices(block: Stitches) -> np.ndarray:
    """(k, 2) vertices of both sides that stitches join."""
    a, b = block.elements[:, :2], block.elements[:, 2:]
    pairs = [
        np.column_stack([a[:, i], b[:, j]])[(block.shares[:, i] != 0) & (block.shares[:, 2 + j] != 0)]
        for i in range(2)
        for j in range(2)
    ]
    return np.unique(np.concatenate(pairs), axis=0)


def _chain(body: Body, chain: ArrayLike, what: str) -> np.ndarray:
    """Vertices one after another along edges of a sheet."""
    if not isinstance(body, Cloth):
        raise SceneError(f"{what}: {getattr(body, 'name', body)!r} is not a cloth; only sheets have seams and bands.")
    vertices = as_indices(chain)
    if vertices.ndim != 1 or vertices.dtype.kind not in "iu" or len(vertices) < 2:
        raise SceneError(
            f"{what} of {body.name} has type {vertices.dtype} and shape {vertices.shape}; give at least two vertices "
            "in order, such as one of body.mesh.boundary_loops()."
        )
    vertices = vertices.astype(np.int64)
    outside = np.flatnonzero((vertices < 0) | (vertices >= body.n_vertices))
    if outside.size:
        raise SceneError(
            f"{what} of {body.name}: vertex {vertices[outside[0]]} does not exist; it has vertices 0 to "
            f"{body.n_vertices - 1}."
        )
    n, ends = body.n_vertices, np.sort(np.column_stack([vertices[:-1], vertices[1:]]), axis=1)
    apart = np.flatnonzero(~np.isin(ends @ (n, 1), body.mesh.edges @ (n, 1)))
    if apart.size:
        k = int(apart[0])
        raise SceneError(
            f"{what} of {body.name}: vertices {vertices[k]} and {vertices[k + 1]}, numbers {k} and {k + 1} of it, have "
            "no edge between them; give vertices in the order in which edges join them."
        )
    inner = vertices[:-1] if _is_loop(vertices) else vertices
    seen, counts = np.unique(inner, return_counts=True)
    if (counts > 1).any():
        raise SceneError(f"{what} of {body.name} passes vertex {seen[counts > 1][0]} twice; give two chains instead.")
    return vertices


def _usual_stiffness(*bodies: Cloth) -> float:
    """[N/m^2] of a seam that is stiff compared with the softer of its sheets."""
    return RATIO * min(_modulus(body) / _mean_edge(body) for body in bodies)


def _modulus(body: Cloth) -> float:
    """[N/m] of small strains, the largest."""
    if isinstance(body, YarnSheet):
        first, second, _ = body.material.rest_moduli
        return first + 2 * second
    law = body.material
    lam, mu = lame_parameters_at_rest(type(law), law.of_elements(body.n_elements))
    return float((lam + 2 * mu).max()) + body.warp + body.weft


def _mean_edge(body: Cloth) -> float:
    ends = body.mesh.points[body.mesh.edges]
    return float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).mean())


def _sides(seam: Seam) -> tuple[tuple[Cloth, np.ndarray], tuple[Cloth, np.ndarray]]:
    return (seam.body_a, seam.chain_a), (seam.body_b, seam.chain_b)


def _is_loop(chain: np.ndarray) -> bool:
    return bool(chain[0] == chain[-1])


def _length(points: np.ndarray) -> float:
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def _parts(points: np.ndarray) -> np.ndarray:
    """(p,) how far along a chain of points (p, 3) each is, from 0 to 1."""
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    return way / way[-1]


def _points_at(parts: np.ndarray, own: np.ndarray, chain: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends (m, 2) of the edges of a chain, whose vertices are at `own` parts of it, on which parts (m,) lie, and
    weights (m, 2).
    """
    k = np.clip(np.searchsorted(own, parts + SAME, side="right") - 1, 0, len(own) - 2)
    weight = (parts - own[k]) / (own[k + 1] - own[k])
    weight = np.where(parts - own[k] < SAME, 0.0, np.where(own[k + 1] - parts < SAME, 1.0, weight))
    return np.column_stack([chain[k], chain[k + 1]]), np.column_stack([1 - weight, weight])


def _widths(parts: np.ndarray, is_loop: bool) -> np.ndarray:
    """(m,) the part of a seam that each of its stitches holds: half way to the next ones."""
    if is_loop:
        following = np.append(parts[1:], parts[0] + 1) - parts
        return 0.5 * (following + np.roll(following, 1))
    return 0.5 * np.diff(np.concatenate([parts[:1], parts])) + 0.5 * np.diff(np.concatenate([parts, parts[-1:]]))


def _without_repeats(elements: np.ndarray, shares: np.ndarray, first: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Stitches (m, 4) that name each vertex once: shares of one that comes twice are added where it is first, and a
    vertex of the body that the stitch does not have takes the other place, with no share.
    """
    elements, shares = elements.copy(), shares.copy()
    for row in range(len(elements)):
        for place in range(1, 4):
            before = np.flatnonzero(elements[row, :place] == elements[row, place])
            if before.size:
                shares[row, before[0]] += shares[row, place]
                shares[row, place] = 0.0
                unused = next(v for v in range(first, first + n) if v not in elements[row])
                elements[row, place] = unused
    return elements, shares


def _gaps(seam: Seam, a: np.ndarray, wa: np.ndarray, b: np.ndarray, wb: np.ndarray) -> np.ndarray:
    """(m,) distances of the points that stitches join, as the scene starts [m]."""
    one = np.einsum("mk,mka->ma", wa, seam.body_a.initial_positions[a])
    other = np.einsum("mk,mka->ma", wb, seam.body_b.initial_positions[b])
    return np.linalg.norm(other - one, axis=1)


def _aligned(body_a: Cloth, a: np.ndarray, body_b: Cloth, b: np.ndarray) -> np.ndarray:
    """Chain b, turned round and, if it is a loop, begun at another vertex, so that the squares of the distances between
    points that are sewn together, as the scene starts, have the least sum.
    """
    parts, places = _parts(body_a.mesh.points[a]), body_a.initial_positions[a]
    choices = [b, b[::-1]]
    if _is_loop(b):
        choices = [np.append(np.roll(way[:-1], -k), way[k]) for way in choices for k in range(len(b) - 1)]

    def spread(chain: np.ndarray) -> float:
        vertices, weights = _points_at(parts, _parts(body_b.mesh.points[chain]), chain)
        points = np.einsum("mk,mka->ma", weights, body_b.initial_positions[vertices])
        return float(((points - places) ** 2).sum())

    return min(choices, key=spread)
