"""Functions of kernels.local_solve in one loop that Numba compiles for a precision and a width.

The tests write the declaration below anew and load this text as a generated module.
"""

from pliant.kernels.local_solve import (
    descent_direction,
    keep_subspace,
    project_block,
    solve_free,
    solve_in_plane,
    solve_on_line,
)
from pliant.lanes import load, make_zero, number, select, store
from pliant.lanes.entry import entry
from pliant.lanes.vectors import load_symmetric, load_vector, store_symmetric

PRECISION, WIDTH = "single", 1
zero = make_zero(PRECISION, WIDTH)


@entry(error_model="numpy")
def local_solves(matrices, forces, directions, inertia, rounding, out, singular, projected):
    """Free, line and plane steps, descent direction of -f and of f, subspaces 1, 2, 3: eight vectors (p, 8, 3)."""
    z = zero()
    one = number(1.0, z)
    for p in range(len(inertia) // WIDTH):
        H, f, d = load_symmetric(matrices, p, z), load_vector(forces, p, z), load_vector(directions, p, z)
        free, flag_free = solve_free(H, f, rounding)
        line, flag_line = solve_on_line(H, f, d)
        plane, flag_plane = solve_in_plane(H, f, d)
        uphill = descent_direction(H, f, (-f[0], -f[1], -f[2]))
        downhill = descent_direction(H, f, f)
        kept_1, kept_2, kept_3 = keep_subspace(1, d, f), keep_subspace(2, d, f), keep_subspace(3, d, f)
        for k in range(3):
            store(out, (24 * p + k) * WIDTH, free[k])
            store(out, (24 * p + 3 + k) * WIDTH, line[k])
            store(out, (24 * p + 6 + k) * WIDTH, plane[k])
            store(out, (24 * p + 9 + k) * WIDTH, uphill[k])
            store(out, (24 * p + 12 + k) * WIDTH, downhill[k])
            store(out, (24 * p + 15 + k) * WIDTH, kept_1[k])
            store(out, (24 * p + 18 + k) * WIDTH, kept_2[k])
            store(out, (24 * p + 21 + k) * WIDTH, kept_3[k])
        store(singular, 3 * p * WIDTH, select(flag_free, one, z))
        store(singular, (3 * p + 1) * WIDTH, select(flag_line, one, z))
        store(singular, (3 * p + 2) * WIDTH, select(flag_plane, one, z))
        store_symmetric(projected, p, one, project_block(H, load(inertia, p * WIDTH, z)))
