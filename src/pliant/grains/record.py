"""What detection reads, as flat arrays, and how it writes a contact."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.constraints.one_row import put_row
from pliant.constraints.rows import CONTACT
from pliant.lanes.compiled import inlined
from pliant.lanes.vectors import dot

OVERLAP_PART = 0.1  # of the smaller radius: by how much an overlap at the start of a step may shrink within it


class Grains(NamedTuple):
    """p spheres among n vertices of the scene, then points of other bodies, q in all (grains.touching)."""

    vertices: np.ndarray  # (q,) int32
    numbers: np.ndarray  # (q,) int32 what these are called in the rows (constraints.numbering)
    radius: np.ndarray  # (q,) [m]
    size: np.ndarray  # (q,) [m] the same, or a length of the body for points without a radius
    body: np.ndarray  # (q,) int32
    friction: np.ndarray  # (q,) coefficient, not a number where the body has none
    rolling: np.ndarray  # (q,) coefficient of rolling resistance
    is_excluded: np.ndarray  # (q,) bool: touches nothing
    allowed: np.ndarray  # (bodies, bodies) bool
    otherwise: float  # friction where neither side has one
    tolerance: float  # [m] gap below which two are in contact


class Motion(NamedTuple):
    """Where all vertices are, and where they would be at the end of the step without constraints."""

    start: np.ndarray  # (n, 3) [m]
    end: np.ndarray  # (n, 3) [m]
    inverse_mass: np.ndarray  # (n,)
    h: float


class Obstacles(NamedTuple):
    """m shapes with formulas, at the start and at the end of the step (model.obstacles has the rows)."""

    kinds: np.ndarray  # (m,)
    at_start: np.ndarray  # (m, 16)
    at_end: np.ndarray  # (m, 16)
    local: np.ndarray  # (m, 16) in their own axes
    is_still: np.ndarray  # (m,) bool: it stays where it is in the step


class Faces(NamedTuple):
    """t triangles of sheets and meshes, and cells with the triangles that pass through them."""

    vertices: np.ndarray  # (t, 3) int32
    body: np.ndarray  # (t,) int32
    friction: np.ndarray  # (t,)
    thickness: np.ndarray  # (t,) half of it [m]
    lower: np.ndarray  # (t, 3) int64 first cell of its way
    upper: np.ndarray  # (t, 3) last cell
    starts: np.ndarray  # (buckets + 1,)
    entries: np.ndarray  # (e,) int32 triangles
    size: float  # of a cell [m]
    thickest: float  # largest of `thickness` [m]


@inlined
def bucket_of(x, y, z, mask):
    """The bucket of a cell; different cells may share one."""
    return ((np.int64(x) * 73856093) ^ (np.int64(y) * 19349663) ^ (np.int64(z) * 83492791)) & mask


@inlined
def any_tangent(n):
    """A unit vector across n (Duff et al. 2017)."""
    sign = -1.0 if n[2] < 0.0 else 1.0
    a = -1.0 / (sign + n[2])
    return (1.0 + sign * n[0] * n[0] * a, sign * n[0] * n[1] * a, -sign * n[0])


@inlined
def write_contact(rows, i, first, opposite, source, weights, s, n, rest, least_radius, mu):
    """A contact, whose overlap is limited so that spheres which start within each other come apart gently."""
    gap, i = dot(n, s) - rest, np.uint64(i)
    rows.kind[i] = CONTACT
    rows.vertices[i, 0] = first
    rows.vertices[i, 1], rows.vertices[i, 2], rows.vertices[i, 3] = opposite
    rows.source[i] = source
    put_row(rows.weights, i, weights)
    put_row(rows.separation, i, s)
    put_row(rows.normal, i, n)
    put_row(rows.tangent, i, any_tangent(n))
    rows.rest[i] = rest + min(gap + OVERLAP_PART * least_radius, 0.0)
    rows.friction[i] = mu
    rows.compliance[i] = 0.0
    rows.factor[i] = 1.0
    put_row(rows.impulse, i, (0.0, 0.0, 0.0))


@inlined
def write_rolling(rows, i, coefficient, here, opposite):
    """Rolling resistance of a contact (constraints.rows), where anything has it."""
    if len(rows.rolling) > 0:
        i = np.uint64(i)
        put_row(rows.rolling, i, (coefficient, here, opposite))
        put_row(rows.roll, i, (0.0, 0.0, 0.0))
        put_row(rows.roll_change, i, (0.0, 0.0, 0.0))
