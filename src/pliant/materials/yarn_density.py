"""The energy density of homogenised yarn-level cloth and its derivatives (Sperl, Narain and Wojtan 2020), in lanes.

    psi(s) = C_0 + sum_k f_k(s_k) + sum_{k<j} g_kj(s_k, s_j)      of s = (s_x - 1, s_a, s_y - 1) and the curvatures

f cubic splines, g bicubic ones (materials.splines), of strains over their scales; the table has one axis per strain and
adds each f to a g with that strain.  The second fundamental form II enters by its principal curvatures l1 >= l2 and the
angle phi between the first of them and the warp: a function of bending about the weft counts as cos^2(phi) f_3(l1) +
sin^2(phi) f_3(l2), one of bending about the warp as cos^2(phi) f_4(l2) + sin^2(phi) f_4(l1).  These are the entries xx
and yy of f(II), a function of a matrix.  With m, c = (II_xx +- II_yy) / 2, b = II_xy, rho = c^2 + b^2 and
l1, l2 = m +- sqrt(rho),

    f_3(II)_xx = A + c B,   f_4(II)_yy = A - c B,   A = (f(l1) + f(l2)) / 2,   B = (f(l1) - f(l2)) / (l1 - l2),

whose derivatives by m, c and b are divided differences of f, finite where l1 = l2; rho never falls below a floor.
Of both kinds of bending only the sum and the difference of their functions enter.

Strains are in the order (s_x - 1, s_a, s_y - 1, II_xx, II_xy, II_yy), Hessians are the upper triangle row by row.
"""

from __future__ import annotations

from pliant.lanes import number, select, sqrt
from pliant.lanes.functions import lane_function
from pliant.lanes.lookup import cubic_at, expanded_cubic_at, row_at
from pliant.lanes.vectors import physics

STRAINS = 5  # of which splines are functions: three in the plane, two of bending
PAIRS = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3), (0, 4), (1, 4), (2, 4))
LINES = ((0, 0), (0, 1), (1, 1), (3, 1), (6, 1))  # the pair that holds f_k, and as which of its variables

# Places in SplineTable.numbers.
_SURFACES = 4 * STRAINS  # four numbers of each axis come first
CONSTANT = _SURFACES + 2 * len(PAIRS)
SCALES = CONSTANT + 1  # 1 / scale of the five strains
FLOOR = SCALES + STRAINS  # of rho [1/m^2]


@lane_function
def yarn_density(table, s):
    """psi [J/m^2]."""
    x, a, y = _in_plane(table, s)
    m, c, _, _, inverse_gap, r = _bending(table, s)
    third, fourth = _bent_values(table, 3, (x, a, y), m, r), _bent_values(table, 4, (x, a, y), m, r)
    plane = _value(table, 0, x, a) + _value(table, 1, x, y) + _value(table, 2, a, y)
    mean = 0.5 * ((third[0] + third[1]) + (fourth[0] + fourth[1]))
    apart = c * (((third[0] - third[1]) - (fourth[0] - fourth[1])) * inverse_gap)
    return number(table.numbers[CONSTANT], m) + plane + (mean + apart)


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
    x, a, y = _in_plane(table, s)
    xa, xy, ay = _surface(table, 0, x, a), _surface(table, 1, x, y), _surface(table, 2, a, y)

    m, c, b, inverse_rho, inverse_gap, r = _bending(table, s)
    geometry = (c, b, inverse_rho, inverse_gap)
    third = fourth = _no_bending(number(0.0, m))
    for k in range(3, STRAINS):  # a loop, not both at once: a CPU has not registers enough for their numbers
        third, fourth = fourth, _bent(table, k, (x, a, y), m, r)
    e, (gm, gc, gb), (mm, mc, mb, cc, cb, bb) = _folded(third[0], fourth[0], geometry)
    gx, gxx, xm, xc, xb = _coupled(third[1], fourth[1], geometry)
    ga, gaa, am, ac, ab = _coupled(third[2], fourth[2], geometry)
    gy, gyy, ym, yc, yb = _coupled(third[3], fourth[3], geometry)

    half = 0.5
    psi = number(n[CONSTANT], m) + ((xa[0] + xa[1]) + (xy[0] + xy[1]) + (ay[0] + ay[1])) + e
    gradient = (
        i0 * (xa[2] + xy[2] + gx),
        i1 * (xa[3] + ay[2] + ga),
        i2 * (xy[3] + ay[3] + gy),
        half * (gm + gc),
        gb,
        half * (gm - gc),
    )
    h0, h1, h2 = half * i0, half * i1, half * i2
    hessian = (
        i0 * i0 * (xa[4] + xy[4] + gxx),
        i0 * i1 * xa[5],
        i0 * i2 * xy[5],
        h0 * (xm + xc),
        i0 * xb,
        h0 * (xm - xc),
        i1 * i1 * (xa[6] + ay[4] + gaa),
        i1 * i2 * ay[5],
        h1 * (am + ac),
        i1 * ab,
        h1 * (am - ac),
        i2 * i2 * (xy[6] + ay[6] + gyy),
        h2 * (ym + yc),
        i2 * yb,
        h2 * (ym - yc),
        0.25 * (mm + 2.0 * mc + cc),
        half * (mb + cb),
        0.25 * (mm - cc),
        bb,
        half * (mb - cb),
        0.25 * (mm - 2.0 * mc + cc),
    )
    return psi, gradient, hessian


