"""Every operation of lanes in loops that Numba compiles, once for each precision and width.

The fixture `kernels` writes the declaration below anew and loads this text as a generated module, so that it is cached
as Pliant's own kernels are.  `store(out, k * n + i, ...)` writes result k of the lanes that begin at element i.
"""

from pliant.lanes import (
    absolute,
    count,
    exp,
    gather3,
    inverse_cube_root,
    inverse_sqrt,
    lane_least,
    lane_sum,
    load,
    load3,
    log,
    make_zero,
    maximum,
    minimum,
    number,
    reciprocal,
    rounding,
    select,
    sqrt,
    store,
    store3,
    width_of,
)
from pliant.lanes.entry import entry
from pliant.lanes.vectors import (
    add_product,
    add_scaled,
    add_square,
    cross,
    dot,
    eigen_symmetric,
    load_symmetric,
    load_vector,
    positive_part,
    solve_symmetric,
    store_symmetric,
    sum_over_lanes,
    sum_symmetric_over_lanes,
    symmetric_times,
    unless_zero,
)

PRECISION, WIDTH = "single", 1
zero = make_zero(PRECISION, WIDTH)


@entry(error_model="numpy")
def arithmetic(a, b, out):
    """sum, difference, product, quotient, negative, root, magnitude, smaller, larger, mixed with numbers."""
    n = len(a)
    for i in range(0, n, WIDTH):
        x, y = load(a, i, zero()), load(b, i, zero())
        store(out, i, x + y)
        store(out, n + i, x - y)
        store(out, 2 * n + i, x * y)
        store(out, 3 * n + i, x / y)
        store(out, 4 * n + i, -x)
        store(out, 5 * n + i, sqrt(x))
        store(out, 6 * n + i, absolute(x))
        store(out, 7 * n + i, minimum(x, y))
        store(out, 8 * n + i, maximum(x, y))
        store(out, 9 * n + i, x + 1.5)
        store(out, 10 * n + i, 1.5 - x)
        store(out, 11 * n + i, x * 3)
        store(out, 12 * n + i, 3 / x)
        store(out, 13 * n + i, number(0.1, x))


@entry(error_model="numpy")
def choices(a, b, out):
    """Comparisons and logic of masks as ones and zeros, select, count of a mask."""
    n = len(a)
    one, none = number(1.0, zero()), number(0.0, zero())
    for i in range(0, n, WIDTH):
        x, y = load(a, i, zero()), load(b, i, zero())
        store(out, i, select(x < y, one, none))
        store(out, n + i, select(x <= y, one, none))
        store(out, 2 * n + i, select(x > y, one, none))
        store(out, 3 * n + i, select(x >= y, one, none))
        store(out, 4 * n + i, select(x == y, one, none))
        store(out, 5 * n + i, select(x != y, one, none))
        store(out, 6 * n + i, select((x < y) & (x > none), one, none))
        store(out, 7 * n + i, select((x < y) | (x > none), one, none))
        store(out, 8 * n + i, select(x < 1.5, one, none))
        store(out, 9 * n + i, select(x < y, x, y))
        store(out, 10 * n + i, number(count(x < y), x))


@entry(error_model="numpy")
def negated(a, b, out):
    """~ of a mask; of a plain comparison Python's ~ is no logic, so this is for lanes."""
    one, none = number(1.0, zero()), number(0.0, zero())
    for i in range(0, len(a), WIDTH):
        mask = load(a, i, zero()) < load(b, i, zero())
        store(out, i, select(~mask, one, none))


@entry(error_model="numpy")
def transcendental(a, out):
    """log, exp."""
    n = len(a)
    for i in range(0, n, WIDTH):
        x = load(a, i, zero())
        store(out, i, log(x))
        store(out, n + i, exp(x))


@entry(error_model="numpy")
def reciprocals(a, out):
    """1 / a."""
    for i in range(0, len(a), WIDTH):
        store(out, i, reciprocal(load(a, i, zero())))


