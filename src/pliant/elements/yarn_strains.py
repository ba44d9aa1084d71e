"""The triangle of homogenised yarn-level cloth and its neighbours: six strains of six vertices, one energy.

            w_1
            / \\          corners 0, 1, 2; wing w_k is the neighbour's vertex across the edge opposite corner k
           /   \\
          0-----2        F = sum_k x_k b_k^T (3x2), columns along warp and weft at rest
         / \\   / \\
        /   \\ /   \\      s_x = |F_x| - 1,  s_y = |F_y| - 1,  s_a = F_x . F_y / (|F_x| |F_y|)     (GPBD, Equation 22)
      w_2----1----w_0    II = sum_k q_k b_k b_k^T,   q_k = 2 a theta_k / l_k,   E = A psi(s_x, s_a, s_y, II)

theta_k is the angle between the two normals at edge k, positive where the neighbour rises to the side of the triangle's
normal, l_k the edge's length now and a the triangle's area now.  An edge without a neighbour adds nothing
(present_k = 0); its wing is then any vertex, here the corner itself.  There are no rest angles.

Vertex block descent solves with the sum of A (S_i^T psi'' S_i + psi' . d2s) over the triangles at a vertex, without the
second derivatives of the curvatures and with the magnitudes of its eigenvalues; a wing with the rank-one matrix of its
only curvature (decision 0032).
"""

from __future__ import annotations

from pliant.elements.hinge import FLAT, TINY
from pliant.lanes import inverse_sqrt, maximum, number
from pliant.lanes.angles import atan2
from pliant.lanes.vectors import add, add_scaled, cross, dot, physics, subtract

LEAST_STRETCH = 1e-6  # that divides in place of a smaller one: a collapsed yarn has no direction


@physics
def yarn_strains(corners, b1, b2, present):
    """s (6) and its derivatives: for each strain one vector for each of six corners, the wings last."""
    s, d, _, _, _ = _strains_and_bends(corners, b1, b2, present)
    return s, d


@physics
def strains_and_crease(corners, b1, b2, present):
    """The same, and what strains_across needs of the edge opposite to corner 0."""
    s, d, _, _, crease = _strains_and_bends(corners, b1, b2, present)
    return s, d, crease


@physics
def strains_at_wing(corners, b1, b2, present):
    """The strains in the plane and q_0, q_1, q_2; and the derivative of q_0, the only one that the wing opposite to
    corner 0 changes, by that wing.
    """
    s, _, q, by_wings, _ = _strains_and_bends(corners, b1, b2, present)
    return (s[0], s[1], s[2], q[0], q[1], q[2]), by_wings[0]


@physics
def strains_across(corners, crease, b1, b2, present):
    """strains_at_wing of the neighbour, whose wing 0 is corner 0 of the triangle with this crease: the angle at their
    edge is the same, and n and the cross product of arm and edge change places.
    """
    x0, x1, x2, _, w1, w2 = corners
    theta, n, other_n, squared, inverse = crease
    length = squared * inverse
    e1, e2 = subtract(x1, x0), subtract(x2, x0)
    (sx, _, _), (sy, _, _), sa = _stretched(e1, e2, b1, b2)
    size, flat = _area(n, e1, e2)
    scale = size * inverse
    q1, _, _ = _curved(x2, x0, x1, w1, n, flat, size, present[1])
    q2, _, _ = _curved(x0, x1, x2, w2, n, flat, size, present[2])
    turn = 1.0 / maximum(dot(other_n, other_n), FLAT * squared * squared + TINY)
    far = (other_n[0] * turn, other_n[1] * turn, other_n[2] * turn)
    one = number(1.0, sx)
    return (sx - one, sa, sy - one, scale * theta, q1, q2), _times(scale * length, far)


