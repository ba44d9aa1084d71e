"""The record of constraints: one struct of arrays for distances and contacts.

A constraint acts between the point of its first vertex and what is opposite: another vertex, a point of a triangle,
or a point of an obstacle. With the separation s from there to here, at the start of the step s_0,

    s = s_0 + h v_rel,    C = |s| - rest   or, where the normal n is held,   C = n . s - rest.

So positions do not enter the iterations: x = x_t + h v throughout. The multipliers are impulses [N s]: of the normal,
and of two tangents where there is friction.

Where a side is carried by a rigid body (model.carried), its velocity is that of the body's point at a lever a from the
centre of mass, v + w x a, and a push p there changes w by I^-1 (a x p). Levers are those of the start of the step.

Rolling resistance is a torque R q across the normal, bounded by |q| <= mu_r lambda_n, against the rolling of spheres on
what they touch, R (w_here - w_opposite); with 1 / R = 1 / r_here + 1 / r_opposite, and spins s = r w, that is
f_here s_here - f_opposite s_opposite, f = R / r.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

DISTANCE, CONTACT, ROPE = range(3)  # kinds: lambda is any number, not negative, not positive
NO_FRICTION, PYRAMID, CONE = range(3)
DIAGONAL, COUNT, BOUNDED = range(3)  # by what a correction is divided
SLOTS = 4  # vertices of a constraint
ENTRY_BITS, OF_TRIANGLE = 3, 4  # a vertex' list has 8 row + slot, and OF_TRIANGLE more at corners of a triangle
SPHERE_SPIN = 2.5  # m r^2 / I of a ball: 1 / (2/5)


class Rows(NamedTuple):
    """m constraints, in arrays that may be longer. Reals are in the solver's precision."""

    kind: np.ndarray  # (m,) int8 DISTANCE, CONTACT or ROPE
    vertices: np.ndarray  # (m, 4) int32: 0 here; 1 opposite, -1 an obstacle; 2 and 3 of a triangle, else -1
    source: np.ndarray  # (m,) int32 number of what is opposite: the same from step to step
    weights: (
        np.ndarray
    )  # (m, 3) of the vertices opposite, not negative, of sum 1; 1 0 0 of a single one; of an obstacle,
    # which has none, the velocity of its point [m/s]
    separation: np.ndarray  # (m, 3) s_0 [m]
    normal: np.ndarray  # (m, 3) n
    tangent: np.ndarray  # (m, 3) the first of the two, the second is n x t
    rest: np.ndarray  # (m,) [m]
    friction: np.ndarray  # (m,) mu
    compliance: np.ndarray  # (m,) 1 / (k h^2) [1/kg] of a distance of stiffness k; 0: hard
    factor: np.ndarray  # (m,) part of a correction that is made in an iteration (Section 8.2)
    bias: np.ndarray  # (m,) delta of Equation 28 [m/s]
    diagonal: np.ndarray  # (m, 2) of J W J^T, normal and tangential [1/kg]
    split: np.ndarray  # (m, 2) the same with masses split among the constraints of each vertex [1/kg]
    impulse: np.ndarray  # (m, 3) lambda [N s]: normal, first, second tangent
    change: np.ndarray  # (m, 3) of lambda in the last iteration
    push: np.ndarray  # (m, 4) that change as a vector in space, and a zero: a row is one load
    carrier: np.ndarray  # (m, 2) int32 rigid body of the side here and of that opposite, else -1; (0, 2) without any
    levers: np.ndarray  # (m, 6) from their centres of mass to where it acts on them [m]; (0, 6) without any
    rolling: np.ndarray  # (m, 3) mu_r, f_here, f_opposite, or R [m] of a rigid body; (0, 3) if nothing resists
    roll: np.ndarray  # (m, 3) q [N s], in space; (0, 3) if nothing resists
    roll_change: np.ndarray  # (m, 3) of q in the last iteration


class Rigid(NamedTuple):
    """Velocities of b rigid bodies, and the constraints that act on each."""

    twist: np.ndarray  # (b, 6) velocity of the centre of mass [m/s], angular velocity [rad/s]
    inverse_mass: np.ndarray  # (b,) [1/kg]
    inverse_inertia: np.ndarray  # (b, 3, 3) in world axes [1/(kg m^2)]
    load: np.ndarray  # (b,) sum of the factors of its constraints
    start: np.ndarray  # (b + 1,) int32 first entry of each
    entries: np.ndarray  # (2 m,) int32 2 row + side


