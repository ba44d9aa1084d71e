"""The energy density of homogenised yarn-level cloth and its derivatives (Sperl, Narain and Wojtan 2020), in lanes.

    psi(s) = C_0 + sum_k f_k(s_k) + sum_{k<j} g_kj(s_k, s_j)      of s = (s_x - 1, s_a, s_y - 1) and the curvatures

f cubic splines, g bicubic ones (materials.splines), of strains over their scales.  The second fundamental form II
enters by its principal curvatures l1 >= l2 and the angle phi between the first of them and the warp: a function of
bending about the weft counts as cos^2(phi) f_3(l1) + sin^2(phi) f_3(l2), one of bending about the warp as
cos^2(phi) f_4(l2) + sin^2(phi) f_4(l1).  These are the entries xx and yy of f(II), a function of a matrix.  With
m, c = (II_xx +- II_yy) / 2, b = II_xy, rho = c^2 + b^2 and l1, l2 = m +- sqrt(rho),

    f_3(II)_xx = A + c B,   f_4(II)_yy = A - c B,   A = (f(l1) + f(l2)) / 2,   B = (f(l1) - f(l2)) / (l1 - l2),

whose derivatives by m, c and b are divided differences of f, finite where l1 = l2; rho never falls below a floor.

Strains are in the order (s_x - 1, s_a, s_y - 1, II_xx, II_xy, II_yy), Hessians are the upper triangle row by row.
"""

from __future__ import annotations

from pliant.lanes import number, select, sqrt
from pliant.lanes.functions import lane_function
from pliant.lanes.lookup import row_at
from pliant.lanes.vectors import physics

STRAINS = 5  # of which splines are functions: three in the plane, two of bending
PAIRS = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3), (0, 4), (1, 4), (2, 4))

# Places in SplineTable.numbers.
_FUNCTIONS = 4 * (STRAINS + 2 * len(PAIRS))  # four numbers of each axis come first
_SURFACES = _FUNCTIONS + 2 * STRAINS
CONSTANT = _SURFACES + 2 * len(PAIRS)
SCALES = CONSTANT + 1  # 1 / scale of the five strains
FLOOR = SCALES + STRAINS  # of rho [1/m^2]


@lane_function
def yarn_density(table, s):
    """psi [J/m^2]."""
    return _density(table, s)[0]


@lane_function
def yarn_derivatives(table, s):
    """Gradient (6) and Hessian (21) of psi."""
    _, gradient, hessian = _density(table, s)
    return gradient, hessian


@lane_function
def yarn_expansion(table, s):
    """psi, its gradient (6) and its Hessian (21)."""
    return _density(table, s)