@physics
def _strains_and_bends(corners, b1, b2, present):
    """s, its derivatives, q, the derivatives of q_k by wing k, and the crease of edge 0."""
    x0, x1, x2, w0, w1, w2 = corners
    b0 = (-(b1[0] + b2[0]), -(b1[1] + b2[1]))
    e1, e2 = subtract(x1, x0), subtract(x2, x0)
    (sx, ix, u), (sy, iy, v), sa = _stretched(e1, e2, b1, b2)
    P = (ix * (v[0] - sa * u[0]), ix * (v[1] - sa * u[1]), ix * (v[2] - sa * u[2]))
    Q = (iy * (u[0] - sa * v[0]), iy * (u[1] - sa * v[1]), iy * (u[2] - sa * v[2]))

    n = cross(e1, e2)
    edge12 = subtract(x2, x1)
    size, flat = _area(n, e1, e2)
    tilt = (cross(flat, edge12), cross(flat, (-e2[0], -e2[1], -e2[2])), cross(flat, e1))  # d log |n| by the corners

    q0, d0, crease = _curved(x1, x2, x0, w0, n, flat, size, present[0])
    q1, d1, _ = _curved(x2, x0, x1, w1, n, flat, size, present[1])
    q2, d2, _ = _curved(x0, x1, x2, w2, n, flat, size, present[2])
    # derivatives of q_k by the corners: tip, start, end, wing of each edge
    at0 = (_plus_tilt(d0[0], q0, tilt[0]), _plus_tilt(d1[2], q1, tilt[0]), _plus_tilt(d2[1], q2, tilt[0]))
    at1 = (_plus_tilt(d0[1], q0, tilt[1]), _plus_tilt(d1[0], q1, tilt[1]), _plus_tilt(d2[2], q2, tilt[1]))
    at2 = (_plus_tilt(d0[2], q0, tilt[2]), _plus_tilt(d1[1], q1, tilt[2]), _plus_tilt(d2[0], q2, tilt[2]))

    kxx = (b0[0] * b0[0], b1[0] * b1[0], b2[0] * b2[0])
    kxy = (b0[0] * b0[1], b1[0] * b1[1], b2[0] * b2[1])
    kyy = (b0[1] * b0[1], b1[1] * b1[1], b2[1] * b2[1])
    one = number(1.0, sx)
    zero = number(0.0, sx)
    none = (zero, zero, zero)
    s = (sx - one, sa, sy - one, _sum(kxx, q0, q1, q2), _sum(kxy, q0, q1, q2), _sum(kyy, q0, q1, q2))
    dx = (_times(b0[0], u), _times(b1[0], u), _times(b2[0], u), none, none, none)
    dy = (_times(b0[1], v), _times(b1[1], v), _times(b2[1], v), none, none, none)
    da = (
        add_scaled(_times(b0[0], P), b0[1], Q),
        add_scaled(_times(b1[0], P), b1[1], Q),
        add_scaled(_times(b2[0], P), b2[1], Q),
        none, none, none,
    )  # fmt: skip
    own = (at0, at1, at2)
    last = (d0[3], d1[3], d2[3])
    d = (dx, da, dy, _bending(kxx, own, last), _bending(kxy, own, last), _bending(kyy, own, last))
    return s, d, (q0, q1, q2), last, crease


@physics
def _stretched(e1, e2, b1, b2):
    """What _length has of F_x and of F_y, and s_a."""
    Fx = (b1[0] * e1[0] + b2[0] * e2[0], b1[0] * e1[1] + b2[0] * e2[1], b1[0] * e1[2] + b2[0] * e2[2])
    Fy = (b1[1] * e1[0] + b2[1] * e2[0], b1[1] * e1[1] + b2[1] * e2[1], b1[1] * e1[2] + b2[1] * e2[2])
    x, y = _length(Fx), _length(Fy)
    return x, y, dot(x[2], y[2])


@physics
def _area(n, e1, e2):
    """Twice the area, |n|, and n over its square."""
    nn, squared = dot(n, n), maximum(dot(e1, e1), dot(e2, e2))
    root = inverse_sqrt(maximum(nn, FLAT * squared * squared + TINY))
    inverse = root * root
    return nn * root, (n[0] * inverse, n[1] * inverse, n[2] * inverse)


@physics
def _length(a):
    """|a|, the inverse by which it is divided, and the direction."""
    squared = dot(a, a)
    inverse = inverse_sqrt(maximum(squared, number(LEAST_STRETCH**2, squared)))
    return squared * inverse, inverse, (inverse * a[0], inverse * a[1], inverse * a[2])