@physics
def _in_plane(table, s):
    """Where the three strains in the plane lie."""
    return _located(table, 0, s[0]), _located(table, 1, s[1]), _located(table, 2, s[2])


@physics
def _bending(table, s):
    """m, c, b, 1 / rho, 1 / (l1 - l2) and (l1 - l2) / 2 of the second fundamental form."""
    m, c, b = 0.5 * (s[3] + s[5]), 0.5 * (s[3] - s[5]), s[4]
    rho = c * c + b * b + number(table.numbers[FLOOR], m)
    r = sqrt(rho)
    return m, c, b, 1.0 / rho, 0.5 / r, r


@physics
def _located(table, axis, s):
    """The piece of an axis that a strain lies in, and the strain over its scale relative to the piece's centre. NaN is
    in some piece.
    """
    n, zero = table.numbers, number(0.0, s)
    u = s * number(n[SCALES + axis], s)
    last = number(n[4 * axis + 2], u)
    place = (u - number(n[4 * axis], u)) * number(n[4 * axis + 1], u)
    place = select(place > zero, place, zero)
    place = select(place < last, place, last)
    bucket = row_at(table.rows, place + number(n[4 * axis + 3], u))
    above = u >= bucket[0]
    return bucket[1] + select(above, number(1.0, u), zero), u - select(above, bucket[3], bucket[2])


@physics
def _place(table, pair, u, v):
    """The first of the four rows of a pair's polynomial."""
    n = table.numbers
    return number(n[_SURFACES + 2 * pair], v) + v * number(n[_SURFACES + 2 * pair + 1], v) + 4.0 * u


@physics
def _value(table, pair, u, v):
    """g of a pair."""
    p, t = cubic_at(table.rows, _place(table, pair, u[0], v[0]), v[1]), u[1]
    return p[0] + t * (p[1] + t * (p[2] + t * p[3]))


@physics
def _surface(table, pair, u, v):
    """g of a pair: at the centre of v, what is added to it, then derivatives by u, v, uu, uv, vv."""
    t = u[1]
    p, q, d, e = expanded_cubic_at(table.rows, _place(table, pair, u[0], v[0]), v[1])
    w1, w2, w3 = p[1] + q[1], p[2] + q[2], p[3] + q[3]
    w2t = w2 + t * w3
    w2tt = w2t + t * w3
    d2t = d[2] + t * d[3]
    d1t = d[1] + t * d2t
    return (
        p[0] + t * (p[1] + t * (p[2] + t * p[3])),
        q[0] + t * (q[1] + t * (q[2] + t * q[3])),
        w1 + t * (w2t + w2tt),
        d[0] + t * d1t,
        2.0 * (w2tt + t * w3),
        d1t + t * (d2t + t * d[3]),
        2.0 * (e[0] + t * (e[1] + t * (e[2] + t * e[3]))),
    )


@physics
def _bent_values(table, k, plane, m, r):
    """All that depends on one kind of bending, at two principal curvatures [1/m]."""
    l1, l2 = _located(table, k, m + r), _located(table, k, m - r)
    pair = 3 * (k - 2)
    x, a, y = plane
    return (
        _value(table, pair, x, l1) + _value(table, pair + 1, a, l1) + _value(table, pair + 2, y, l1),
        _value(table, pair, x, l2) + _value(table, pair + 1, a, l2) + _value(table, pair + 2, y, l2),
    )


