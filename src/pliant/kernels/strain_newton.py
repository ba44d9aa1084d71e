"""Steps of an element's Newton iterations in the space of its strain (GPBD, Equation 19)."""

from __future__ import annotations

from pliant.kernels.strain_derivatives import invariants_of_columns, plus
from pliant.kernels.strain_frame import deformed, symmetric_columns
from pliant.lanes import absolute, count, maximum, number, select, width_of
from pliant.lanes.vectors import dot, physics, symmetric_times

HALVINGS = 12
SURE_STRAIN = 1e-3  # a smaller step is taken without a search: rounding hides how the energy changes over it
MARGIN = 1e-6  # of the trace: added with the bound of Equation 23, which alone may leave the matrix singular


@physics
def newton_step(g, H, solve, add_diagonal, least_eigenvalue):
    """-H^-1 g; where H is not positive definite it is made so by the bound of Equation 23.

    Deviation: no QR iterations tighten the bound, and it is used only where a pivot shows that H is indefinite,
    because the bound may be negative where H is not.
    """
    f = (-g[0], -g[1], -g[2], -g[3], -g[4], -g[5])
    step, indefinite = solve(H, f)
    if count(indefinite) > 0:
        zero = number(0.0, g[0])
        step, _ = solve(add_diagonal(H, select(indefinite, shift_of(H, least_eigenvalue), zero)), f)
    return step


@physics
def shift_of(H, least_eigenvalue):
    """What makes an indefinite H positive definite when it is added to the diagonal (Equation 23)."""
    size = absolute(H[0]) + absolute(H[6]) + absolute(H[11]) + absolute(H[15]) + absolute(H[18]) + absolute(H[20])
    return maximum(-least_eigenvalue(H), number(0.0, H[0])) + MARGIN * size


@physics
def strain_energy(F, C, z, pull, frame, law, density):
    """Equation 19 at z without its constant, and where J is positive."""
    t = frame[2]
    z0, z1, z2 = symmetric_columns(z)
    _, I, II, J = invariants_of_columns(deformed(F, z, frame))
    linear = pull[0] * z[0] + pull[1] * z[1] + pull[2] * z[2] + pull[3] * z[3] + pull[4] * z[4] + pull[5] * z[5]
    square = t[0] * dot(z0, symmetric_times(C, z0)) + t[1] * dot(z1, symmetric_times(C, z1))
    square = square + t[2] * dot(z2, symmetric_times(C, z2))
    return linear + 0.5 * square + frame[3] * density(I, II, J, *law), J > 0.0


@physics
def largest(z):
    """The largest magnitude of six numbers."""
    a, b = maximum(absolute(z[0]), absolute(z[1])), maximum(absolute(z[2]), absolute(z[3]))
    return maximum(maximum(a, b), maximum(absolute(z[4]), absolute(z[5])))


@physics
def times(s, z):
    return (s * z[0], s * z[1], s * z[2], s * z[3], s * z[4], s * z[5])


@physics
def keep(where, z):
    """z, zero elsewhere."""
    zero = number(0.0, z[0])
    return (
        select(where, z[0], zero),
        select(where, z[1], zero),
        select(where, z[2], zero),
        select(where, z[3], zero),
        select(where, z[4], zero),
        select(where, z[5], zero),
    )


@physics
def advanced(z, step):
    return plus(z, 1.0, step)


@physics
def searched(F, C, z, step, pull, frame, law, density, has_barrier):
    """The step halved until the energy does not rise and, with a barrier, J stays positive; zero if it never does."""
    zero, one, half = number(0.0, z[0]), number(1.0, z[0]), number(0.5, z[0])
    if count(largest(step) < SURE_STRAIN) == width_of(one):
        return step
    before, _ = strain_energy(F, C, z, pull, frame, law, density)
    part, accepted = one, one < zero
    for _ in range(HALVINGS):
        after, positive = strain_energy(F, C, plus(z, part, step), pull, frame, law, density)
        accepted = (after <= before) | (largest(times(part, step)) < SURE_STRAIN)
        if has_barrier:
            accepted = accepted & positive
        if count(accepted) == width_of(one):
            break
        part = select(accepted, part, part * half)
    return times(select(accepted, part, zero), step)