@physics
def _curved(start, end, tip, wing, n, flat, size, present):
    """q of an edge, its derivatives by tip, start, end and wing, those by the size |n| left out, and what
    strains_across needs of the edge.
    """
    e, arm = subtract(end, start), subtract(wing, start)
    squared = dot(e, e)
    inverse = inverse_sqrt(maximum(squared, number(TINY, squared)))
    length = squared * inverse
    t = (inverse * e[0], inverse * e[1], inverse * e[2])
    beyond = cross(arm, e)
    bb = dot(beyond, beyond)
    turn = 1.0 / maximum(bb, FLAT * squared * squared + TINY)
    far = (beyond[0] * turn, beyond[1] * turn, beyond[2] * turn)
    theta = atan2(length * dot(n, arm), dot(n, beyond))
    scale = present * size * inverse  # dq / dtheta
    q = scale * theta
    back = q * inverse  # -dq / dl
    tip_start, wing_start = dot(subtract(tip, start), t), dot(arm, t)
    a, b = tip_start - length, wing_start - length
    by_tip = _times(scale * length, flat)
    by_wing = _times(scale * length, far)
    by_start = add_scaled(add_scaled(_times(back, t), scale * a, flat), scale * b, far)
    by_end = add_scaled(add_scaled(_times(-back, t), -(scale * tip_start), flat), -(scale * wing_start), far)
    return q, (by_tip, by_start, by_end, by_wing), (theta, beyond, n, squared, inverse)


@physics
def _plus_tilt(d, q, tilt):
    return add_scaled(d, q, tilt)


@physics
def _times(s, a):
    return (s * a[0], s * a[1], s * a[2])


@physics
def _sum(k, q0, q1, q2):
    return k[0] * q0 + k[1] * q1 + k[2] * q2


@physics
def _bending(k, own, last):
    """Derivatives of one entry of II by corners and wings."""
    return (
        _mixed(k, own[0]),
        _mixed(k, own[1]),
        _mixed(k, own[2]),
        _times(k[0], last[0]),
        _times(k[1], last[1]),
        _times(k[2], last[2]),
    )


@physics
def _mixed(k, d):
    return add(_times(k[0], d[0]), add_scaled(_times(k[1], d[1]), k[2], d[2]))


@physics
def stretching_at_corner(corners, b1, b2):
    """u and v, the directions of warp and weft; the derivatives of the strains in the plane by corner 0, each as its
    parts along u and v; and what bends_of_stretching needs.
    """
    x0, x1, x2 = corners
    b0 = (-(b1[0] + b2[0]), -(b1[1] + b2[1]))
    e1, e2 = subtract(x1, x0), subtract(x2, x0)
    Fx = (b1[0] * e1[0] + b2[0] * e2[0], b1[0] * e1[1] + b2[0] * e2[1], b1[0] * e1[2] + b2[0] * e2[2])
    Fy = (b1[1] * e1[0] + b2[1] * e2[0], b1[1] * e1[1] + b2[1] * e2[1], b1[1] * e1[2] + b2[1] * e2[2])
    _, ix, u = _length(Fx)
    _, iy, v = _length(Fy)
    sa, zero = dot(u, v), number(0.0, ix)
    al, be = b0[0] * ix, b0[1] * iy
    parts = ((b0[0], zero), (be - sa * al, al - sa * be), (zero, b0[1]))
    return u, v, parts, (b0, sa, al, be)


@physics
def bends_of_stretching(geometry, gradient):
    """Second derivatives of the strains in the plane by corner 0, times the gradient of psi, summed: the parts along
    1, u u^T, v v^T and u v^T + v u^T.
    """
    b0, sa, al, be = geometry
    kx, ky, ka = gradient[0] * b0[0] * al, gradient[2] * b0[1] * be, gradient[1]
    a2, b2, ab = al * al, be * be, 2.0 * al * be
    return (
        kx + ky + ka * (ab - sa * (a2 + b2)),
        ka * (3.0 * sa * a2 - ab) - kx,
        ka * (3.0 * sa * b2 - ab) - ky,
        ka * (al * be * sa - a2 - b2),
    )
