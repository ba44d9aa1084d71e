"""Tets whose law is converted where they are crushed or inverted: psi weighted by 1 - l, projective dynamics' energy by
l (Wang and Yang 2016, Equations 17 to 19).

l belongs to a tet, but its vertices' packs read it entry by entry.  So it lies twice: by tet, where a pass over tets
brings it up to date at the start of every iteration, and by entry, where the pass writes what has changed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.elements.conversion import add_projective, interpolant
from pliant.elements.law_block import rest_unless
from pliant.elements.tet import deformation_gradient, invariants, left_cauchy_green, limit_volume_loss
from pliant.geometry.links import LinkWalks
from pliant.kernels.links import constant, place, push
from pliant.kernels.packs import Packs
from pliant.kernels.term_source import TermSource, import_lines, law_functions, law_of_entries
from pliant.kernels.tets_general import CONSTANTS, add_tet, deformation
from pliant.kernels.threads import share
from pliant.lanes import absolute, count, gather3, load, number, select, store, width_of
from pliant.lanes.entry import entry
from pliant.lanes.vectors import add_identity, cross, dot, load_vector, physics, subtract
from pliant.materials.stretch import trace_of_stretch


class TetPacks(NamedTuple):
    """Tets in their own order, as many as there are lanes at a time; the last pack repeats the last tet."""

    rows: np.ndarray  # flat (packs, 4, width) rows of the corners
    gradients: np.ndarray  # flat (packs, 3, 3, width) shape-function gradients of corners 1, 2, 3 [1/m]
    conversion: np.ndarray  # flat (packs, 3, width) lower, upper, release
    interpolants: np.ndarray  # flat (packs, width) l
    slots: np.ndarray  # (packs * width, 4) where the entries of its vertices are, -1 if fixed


@physics
def update_interpolants(thread, threads, x, tets, by_entry, like):
    """Equation 17 for this thread's share of the tets, at the positions x (rows, 4)."""
    width = width_of(like)
    first, last = share(0, len(tets.interpolants) // width, thread, threads)
    for p in range(first, last):
        origin = gather3(x, tets.rows, 4 * p * width, like)
        a = subtract(gather3(x, tets.rows, (4 * p + 1) * width, like), origin)
        b = subtract(gather3(x, tets.rows, (4 * p + 2) * width, like), origin)
        c = subtract(gather3(x, tets.rows, (4 * p + 3) * width, like), origin)
        ba, bb, bc = (
            load_vector(tets.gradients, 3 * p, like),
            load_vector(tets.gradients, 3 * p + 1, like),
            load_vector(tets.gradients, 3 * p + 2, like),
        )
        F = deformation_gradient(a, b, c, ba, bb, bc)
        lower, upper, release = load_vector(tets.conversion, p, like)
        before = load(tets.interpolants, p * width, like)
        l = interpolant(F, lower, upper, release, before)
        if count(l != before) > 0:
            store(tets.interpolants, p * width, l)
            for t in range(p * width, (p + 1) * width):
                for corner in range(4):
                    if tets.slots[t, corner] >= 0:
                        by_entry[tets.slots[t, corner]] = tets.interpolants[t]


@physics
def add_invertible(p, x, xi, f, H, links, by_entry, law, law_at, derivatives):
    """Add force and Hessian on the vertices of pack p; of the projective energy its constant matrix (Equation 19).

    law_at(law, k, like) gives the parameters of entry k, then the projective stiffness.
    """
    zero, one = number(0.0, xi[0]), number(1.0, xi[0])
    a = b = c = (zero, zero, zero)
    diagonal = zero
    for k in range(links.start[p], links.start[p + 1]):
        turned_volume = constant(links, k, 9, CONSTANTS, xi[0])
        a, b, c = push(x, xi, links, k, turned_volume < zero, a, b, c)
        l = load(by_entry, k * width_of(xi[0]), xi[0])
        volume = absolute(turned_volume)
        F, own = deformation(links, k, a, b, c)
        own_law, kept = law_at(law, k, xi[0]), volume * (one - l)
        f, H, diagonal = add_tet(f, H, diagonal, F, own, kept, kept > zero, own_law[:-1], derivatives)
        if count(l > zero) > 0:
            f, diagonal = add_projective(f, diagonal, F, own, volume * l * own_law[-1], volume > zero)
    return f, add_identity(H, diagonal)


@physics
def invertible_energy(p, x, xi, energy, links, by_entry, law, law_at, density):
    """Add the energy of the tets at the vertices of pack p, were they at xi (Equation 18)."""
    zero, one = number(0.0, xi[0]), number(1.0, xi[0])
    a = b = c = (zero, zero, zero)
    for k in range(links.start[p], links.start[p + 1]):
        turned_volume = constant(links, k, 9, CONSTANTS, xi[0])
        a, b, c = push(x, xi, links, k, turned_volume < zero, a, b, c)
        l = load(by_entry, k * width_of(xi[0]), xi[0])
        volume = absolute(turned_volume)
        F, _ = deformation(links, k, a, b, c)
        I, II, J = invariants(F, left_cauchy_green(F))
        kept = volume * (one - l)
        own_law = law_at(law, k, xi[0])
        energy = energy + kept * density(*rest_unless(kept > zero, I, II, J), *own_law[:-1])
        S = trace_of_stretch(I, II, J)
        energy = energy + volume * l * own_law[-1] * (I - 2.0 * S + 3.0)
    return energy


@physics
def bound_volume_loss_of_kept(p, x, xi, dx, step, links, by_entry):
    """The largest part of dx, at most `step`, that leaves some volume to every tet that keeps part of its law."""
    zero, one = number(0.0, xi[0]), number(1.0, xi[0])
    a = b = c = (zero, zero, zero)
    for k in range(links.start[p], links.start[p + 1]):
        sign = constant(links, k, 9, CONSTANTS, xi[0])
        a, b, c = push(x, xi, links, k, sign < zero, a, b, c)
        area = cross(subtract(b, a), subtract(c, a))
        bounded = limit_volume_loss(step, -dot(area, a), -dot(area, dx))
        is_kept = (sign != zero) & (load(by_entry, k * width_of(xi[0]), xi[0]) < one)
        step = select(is_kept, bounded, step)
    return step


def invertible_source(
    law_name: str, law_text: str, parameter_count: int, has_barrier: bool, varies: bool = False
) -> TermSource:
    """Tets of one law, as a kernel sees them; the projective stiffness is a last parameter."""
    law, law_at = law_of_entries(parameter_count + 1, varies)
    tables = "links_K, interpolants_K, law_K, law_at_K"
    bound = "step = bound_volume_loss_of_kept(p, x, xi, dx, step, links_K, interpolants_K)"
    functions = [add_invertible, invertible_energy, update_interpolants]
    return TermSource(
        name=f"invertible {law_name}",
        imports=import_lines(*functions, *([bound_volume_loss_of_kept] if has_barrier else [])),
        tables=("links_K", "parameters_K", "interpolants_K", "tets_K"),
        force=(law, f"f, H = add_invertible(p, x, xi, f, H, {tables}, derivatives_K)"),
        energy=(law, f"energy = invertible_energy(p, x, xi, energy, {tables}, energy_density_K)"),
        bound=(bound,) if has_barrier else (),
        definitions=law_functions(law_text) + "\n" + law_at,
        iteration=("update_interpolants(thread, threads, x, tets_K, interpolants_K, zero())",),
    )


def tet_packs(packs: Packs, walks: LinkWalks, tets, gradients, conversion, dtype) -> TetPacks:
    """Tables of the pass over the tets (m, 4); conversion: (m, 3) lower, upper, release."""
    width, m = packs.width, len(tets)
    count = -(-m // width) * width

    def in_lanes(values: np.ndarray) -> np.ndarray:
        filled = values[np.minimum(np.arange(count), m - 1)]
        return np.ascontiguousarray(filled.reshape(-1, width, values.shape[1]).transpose(0, 2, 1)).reshape(-1)

    rows = in_lanes(packs.row_of_vertex[tets]).astype(np.uint32)
    numbers = in_lanes(gradients[:, 1:].reshape(m, 9)).astype(dtype)
    limits = in_lanes(conversion).astype(dtype)
    slots = np.full((count, 4), -1, np.int64)
    _, entry, lane = place(packs, walks)
    pushes = np.flatnonzero((entry >= 0) & (walks.tet >= 0))
    pushes = pushes[np.argsort(walks.tet[pushes], kind="stable")]
    tet = walks.tet[pushes]
    rank = np.arange(len(tet)) - np.searchsorted(tet, tet)
    slots[tet, rank] = entry[pushes] * width + lane[pushes]
    return TetPacks(rows, numbers, limits, np.zeros(count, dtype), slots)


@entry(nogil=True)
def load_interpolants(values, interpolants, slots, by_entry):
    """Take the interpolants (m,) of a problem."""
    for t in range(len(values)):
        interpolants[t] = values[t]
        for corner in range(slots.shape[1]):
            if slots[t, corner] >= 0:
                by_entry[slots[t, corner]] = interpolants[t]
