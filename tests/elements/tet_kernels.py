"""Functions of elements.tet in one loop that Numba compiles, once for each precision and width.

The fixture `tet_kernels` writes the declaration below anew and loads this text as a generated module.
"""

from pliant.elements.tet import (
    area_and_volume_ratio,
    deformation_gradient,
    first_invariant_curvature,
    invariant_gradients,
    invariants,
    left_cauchy_green,
    limit_volume_loss,
    second_invariant_curvature,
)
from pliant.lanes import load, make_zero, number, store
from pliant.lanes.entry import entry
from pliant.lanes.vectors import add_identity, add_square, add_symmetric, dot, load_vector

PRECISION, WIDTH = "single", 1
zero = make_zero(PRECISION, WIDTH)


@entry(error_model="numpy")
def measure(vectors, inverse_6v, out):
    """Of a, b, c (relative to the vertex) and their gradients ba, bb, bc, vectors 6p ... 6p + 5: 37 numbers.

    area (3), J, F (9), I, II, J, q (3), r (3), g (3), d2I (6), d2II (6).
    """
    z = zero()
    for p in range(len(inverse_6v) // WIDTH):
        a, b, c = (
            load_vector(vectors, 6 * p, z),
            load_vector(vectors, 6 * p + 1, z),
            load_vector(vectors, 6 * p + 2, z),
        )
        ba, bb, bc = (
            load_vector(vectors, 6 * p + 3, z),
            load_vector(vectors, 6 * p + 4, z),
            load_vector(vectors, 6 * p + 5, z),
        )
        own = (-(ba[0] + bb[0] + bc[0]), -(ba[1] + bb[1] + bc[1]), -(ba[2] + bb[2] + bc[2]))
        area, ratio = area_and_volume_ratio(a, b, c, load(inverse_6v, p * WIDTH, z))
        F = deformation_gradient(a, b, c, ba, bb, bc)
        B = left_cauchy_green(F)
        I, II, J = invariants(F, B)
        q, r, g = invariant_gradients(F, B, own)
        none, (c2, k2) = (z, z, z, z, z, z), second_invariant_curvature(dot(own, own), q)
        H1 = add_identity(none, first_invariant_curvature(dot(own, own)))
        H2 = add_square(add_symmetric(add_identity(none, c2), k2, B), number(4.0, z), q)
        first = 37 * p * WIDTH
        store(out, first + 3 * WIDTH, ratio)
        store(out, first + 13 * WIDTH, I)
        store(out, first + 14 * WIDTH, II)
        store(out, first + 15 * WIDTH, J)
        for k in range(3):
            store(out, first + k * WIDTH, area[k])
            for j in range(3):
                store(out, first + (4 + 3 * k + j) * WIDTH, F[k][j])
            store(out, first + (16 + k) * WIDTH, q[k])
            store(out, first + (19 + k) * WIDTH, r[k])
            store(out, first + (22 + k) * WIDTH, g[k])
        for k in range(6):
            store(out, first + (25 + k) * WIDTH, H1[k])
            store(out, first + (31 + k) * WIDTH, H2[k])


@entry(error_model="numpy")
def limited(steps, ratios, losses, out):
    """limit_volume_loss of flat arrays."""
    z = zero()
    for i in range(0, len(steps), WIDTH):
        store(out, i, limit_volume_loss(load(steps, i, z), load(ratios, i, z), load(losses, i, z)))