@physics
def _density(table, s):
    """psi, its gradient and its Hessian."""
    n = table.numbers
    i0, i1, i2 = number(n[SCALES], s[0]), number(n[SCALES + 1], s[0]), number(n[SCALES + 2], s[0])
    u = (s[0] * i0, s[1] * i1, s[2] * i2)
    x, a, y = _line(table, 0, u[0]), _line(table, 1, u[1]), _line(table, 2, u[2])
    xa, xy, ay = _plane(table, 0, u[0], u[1]), _plane(table, 1, u[0], u[2]), _plane(table, 2, u[1], u[2])

    half = 0.5
    m, c, b = half * (s[3] + s[5]), half * (s[3] - s[5]), s[4]
    rho = c * c + b * b + number(n[FLOOR], m)
    r = sqrt(rho)
    geometry = (m, c, b, 1.0 / rho, half / r)
    third = _bent(table, 3, u, m + r, m - r)
    fourth = _bent(table, 4, u, m + r, m - r)
    e3, g3, h3 = _folded(third, geometry, 1.0)
    e4, g4, h4 = _folded(fourth, geometry, -1.0)
    sx3, sx4 = _coupled(third[2], geometry, 1.0), _coupled(fourth[2], geometry, -1.0)
    sa3, sa4 = _coupled(third[3], geometry, 1.0), _coupled(fourth[3], geometry, -1.0)
    sy3, sy4 = _coupled(third[4], geometry, 1.0), _coupled(fourth[4], geometry, -1.0)

    psi = number(n[CONSTANT], m) + (x[0] + x[1]) + (a[0] + a[1]) + (y[0] + y[1])
    psi = psi + (xa[0] + xy[0] + ay[0]) + (e3 + e4)
    gm, gc, gb = g3[0] + g4[0], g3[1] + g4[1], g3[2] + g4[2]
    gradient = (
        i0 * (x[2] + xa[1] + xy[1] + sx3[0] + sx4[0]),
        i1 * (a[2] + xa[2] + ay[1] + sa3[0] + sa4[0]),
        i2 * (y[2] + xy[2] + ay[2] + sy3[0] + sy4[0]),
        half * (gm + gc),
        gb,
        half * (gm - gc),
    )
    xm, xc, xb = i0 * (sx3[2] + sx4[2]), i0 * (sx3[3] + sx4[3]), i0 * (sx3[4] + sx4[4])
    am, ac, ab = i1 * (sa3[2] + sa4[2]), i1 * (sa3[3] + sa4[3]), i1 * (sa3[4] + sa4[4])
    ym, yc, yb = i2 * (sy3[2] + sy4[2]), i2 * (sy3[3] + sy4[3]), i2 * (sy3[4] + sy4[4])
    mm, mc, mb = h3[0] + h4[0], h3[1] + h4[1], h3[2] + h4[2]
    cc, cb, bb = h3[3] + h4[3], h3[4] + h4[4], h3[5] + h4[5]
    hessian = (
        i0 * i0 * (x[3] + xa[3] + xy[3] + sx3[1] + sx4[1]),
        i0 * i1 * xa[4],
        i0 * i2 * xy[4],
        half * (xm + xc),
        xb,
        half * (xm - xc),
        i1 * i1 * (a[3] + xa[5] + ay[3] + sa3[1] + sa4[1]),
        i1 * i2 * ay[4],
        half * (am + ac),
        ab,
        half * (am - ac),
        i2 * i2 * (y[3] + xy[5] + ay[5] + sy3[1] + sy4[1]),
        half * (ym + yc),
        yb,
        half * (ym - yc),
        0.25 * (mm + 2.0 * mc + cc),
        half * (mb + cb),
        0.25 * (mm - cc),
        bb,
        half * (mb - cb),
        0.25 * (mm - 2.0 * mc + cc),
    )
    return psi, gradient, hessian


@physics
def _located(table, axis, u):
    """The piece of an axis that u lies in, and u relative to its centre. NaN is in some piece."""
    n, zero = table.numbers, number(0.0, u)
    last = number(n[4 * axis + 2], u)
    place = (u - number(n[4 * axis], u)) * number(n[4 * axis + 1], u)
    place = select(place > zero, place, zero)
    place = select(place < last, place, last)
    bucket = row_at(table.rows, place + number(n[4 * axis + 3], u))
    above = u >= bucket[0]
    return bucket[1] + select(above, number(1.0, u), zero), u - select(above, bucket[3], bucket[2])


@lane_function
def _line(table, k, u):
    """f_k at u: the value at the centre, what is added to it, slope and second derivative."""
    piece, t = _located(table, k, u)
    p = row_at(table.rows, piece + number(table.numbers[_FUNCTIONS + 2 * k], u))
    return (
        p[0],
        t * (p[1] + t * (p[2] + t * p[3])),
        p[1] + t * (2.0 * p[2] + 3.0 * t * p[3]),
        2.0 * p[2] + 6.0 * t * p[3],
    )


@physics
def _powers(p, t):
    """Value, slope and second derivative of a cubic."""
    return (
        p[0] + t * (p[1] + t * (p[2] + t * p[3])),
        p[1] + t * (2.0 * p[2] + 3.0 * t * p[3]),
        2.0 * p[2] + 6.0 * t * p[3],
    )


@lane_function
def _surface(table, pair, located, v):
    """g of a pair: at the centre of v, what is added to it, then derivatives by u, v, uu, uv, vv."""
    n = table.numbers
    pu, tu = located
    pv, t = _located(table, STRAINS + 2 * pair + 1, v)
    place = number(n[_SURFACES + 2 * pair], v) + pv * number(n[_SURFACES + 2 * pair + 1], v) + 4.0 * pu
    a, da, dda = _powers(row_at(table.rows, place), tu)
    b, db, ddb = _powers(row_at(table.rows, place + 1.0), tu)
    c, dc, ddc = _powers(row_at(table.rows, place + 2.0), tu)
    d, dd, ddd = _powers(row_at(table.rows, place + 3.0), tu)
    return (
        a,
        t * (b + t * (c + t * d)),
        da + t * (db + t * (dc + t * dd)),
        b + t * (2.0 * c + 3.0 * t * d),
        dda + t * (ddb + t * (ddc + t * ddd)),
        db + t * (2.0 * dc + 3.0 * t * dd),
        2.0 * c + 6.0 * t * d,
    )


