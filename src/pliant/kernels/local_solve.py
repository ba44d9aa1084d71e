"""The 3x3 system of one vertex, or the smaller one of a vertex held to a plane or a line (VBD 3.2 and 3.4)."""

from __future__ import annotations

from pliant.lanes import absolute, count, narrow, number, select, sqrt, widen
from pliant.lanes.vectors import (
    add_identity,
    add_scaled,
    add_symmetric,
    cross,
    dot,
    physics,
    positive_part,
    solve_symmetric,
    subtract,
    symmetric_times,
)

# Equation 7 is skipped where |det H| <= SINGULAR * size(H)^3.
# Deviation: the paper's absolute threshold freezes light vertices; this one has no unit. It lies just above the
# rounding of a determinant.
SINGULAR = 1e-14
WELL_CONDITIONED = 3e-2  # of det H over size(H)^3: above it the cofactors lose at most two digits


@physics
def solve_free(H, f, rounding):
    """Equation 7 with the analytic inverse.

    Cofactors cancel where a block is stiff in one direction and soft in another: in single precision a scrambled mesh
    would blow up instead of recovering.  Such a block is solved in double precision, and the rounding of H, the machine
    epsilon times its trace, is added to the diagonal: no direction is softer than that by computation.
    """
    x, doubtful = solve_by_cofactors(H, f)
    if count(doubtful) == 0:
        return x, doubtful
    exact, singular = solve_in_double(H, f, rounding)
    # only those blocks: what a vertex does must not depend on who is in its pack
    return (
        select(doubtful, exact[0], x[0]),
        select(doubtful, exact[1], x[1]),
        select(doubtful, exact[2], x[2]),
    ), singular


@physics
def solve_by_cofactors(H, f):
    """The step, and where it is doubtful because cofactors cancel."""
    return solve_symmetric(H, f, WELL_CONDITIONED)


@physics
def solve_in_double(H, f, rounding):
    """The step from a block that is at least its rounding in every direction, and where it is singular all the same."""
    wide = (widen(H[0]), widen(H[1]), widen(H[2]), widen(H[3]), widen(H[4]), widen(H[5]))
    wide = add_identity(wide, (absolute(wide[0]) + absolute(wide[3]) + absolute(wide[5])) * rounding)
    y, singular = solve_symmetric(wide, (widen(f[0]), widen(f[1]), widen(f[2])), SINGULAR)
    return (narrow(y[0], f[0]), narrow(y[1], f[0]), narrow(y[2], f[0])), singular


@physics
def add_inertia(f, H, m, target, xi):
    """Add the force m (y - x) / h^2 and its block m / h^2, m divided by h^2 (Equations 8 and 9)."""
    return add_scaled(f, m, subtract(target, xi)), add_identity(H, m)


@physics
def add_vertex_damping(f, H, D, xi, x_prev):
    """Add the force -D (x - x_t) of a vertex's damping and its block D (Equations 10 and 11)."""
    return subtract(f, symmetric_times(D, subtract(xi, x_prev))), add_symmetric(H, number(1.0, xi[0]), D)


@physics
def force_ahead(f, H, dx):
    """What is left of a force f after dx, by its block."""
    return subtract(f, symmetric_times(H, dx))


@physics
def solve_on_line(H, f, d):
    """Motion along the unit vector d: a 1x1 system."""
    stiffness, zero = dot(d, symmetric_times(H, d)), number(0.0, f[0])
    singular = stiffness == zero
    s = select(singular, zero, dot(d, f) / stiffness)
    return (s * d[0], s * d[1], s * d[2]), singular


@physics
def solve_in_plane(H, f, n):
    """Motion across the unit normal n: a 2x2 system in a basis of the plane."""
    zero, one = number(0.0, n[0]), number(1.0, n[0])
    use_x = absolute(n[0]) < 0.8
    helper = (select(use_x, one, zero), select(use_x, zero, one), zero)
    t = cross(n, helper)
    scale = one / sqrt(dot(t, t))
    t = (t[0] * scale, t[1] * scale, t[2] * scale)
    b = cross(n, t)
    Ht, Hb = symmetric_times(H, t), symmetric_times(H, b)
    tt, tb, bb = dot(t, Ht), dot(t, Hb), dot(b, Hb)
    ft, fb = dot(t, f), dot(b, f)
    det = tt * bb - tb * tb
    size = (absolute(tt) + absolute(bb) + absolute(tb)) * 0.5
    singular = absolute(det) <= SINGULAR * size * size
    along_t = select(singular, zero, (bb * ft - tb * fb) / det)
    along_b = select(singular, zero, (tt * fb - tb * ft) / det)
    return add_scaled((along_t * t[0], along_t * t[1], along_t * t[2]), along_b, b), singular


@physics
def project_block(H, m):
    """The block with its elastic part H - m made positive semidefinite.

    Deviation: the paper names a projection of every element's Hessian; projecting the sum is cheaper and changes less.
    """
    return add_identity(positive_part(add_identity(H, -m)), m)


@physics
def descent_direction(H, f, dx):
    """dx where it descends, else along the force with a length no stiffness in H allows to overshoot much."""
    size = absolute(H[0]) + absolute(H[3]) + absolute(H[5]) + absolute(H[1]) + absolute(H[2]) + absolute(H[4])
    descends = dot(f, dx) > 0.0
    return (
        select(descends, dx[0], f[0] / size),
        select(descends, dx[1], f[1] / size),
        select(descends, dx[2], f[2] / size),
    )


@physics
def keep_subspace(dimension, direction, f):
    """The part of f in which a vertex of this pack may move."""
    along = dot(direction, f)
    zero = number(0.0, along)
    if dimension == 1:
        return (along * direction[0], along * direction[1], along * direction[2])
    if dimension == 2:
        return add_scaled(f, -along, direction)
    return add_scaled(f, zero, direction)
