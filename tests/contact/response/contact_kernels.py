"""Physics functions of elements.contact in one loop that Numba compiles, once for each precision and width.

The fixture `contact_kernels` writes the declaration below again and loads this text as a generated module.
"""

from pliant.elements.contact import add_contact, depth
from pliant.lanes import load, make_zero, number, store
from pliant.lanes.entry import entry
from pliant.lanes.vectors import load_vector

PRECISION, WIDTH = "single", 1
zero = make_zero(PRECISION, WIDTH)


@entry(error_model="numpy")
def measure(vectors, scalars, out):
    """Of r, n, motion (vectors 3p ...) and w, gap, stiffness, mu, slip (scalars 5p ...): lambda, f (3), H (6)."""
    z = zero()
    for p in range(len(out) // (10 * WIDTH)):
        r, n, motion = (
            load_vector(vectors, 3 * p, z),
            load_vector(vectors, 3 * p + 1, z),
            load_vector(vectors, 3 * p + 2, z),
        )
        first = 5 * p * WIDTH
        w, gap, stiffness = (
            load(scalars, first, z),
            load(scalars, first + WIDTH, z),
            load(scalars, first + 2 * WIDTH, z),
        )
        mu, slip = load(scalars, first + 3 * WIDTH, z), load(scalars, first + 4 * WIDTH, z)
        size = stiffness * depth(r, n, gap)
        f, H = add_contact(
            (z, z, z),
            (z, z, z, z, z, z),
            w,
            r,
            motion,
            n,
            gap,
            stiffness,
            mu * size,
            slip,
            z,
            number(1.0, z),
            (z, z, z),
        )
        store(out, 10 * p * WIDTH, size)
        for k in range(3):
            store(out, (10 * p + 1 + k) * WIDTH, f[k])
        for k in range(6):
            store(out, (10 * p + 4 + k) * WIDTH, H[k])
