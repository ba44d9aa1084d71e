"""What a corner and a wing of a triangle of yarn cloth feel (elements.yarn_strains).

The density psi enters by a function of the strains that gives its gradient and Hessian: from its splines, or, within an
iteration of vertex block descent, from the Taylor polynomial of second order at its start (decision 0059).
"""

from __future__ import annotations

from pliant.elements.yarn_strains import (
    bends_of_stretching,
    strains_across,
    strains_and_crease,
    strains_at_wing,
    stretching_at_corner,
    yarn_strains,
)
from pliant.lanes import absolute, maximum, number, select
from pliant.lanes.vectors import add_outer, add_scaled, add_square, add_symmetric, dot, physics
from pliant.materials.yarn_density import SCALES, yarn_density, yarn_derivatives

STEPS = 20.0  # in which a strain may cross its scale: see stiffened


@physics
def yarn_energy(corners, b1, b2, area, present, table):
    """A psi [J] of a triangle with corners and wings."""
    s, _ = yarn_strains(corners, b1, b2, present)
    return area * yarn_density(table, s)


@physics
def add_yarn_corner(f, H, corners, b1, b2, area, present, table):
    """Add the force on corner 0 and its block, which may be indefinite."""
    s, d = yarn_strains(corners, b1, b2, present)
    gradient, hessian = yarn_derivatives(table, s)
    return add_corner(f, H, corners, b1, b2, area, d, gradient, stiffened(table, gradient, hessian))


@physics
def add_yarn_wing(f, H, corners, b1, b2, area, present, table):
    """Add the force on the wing opposite to corner 0 and its block, of rank one; what would be negative is left out."""
    s, d = yarn_strains(corners, b1, b2, present)
    gradient, hessian = yarn_derivatives(table, s)
    return add_wing(f, H, area, d, gradient, stiffened(table, gradient, hessian))


@physics
def taylor(table, s):
    """r = psi' - psi'' s and psi'' at strains s, stiffened: all that psi's polynomial of second order there needs."""
    g, h = yarn_derivatives(table, s)
    h = stiffened(table, g, h)
    r = (
        g[0] - product(row_of(h, 0), s),
        g[1] - product(row_of(h, 1), s),
        g[2] - product(row_of(h, 2), s),
        g[3] - product(row_of(h, 3), s),
        g[4] - product(row_of(h, 4), s),
        g[5] - product(row_of(h, 5), s),
    )
    return r, h


@physics
def stiffened(table, g, h):
    """The Hessian h of psi with a diagonal of at least |g_k| over a twentieth of the scale of strain k.

    Beyond its knots psi is linear: forces are large, and nothing but inertia would bound what a step changes.
    """
    n = table.numbers
    i0, i1 = number(STEPS * n[SCALES], g[0]), number(STEPS * n[SCALES + 1], g[0])
    i2, i3 = number(STEPS * n[SCALES + 2], g[0]), number(STEPS * n[SCALES + 3], g[0])
    i4 = number(STEPS * n[SCALES + 4], g[0])
    return (
        maximum(h[0], i0 * absolute(g[0])), h[1], h[2], h[3], h[4], h[5],
        maximum(h[6], i1 * absolute(g[1])), h[7], h[8], h[9], h[10],
        maximum(h[11], i2 * absolute(g[2])), h[12], h[13], h[14],
        maximum(h[15], i3 * absolute(g[3])), h[16], h[17],
        maximum(h[18], maximum(i3, i4) * absolute(g[4])), h[19],
        maximum(h[20], i4 * absolute(g[5])),
    )  # fmt: skip


@physics
def add_known_corner(f, H, corners, b1, b2, area, present, known):
    """As add_yarn_corner, with psi' = r + psi'' s by the Taylor polynomial at other strains: r and psi'' are known."""
    s, d = yarn_strains(corners, b1, b2, present)
    return _add_known_corner(f, H, corners, b1, b2, area, s, d, known)