class Bodies(NamedTuple):
    """Velocities of n vertices, and the constraints that act on each."""

    velocity: np.ndarray  # (n, 4) [m/s], and W [1/kg] after it: a vertex is one load
    spin: np.ndarray  # (n, 3) angular velocity times radius [m/s]; (0, 3) if nothing spins
    inverse_mass: np.ndarray  # (n,) W [1/kg]; 0 for held vertices
    inverse_inertia: np.ndarray  # (n,) r^2 / I [1/kg]; 0 for what does not spin
    load: np.ndarray  # (n,) sum of the factors of its constraints
    start: np.ndarray  # (n + 1,) int32 first entry of each vertex
    entries: np.ndarray  # (4 m,) int32 see ENTRY_BITS
    sources: np.ndarray  # (4 m,) int32 what the constraint of an entry touches, if the vertex is the one here; else -1
    order: np.ndarray  # (n,) int32 vertices, block by block (constraints.blocks)
    rigid: Rigid


_SHAPES: dict[str, tuple[tuple[int, ...], type | None]] = {
    "kind": ((), np.int8), "vertices": ((4,), np.int32), "source": ((), np.int32), "weights": ((3,), None),
    "separation": ((3,), None), "normal": ((3,), None), "tangent": ((3,), None),
    "rest": ((), None), "friction": ((), None), "compliance": ((), None), "factor": ((), None), "bias": ((), None),
    "diagonal": ((2,), None),
    "split": ((2,), None), "impulse": ((3,), None), "change": ((3,), None), "push": ((4,), None),
    "carrier": ((2,), np.int32), "levers": ((6,), None),
    "rolling": ((3,), None), "roll": ((3,), None), "roll_change": ((3,), None),
}  # fmt: skip
_OF_BODIES, _OF_ROLLING = ("carrier", "levers"), ("rolling", "roll", "roll_change")


def empty_rows(capacity: int, dtype: type | np.dtype, has_bodies: bool = False, has_rolling: bool = False) -> Rows:
    """Room for so many constraints; has_bodies: some may act on rigid bodies; has_rolling: some resist rolling."""
    absent = (() if has_bodies else _OF_BODIES) + (() if has_rolling else _OF_ROLLING)
    sizes = {name: 0 if name in absent else capacity for name in _SHAPES}
    return Rows(*(np.zeros((sizes[name], *shape), kind or dtype) for name, (shape, kind) in _SHAPES.items()))


def rigid_room(bodies: int, dtype: type | np.dtype) -> Rigid:
    """Of so many bodies, without constraints."""
    return Rigid(
        np.zeros((bodies, 6), dtype), np.zeros(bodies, dtype), np.zeros((bodies, 3, 3), dtype), np.zeros(bodies, dtype),
        np.zeros(bodies + 1, np.int32), np.zeros(0, np.int32),
    )  # fmt: skip


def with_room(rows: Rows, count: int, kept: int, likely: int = 0) -> Rows:
    """The rows themselves, or longer ones with the first `kept` copied, so that `count` fit, and as many as there will
    `likely` be: room that is not written to takes no memory, but while rows are copied both are there.
    """
    if count <= len(rows.kind):
        return rows
    parts = (len(rows.carrier) > 0, len(rows.rolling) > 0)
    longer = empty_rows(max(count + count // 4 + 64, likely), rows.rest.dtype, *parts)
    for old, new in zip(rows, longer, strict=True):
        new[:kept] = old[:kept]
    return longer


def copied(bodies: Bodies) -> Bodies:
    """With velocities of their own."""
    rigid = bodies.rigid._replace(twist=bodies.rigid.twist.copy())
    return bodies._replace(velocity=bodies.velocity.copy(), spin=bodies.spin.copy(), rigid=rigid)


def taken(rows: Rows, count: int) -> Rows:
    """The first `count`, as views."""
    return Rows(*(array[:count] for array in rows))