@physics
def _bent(table, k, plane, m, r):
    """All that depends on one kind of bending, at two principal curvatures [1/m].

    For each of them the sum of values at centres, of what is added, and of derivatives by the curvature; then, of each
    strain in the plane over its scale, derivatives of both: (by s, by s and the curvature, by s twice).
    """
    i = number(table.numbers[SCALES + k], m)
    pair = 3 * (k - 2)
    l1, l2 = _located(table, k, m + r), _located(table, k, m - r)
    x, a, y = plane
    x1, x2 = _surface(table, pair, x, l1), _surface(table, pair, x, l2)
    a1, a2 = _surface(table, pair + 1, a, l1), _surface(table, pair + 1, a, l2)
    y1, y2 = _surface(table, pair + 2, y, l1), _surface(table, pair + 2, y, l2)
    return (_summed(x1, a1, y1, i), _summed(x2, a2, y2, i)), _pair(x1, x2, i), _pair(a1, a2, i), _pair(y1, y2, i)


@physics
def _no_bending(zero):
    """As _bent, of a material without."""
    none = (zero, zero, zero)
    return ((zero, zero, zero, zero), (zero, zero, zero, zero)), (none, none), (none, none), (none, none)


@physics
def _summed(x, a, y, i):
    return x[0] + a[0] + y[0], x[1] + a[1] + y[1], i * (x[3] + a[3] + y[3]), i * i * (x[6] + a[6] + y[6])


@physics
def _pair(g1, g2, i):
    return (g1[2], i * g1[5], g1[4]), (g2[2], i * g2[5], g2[4])


@physics
def _folded(third, fourth, geometry):
    """A_3 + A_4 + c (B_3 - B_4), its derivatives by m, c, b, and the second ones by mm, mc, mb, cc, cb, bb."""
    c, b, inverse_rho, inverse_gap = geometry
    (p1, q1, d1, e1), (p2, q2, d2, e2) = _added4(third[0], fourth[0]), _added4(third[1], fourth[1])
    (o1, r1, f1, h1), (o2, r2, f2, h2) = _apart4(third[0], fourth[0]), _apart4(third[1], fourth[1])
    # divided differences of f' and f'', of the sum of both functions; then B, D and E of the difference
    D_sum, E_sum = (d1 - d2) * inverse_gap, (e1 - e2) * inverse_gap
    B, D, E = ((o1 - o2) + (r1 - r2)) * inverse_gap, (f1 - f2) * inverse_gap, (h1 - h2) * inverse_gap
    second_sum = 0.5 * (e1 + e2)
    T_sum = (second_sum - D_sum) * inverse_rho  # twice dD/drho
    T = 0.5 * (0.5 * (f1 + f2) - B) * inverse_rho  # dB/drho
    T_m = (0.5 * (h1 + h2) - D) * inverse_rho
    T_rho = (E - 6.0 * T) * inverse_rho
    c2, b2, cb = c * c, b * b, c * b
    value = 0.5 * ((p1 + q1) + (p2 + q2)) + c * B
    gradient = (0.5 * (d1 + d2) + c * D, c * D_sum + B + 2.0 * c2 * T, b * (D_sum + 2.0 * c * T))
    hessian = (
        second_sum + c * E,
        c * E_sum + D + c2 * T_m,
        b * (E_sum + c * T_m),
        D_sum + c2 * T_sum + c * (6.0 * T + c2 * T_rho),
        cb * T_sum + b * (2.0 * T + c2 * T_rho),
        D_sum + b2 * T_sum + c * (2.0 * T + b2 * T_rho),
    )
    return value, gradient, hessian


@physics
def _added4(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]


@physics
def _apart4(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]


@physics
def _coupled(third, fourth, geometry):
    """The same of a derivative by a strain in the plane: value, the strain's second derivative, by m, c and b."""
    c, b, inverse_rho, inverse_gap = geometry
    (f1, d1, e1), (f2, d2, e2) = third
    (g1, k1, h1), (g2, k2, h2) = fourth
    B, D = ((f1 - f2) - (g1 - g2)) * inverse_gap, ((d1 - d2) - (k1 - k2)) * inverse_gap
    E, D_sum = ((e1 - e2) - (h1 - h2)) * inverse_gap, ((d1 - d2) + (k1 - k2)) * inverse_gap
    T = (0.5 * ((d1 + d2) - (k1 + k2)) - B) * inverse_rho  # twice dB/drho
    across = D_sum + c * T
    return (
        0.5 * ((f1 + f2) + (g1 + g2)) + c * B,
        0.5 * ((e1 + e2) + (h1 + h2)) + c * E,
        0.5 * ((d1 + d2) + (k1 + k2)) + c * D,
        c * across + B,
        b * across,
    )