@physics
def _add_known_corner(f, H, corners, b1, b2, area, s, d, known):
    r, h = known
    gradient = (
        r[0] + product(row_of(h, 0), s),
        r[1] + product(row_of(h, 1), s),
        r[2] + product(row_of(h, 2), s),
        r[3] + product(row_of(h, 3), s),
        r[4] + product(row_of(h, 4), s),
        r[5] + product(row_of(h, 5), s),
    )
    return add_corner(f, H, corners, b1, b2, area, d, gradient, h)


@physics
def add_known_wing(f, H, corners, b1, b2, area, present, known):
    """As add_yarn_wing: a wing feels q_0 alone, by which psi' = slope + w . (s in the plane, q), all known."""
    s, by_wing = strains_at_wing(corners, b1, b2, present)
    return _add_known_wing(f, H, area, s, by_wing, known)


@physics
def add_known_around(f, Y, H, corners, own, across, theirs, known, wing):
    """add_known_corner of f and Y and add_known_wing of f and H, of two triangles that share the edge opposite to
    corner 0, which is wing 0 of the other: `across` are its corners, `own` and `theirs` their numbers.
    """
    b1, b2, area, present = own
    s, d, crease = strains_and_crease(corners, b1, b2, present)
    f, Y = _add_known_corner(f, Y, corners, b1, b2, area, s, d, known)
    b1, b2, area, present = theirs
    s, by_wing = strains_across(across, crease, b1, b2, present)
    f, H = _add_known_wing(f, H, area, s, by_wing, wing)
    return f, Y, H


@physics
def _add_known_wing(f, H, area, s, by_wing, known):
    w, slope = known
    zero = number(0.0, area)
    f = add_scaled(f, -(area * (slope + product(w, s))), by_wing)
    return f, add_square(H, select(w[3] > zero, area * w[3], zero), by_wing)


@physics
def of_wing(b0, b1, b2, r, h):
    """w and slope of add_known_wing, for the wing opposite to the corner with the gradient b0."""
    k = _curvatures(b0)
    p, q, t = row_of(h, 3), row_of(h, 4), row_of(h, 5)
    bent = (
        k[0] * p[3] + k[1] * q[3] + k[2] * t[3],
        k[0] * p[4] + k[1] * q[4] + k[2] * t[4],
        k[0] * p[5] + k[1] * q[5] + k[2] * t[5],
    )
    w = (
        k[0] * p[0] + k[1] * q[0] + k[2] * t[0],
        k[0] * p[1] + k[1] * q[1] + k[2] * t[1],
        k[0] * p[2] + k[1] * q[2] + k[2] * t[2],
        dot(bent, k),
        dot(bent, _curvatures(b1)),
        dot(bent, _curvatures(b2)),
    )
    return w, k[0] * r[3] + k[1] * r[4] + k[2] * r[5]


@physics
def _curvatures(b):
    """b b^T: what the q of an edge adds to II."""
    return b[0] * b[0], b[0] * b[1], b[1] * b[1]