@entry(error_model="numpy")
def inverse_roots(a, out):
    """1 / sqrt(a)."""
    for i in range(0, len(a), WIDTH):
        store(out, i, inverse_sqrt(load(a, i, zero())))


@entry(error_model="numpy")
def roots(a, out):
    """Inverse cube root, machine epsilon."""
    n = len(a)
    for i in range(0, n, WIDTH):
        x = load(a, i, zero())
        store(out, i, inverse_cube_root(x))
        store(out, n + i, number(rounding(x), x))


@entry(error_model="numpy")
def across(a, out):
    """Sum and least of the lanes, and the width."""
    n = len(a)
    for i in range(0, n, WIDTH):
        x = load(a, i, zero())
        store(out, i, lane_sum(x))
        store(out, n + i, lane_least(x))
        store(out, 2 * n + i, number(width_of(x), x))


@entry(error_model="numpy")
def copy(positions, indices, start, first, gathered, loaded, stored):
    """Gather the rows indices[start:], load the rows first ..., store these again in `stored`."""
    x, y, z = gather3(positions, indices, start, zero())
    store(gathered, 0, x)
    store(gathered, WIDTH, y)
    store(gathered, 2 * WIDTH, z)
    x, y, z = load3(positions, first, zero())
    store(loaded, 0, x)
    store(loaded, WIDTH, y)
    store(loaded, 2 * WIDTH, z)
    store3(stored, first, x, y, z)


@entry(error_model="numpy")
def algebra(vectors, matrices, scalars, out, out_matrices):
    """Of vectors 2p and 2p + 1, matrix p and scalar p: dot, cross, H a, sums over lanes; H + s a a^T and so on."""
    for p in range(len(scalars) // WIDTH):
        a, b = load_vector(vectors, 2 * p, zero()), load_vector(vectors, 2 * p + 1, zero())
        H, s = load_symmetric(matrices, p, zero()), load(scalars, p * WIDTH, zero())
        first = 16 * p * WIDTH
        one = number(1.0, s)
        store(out, first, dot(a, b))
        c, Ha, total, kept = cross(a, b), symmetric_times(H, a), sum_over_lanes(a), unless_zero(add_scaled, a, s, b)
        same = unless_zero(add_scaled, a, None, b)
        for k in range(3):
            store(out, first + (1 + k) * WIDTH, c[k])
            store(out, first + (4 + k) * WIDTH, Ha[k])
            store(out, first + (7 + k) * WIDTH, total[k])
            store(out, first + (10 + k) * WIDTH, kept[k])
            store(out, first + (13 + k) * WIDTH, same[k])
        store_symmetric(out_matrices, 3 * p, one, add_square(H, s, a))
        store_symmetric(out_matrices, 3 * p + 1, s, add_product(H, s, a, b))
        store_symmetric(out_matrices, 3 * p + 2, one, sum_symmetric_over_lanes(H))


@entry(error_model="numpy")
def solve(matrices, rights, smallest, solutions, singular):
    """x with H x = f, and where H counts as singular."""
    for p in range(len(singular) // WIDTH):
        x, flag = solve_symmetric(load_symmetric(matrices, p, zero()), load_vector(rights, p, zero()), smallest)
        for k in range(3):
            store(solutions, (3 * p + k) * WIDTH, x[k])
        store(singular, p * WIDTH, select(flag, number(1.0, zero()), number(0.0, zero())))


@entry(error_model="numpy")
def eigen(matrices, values, vectors, positive):
    """Eigenvalues (n, 3, width), eigenvectors (n, 9, width), positive part (n, 6, width)."""
    for p in range(len(values) // (3 * WIDTH)):
        H = load_symmetric(matrices, p, zero())
        lam, v = eigen_symmetric(H)
        for k in range(3):
            store(values, (3 * p + k) * WIDTH, lam[k])
            for j in range(3):
                store(vectors, (9 * p + 3 * k + j) * WIDTH, v[k][j])
        store_symmetric(positive, p, number(1.0, zero()), positive_part(H))
