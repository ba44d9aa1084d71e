"""Vertex functions of the elements of sheets, rods and nets in loops that Numba compiles.

The fixture `sheet_kernels` writes the declaration and the law's functions anew and loads this text as a generated
module. Every loop reads `count` numbers an element from flat (n / WIDTH, count, WIDTH) numbers and writes ten, in the
same layout: energy, force (3), block (6).
"""

from numba import njit

from pliant.elements.fibre import add_fibre, fibre_energy
from pliant.elements.hinge import add_hinge, angle_at_edge, angle_at_wing, hinge_energy
from pliant.elements.joint import add_joint_at_end, add_joint_at_middle, joint_energy
from pliant.elements.pair import add_pair_force, pair_energy
from pliant.elements.spring import add_spring, spring_energy
from pliant.elements.triangle import add_membrane, membrane_energy
from pliant.lanes import exp, inverse_cube_root, load, log, make_zero, sqrt, store  # noqa: F401  (laws use some)
from pliant.lanes.vectors import add_identity, physics, subtract

PRECISION, WIDTH = "single", 1
zero = make_zero(PRECISION, WIDTH)

density_K, derivatives_K, law_parameters = None, None, None  # the law's functions stand here


@physics
def numbers_at(numbers, p, count, first):
    """Three numbers of element p."""
    at = (p * count + first) * WIDTH
    return (
        load(numbers, at, zero()),
        load(numbers, at + WIDTH, zero()),
        load(numbers, at + 2 * WIDTH, zero()),
    )


@physics
def nothing():
    z = zero()
    return (z, z, z), (z, z, z, z, z, z)


@physics
def write(out, p, energy, f, H):
    store(out, 10 * p * WIDTH, energy)
    for k in range(3):
        store(out, (10 * p + 1 + k) * WIDTH, f[k])
    for k in range(6):
        store(out, (10 * p + 4 + k) * WIDTH, H[k])


@njit(cache=True, error_model="numpy")
def spring(numbers, out):
    """r (3), stiffness, rest length, compression."""
    for p in range(len(out) // (10 * WIDTH)):
        r, s = numbers_at(numbers, p, 6, 0), numbers_at(numbers, p, 6, 3)
        f, H = nothing()
        f, H = add_spring(f, H, r, s[0], s[1], s[2])
        write(out, p, spring_energy(r, s[0], s[1], s[2]), f, H)


@njit(cache=True, error_model="numpy")
def pair(numbers, out):
    """r (3), weight, two unused."""
    for p in range(len(out) // (10 * WIDTH)):
        r, s = numbers_at(numbers, p, 6, 0), numbers_at(numbers, p, 6, 3)
        f, H = nothing()
        f, H = add_pair_force(f, r, s[0]), add_identity(H, s[0])
        write(out, p, pair_energy(r, s[0]), f, H)


@njit(cache=True, error_model="numpy")
def fibre(numbers, out):
    """a (3), b (3), beta_a, beta_b, stiffness."""
    for p in range(len(out) // (10 * WIDTH)):
        a, b, s = numbers_at(numbers, p, 9, 0), numbers_at(numbers, p, 9, 3), numbers_at(numbers, p, 9, 6)
        f, H = nothing()
        f, H = add_fibre(f, H, a, b, s[0], s[1], s[2])
        write(out, p, fibre_energy(a, b, s[0], s[1], s[2]), f, H)


@njit(cache=True, error_model="numpy")
def membrane(numbers, out):
    """a (3), b (3), shape-function gradients (4), area, law's parameters (4, the unused ones zero)."""
    for p in range(len(out) // (10 * WIDTH)):
        a, b = numbers_at(numbers, p, 15, 0), numbers_at(numbers, p, 15, 3)
        s, t, u = numbers_at(numbers, p, 15, 6), numbers_at(numbers, p, 15, 9), numbers_at(numbers, p, 15, 12)
        ba, bb, area, law = (s[0], s[1]), (s[2], t[0]), t[1], law_parameters(t[2], u[0], u[1], u[2])
        f, H = nothing()
        f, H = add_membrane(f, H, a, b, ba, bb, area, law, derivatives_K)
        write(out, p, membrane_energy(a, b, ba, bb, area, law, density_K), f, H)


@njit(cache=True, error_model="numpy")
def hinge_wing(numbers, out):
    """a (3), b (3), c (3), rest angle, stiffness, one unused."""
    for p in range(len(out) // (10 * WIDTH)):
        a, b, c = numbers_at(numbers, p, 12, 0), numbers_at(numbers, p, 12, 3), numbers_at(numbers, p, 12, 6)
        s = numbers_at(numbers, p, 12, 9)
        theta, gradient = angle_at_wing(a, b, c)
        f, H = nothing()
        f, H = add_hinge(f, H, theta, gradient, s[0], s[1])
        write(out, p, hinge_energy(theta, s[0], s[1]), f, H)


@njit(cache=True, error_model="numpy")
def hinge_edge(numbers, out):
    """b (3), c (3), d (3), rest angle, stiffness, one unused."""
    for p in range(len(out) // (10 * WIDTH)):
        b, c, d = numbers_at(numbers, p, 12, 0), numbers_at(numbers, p, 12, 3), numbers_at(numbers, p, 12, 6)
        s = numbers_at(numbers, p, 12, 9)
        theta, gradient = angle_at_edge(b, c, d)
        f, H = nothing()
        f, H = add_hinge(f, H, theta, gradient, s[0], s[1])
        write(out, p, hinge_energy(theta, s[0], s[1]), f, H)


@njit(cache=True, error_model="numpy")
def joint_end(numbers, out):
    """middle (3), other end (3), relative to the end; rest angle, stiffness, one unused."""
    for p in range(len(out) // (10 * WIDTH)):
        a, b, s = numbers_at(numbers, p, 9, 0), numbers_at(numbers, p, 9, 3), numbers_at(numbers, p, 9, 6)
        u, v = subtract(a, b), (-a[0], -a[1], -a[2])
        f, H = nothing()
        f, H = add_joint_at_end(f, H, u, v, s[0], s[1])
        write(out, p, joint_energy(u, v, s[0], s[1]), f, H)


@njit(cache=True, error_model="numpy")
def joint_middle(numbers, out):
    """first end (3), second end (3), relative to the middle; rest angle, stiffness, one unused."""
    for p in range(len(out) // (10 * WIDTH)):
        a, b, s = numbers_at(numbers, p, 9, 0), numbers_at(numbers, p, 9, 3), numbers_at(numbers, p, 9, 6)
        u = (-a[0], -a[1], -a[2])
        f, H = nothing()
        f, H = add_joint_at_middle(f, H, u, b, s[0], s[1])
        write(out, p, joint_energy(u, b, s[0], s[1]), f, H)