@physics
def product(a, b):
    """Of two vectors of six numbers."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@physics
def add_corner(f, H, corners, b1, b2, area, d, gradient, hessian):
    """The same of the derivatives d of strains, and of gradient and Hessian of psi.

    What the strains in the plane add lies in the plane of warp u and weft v: A (u, v) (psi'' of them) (u, v)^T needs
    four numbers, and each curvature, with the derivative B, adds B (psi'' by all strains)^T.
    """
    h, B = hessian, (d[3][0], d[4][0], d[5][0])
    u, v, (x, a, y), geometry = stretching_at_corner((corners[0], corners[1], corners[2]), b1, b2)
    along_u = gradient[0] * x[0] + gradient[1] * a[0]
    along_v = gradient[1] * a[1] + gradient[2] * y[1]
    bent = (gradient[3], gradient[4], gradient[5])
    f = add_scaled(f, -area, _spanned(u, v, along_u, along_v, B, bent))

    one, uu, vv, uv = bends_of_stretching(geometry, gradient)
    xu, xv = h[0] * x[0] + h[1] * a[0], h[1] * a[1] + h[2] * y[1]  # psi'' by s_x and a move along u, v
    au, av = h[1] * x[0] + h[6] * a[0], h[6] * a[1] + h[7] * y[1]
    yv = h[7] * a[1] + h[11] * y[1]
    uu = uu + xu * x[0] + au * a[0]
    uv = uv + xv * x[0] + av * a[0]
    vv = vv + av * a[1] + yv * y[1]
    of_u = (h[3] * x[0] + h[8] * a[0], h[4] * x[0] + h[9] * a[0], h[5] * x[0] + h[10] * a[0])
    of_v = (h[8] * a[1] + h[12] * y[1], h[9] * a[1] + h[13] * y[1], h[10] * a[1] + h[14] * y[1])
    zero = number(0.0, area)
    block = (one, zero, zero, one, zero, one)
    block = add_outer(block, u, _spanned(u, v, uu, uv, B, of_u))
    block = add_outer(block, v, _spanned(u, v, uv, vv, B, of_v))
    block = add_outer(block, B[0], _spanned(u, v, of_u[0], of_v[0], B, (h[15], h[16], h[17])))
    block = add_outer(block, B[1], _spanned(u, v, of_u[1], of_v[1], B, (h[16], h[18], h[19])))
    block = add_outer(block, B[2], _spanned(u, v, of_u[2], of_v[2], B, (h[17], h[19], h[20])))
    return f, add_symmetric(H, area, block)


@physics
def _spanned(u, v, along_u, along_v, B, k):
    """along_u u + along_v v + k . B."""
    total = add_scaled((along_u * u[0], along_u * u[1], along_u * u[2]), along_v, v)
    return add_scaled(add_scaled(add_scaled(total, k[0], B[0]), k[1], B[1]), k[2], B[2])


@physics
def add_wing(f, H, area, d, gradient, hessian):
    """The same of a wing."""
    G = (d[0][3], d[1][3], d[2][3], d[3][3], d[4][3], d[5][3])
    f = add_scaled(f, -area, weighted(gradient, G))
    zero = number(0.0, area)
    block = _contracted((zero, zero, zero, zero, zero, zero), hessian, G)
    return f, add_symmetric(H, select(block[0] + block[3] + block[5] > zero, area, zero), block)


@physics
def weighted(g, G):
    """sum_k g_k G_k."""
    total = add_scaled((g[0] * G[0][0], g[0] * G[0][1], g[0] * G[0][2]), g[1], G[1])
    return add_scaled(add_scaled(add_scaled(add_scaled(total, g[2], G[2]), g[3], G[3]), g[4], G[4]), g[5], G[5])


@physics
def row_of(h, i):
    """Row i of a symmetric 6x6 matrix, given by its upper triangle."""
    if i == 0:
        return (h[0], h[1], h[2], h[3], h[4], h[5])
    if i == 1:
        return (h[1], h[6], h[7], h[8], h[9], h[10])
    if i == 2:
        return (h[2], h[7], h[11], h[12], h[13], h[14])
    if i == 3:
        return (h[3], h[8], h[12], h[15], h[16], h[17])
    if i == 4:
        return (h[4], h[9], h[13], h[16], h[18], h[19])
    return (h[5], h[10], h[14], h[17], h[19], h[20])


@physics
def _contracted(block, h, G):
    """block + sum_kl h_kl G_k G_l^T."""
    block = add_outer(block, G[0], weighted(row_of(h, 0), G))
    block = add_outer(block, G[1], weighted(row_of(h, 1), G))
    block = add_outer(block, G[2], weighted(row_of(h, 2), G))
    block = add_outer(block, G[3], weighted(row_of(h, 3), G))
    block = add_outer(block, G[4], weighted(row_of(h, 4), G))
    return add_outer(block, G[5], weighted(row_of(h, 5), G))