@physics
def _plane(table, pair, u, v):
    """g of two strains in the plane: value, derivatives by u, v, uu, uv, vv."""
    g = _surface(table, pair, _located(table, STRAINS + 2 * pair, u), v)
    return g[0] + g[1], g[2], g[3], g[4], g[5], g[6]


@physics
def _bent(table, k, u, first, second):
    """All that depends on one kind of bending, at two principal curvatures [1/m].

    For each of them the sum of values at centres, of what is added, and of derivatives by the curvature; then, of each
    strain in the plane over its scale, derivatives of both: (by s, by s and the curvature, by s twice).
    """
    i = number(table.numbers[SCALES + k], first)
    pair = 3 * (k - 2)
    l1, l2 = first * i, second * i
    f1, f2 = _line(table, k, l1), _line(table, k, l2)
    x = _located(table, STRAINS + 2 * pair, u[0])
    a = _located(table, STRAINS + 2 * pair + 2, u[1])
    y = _located(table, STRAINS + 2 * pair + 4, u[2])
    x1, x2 = _surface(table, pair, x, l1), _surface(table, pair, x, l2)
    a1, a2 = _surface(table, pair + 1, a, l1), _surface(table, pair + 1, a, l2)
    y1, y2 = _surface(table, pair + 2, y, l1), _surface(table, pair + 2, y, l2)
    return _summed(f1, x1, a1, y1, i), _summed(f2, x2, a2, y2, i), _pair(x1, x2, i), _pair(a1, a2, i), _pair(y1, y2, i)


@physics
def _summed(f, x, a, y, i):
    return (
        f[0] + x[0] + a[0] + y[0],
        f[1] + x[1] + a[1] + y[1],
        i * (f[2] + x[3] + a[3] + y[3]),
        i * i * (f[3] + x[6] + a[6] + y[6]),
    )


@physics
def _pair(g1, g2, i):
    return g1[2], g2[2], i * g1[5], i * g2[5], g1[4], g2[4]


@physics
def _folded(bent, geometry, sign):
    """A + sign c B, its derivatives by m, c, b, and the second ones by mm, mc, mb, cc, cb, bb."""
    (p1, q1, d1, e1), (p2, q2, d2, e2) = bent[0], bent[1]
    _, c, b, inverse_rho, inverse_gap = geometry
    B = ((p1 - p2) + (q1 - q2)) * inverse_gap
    D, E = (d1 - d2) * inverse_gap, (e1 - e2) * inverse_gap  # divided differences of f' and f''
    slope, second = 0.5 * (d1 + d2), 0.5 * (e1 + e2)
    T = 0.5 * (slope - B) * inverse_rho  # dB/drho
    T_m = 0.5 * (second - D) * inverse_rho
    T_rho = 0.5 * (0.5 * E - 3.0 * T) * inverse_rho
    c2, b2, cb = c * c, b * b, c * b
    value = 0.5 * ((p1 + q1) + (p2 + q2)) + sign * (c * B)
    gradient = (slope + sign * (c * D), c * D + sign * (B + 2.0 * c2 * T), b * D + sign * (2.0 * cb * T))
    hessian = (
        second + sign * (c * E),
        c * E + sign * (D + 2.0 * c2 * T_m),
        b * E + sign * (2.0 * cb * T_m),
        D + 2.0 * c2 * T_m + sign * (6.0 * c * T + 4.0 * c * c2 * T_rho),
        2.0 * cb * T_m + sign * (2.0 * b * T + 4.0 * b * c2 * T_rho),
        D + 2.0 * b2 * T_m + sign * (2.0 * c * T + 4.0 * b2 * c * T_rho),
    )
    return value, gradient, hessian


@physics
def _coupled(pair, geometry, sign):
    """The same of a derivative by a strain in the plane: value, the strain's second derivative, by m, c and b."""
    f1, f2, d1, d2, e1, e2 = pair
    _, c, b, inverse_rho, inverse_gap = geometry
    B, D = (f1 - f2) * inverse_gap, (d1 - d2) * inverse_gap
    slope = 0.5 * (d1 + d2)
    T = (slope - B) * inverse_rho  # twice dB/drho
    return (
        0.5 * (f1 + f2) + sign * (c * B),
        0.5 * (e1 + e2) + sign * (c * ((e1 - e2) * inverse_gap)),
        slope + sign * (c * D),
        c * D + sign * (B + c * c * T),
        b * D + sign * (b * c * T),
    )
