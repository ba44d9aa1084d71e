"""Patches whose law is converted where they are crushed or inverted, in vertex block descent.

They are lists as other patches are.  l belongs to a patch, but its vertices' packs read it as a number of each entry.
So it lies twice, as that of tets (kernels.tets_invertible): by patch, where a pass over patches brings it up to date at
the start of every iteration, and by entry, where the pass writes what has changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pliant.elements.conversion import interpolant
from pliant.elements.element import Element
from pliant.elements.patch_measure import CORNERS, bound_patch, patch_deformation
from pliant.kernels.element_lists import LawText, list_source
from pliant.kernels.lists import Incidences, place_in_lists
from pliant.kernels.packs import Packs
from pliant.kernels.term_source import TermSource, import_lines
from pliant.kernels.threads import share
from pliant.lanes import count, gather3, load, store, width_of
from pliant.lanes.vectors import load_vector, physics, subtract

OTHERS = CORNERS - 1
VOLUME, INTERPOLANT = 3 * OTHERS, 3 * OTHERS + 1  # which numbers of an entry they are


class PatchPacks(NamedTuple):
    """Patches in their own order, as many as there are lanes at a time; the last pack repeats the last patch."""

    rows: np.ndarray  # flat (packs, 8, width) rows of the corners
    gradients: np.ndarray  # flat (packs, 7, 3, width) shape-function gradients of corners 1 to 7 [1/m]
    conversion: np.ndarray  # flat (packs, 3, width) lower, upper, release
    interpolants: np.ndarray  # flat (packs, width) l
    slots: np.ndarray  # (packs * width, 8) where the entries of its vertices have it, -1 if fixed


@physics
def update_patch_interpolants(thread, threads, x, patches, lists, like):
    """Equation 17 for this thread's share of the patches, at the positions x (rows, 4)."""
    width = width_of(like)
    first, last = share(0, len(patches.interpolants) // width, thread, threads)
    for p in range(first, last):
        rows, own = patches.rows, 8 * p * width
        origin = gather3(x, rows, own, like)
        others = (
            subtract(gather3(x, rows, own + width, like), origin),
            subtract(gather3(x, rows, own + 2 * width, like), origin),
            subtract(gather3(x, rows, own + 3 * width, like), origin),
            subtract(gather3(x, rows, own + 4 * width, like), origin),
            subtract(gather3(x, rows, own + 5 * width, like), origin),
            subtract(gather3(x, rows, own + 6 * width, like), origin),
            subtract(gather3(x, rows, own + 7 * width, like), origin),
        )
        gradients = (
            load_vector(patches.gradients, 7 * p, like),
            load_vector(patches.gradients, 7 * p + 1, like),
            load_vector(patches.gradients, 7 * p + 2, like),
            load_vector(patches.gradients, 7 * p + 3, like),
            load_vector(patches.gradients, 7 * p + 4, like),
            load_vector(patches.gradients, 7 * p + 5, like),
            load_vector(patches.gradients, 7 * p + 6, like),
        )
        F, _ = patch_deformation(others, gradients)
        lower, upper, release = load_vector(patches.conversion, p, like)
        before = load(patches.interpolants, p * width, like)
        l = interpolant(F, lower, upper, release, before)
        if count(l != before) > 0:
            store(patches.interpolants, p * width, l)
            for t in range(p * width, (p + 1) * width):
                for corner in range(8):
                    if patches.slots[t, corner] >= 0:
                        lists.constants[patches.slots[t, corner]] = patches.interpolants[t]


def invertible_patch_source(element: Element, block: Any, law: LawText, has_barrier: bool) -> TermSource:
    """Patches of one law, as a kernel sees them; the projective stiffness is a last parameter."""
    source = list_source(element, block, law)
    further = import_lines(update_patch_interpolants, *([bound_patch] if has_barrier else []))
    return replace(
        source,
        name=f"invertible {source.name}",
        imports=f"{source.imports}\n{further}",
        tables=(*source.tables, "patches_K"),
        bound=tuple(_bound_lines(2 + 3 * OTHERS + law.parameter_count * law.varies)) if has_barrier else (),
        iteration=("update_patch_interpolants(thread, threads, x, patches_K, list0_K, zero())",),
    )


def _bound_lines(numbers: int) -> list[str]:
    """Lines that lower `step`; numbers: how many an entry has."""

    def constant(i: int) -> str:
        return f"list_constant(list0_K, k, {i}, {numbers}, xi[0])"

    others = ", ".join(f"other(x, xi, list0_K, k, {j}, {OTHERS})" for j in range(OTHERS))
    gradients = ", ".join(f"({', '.join(constant(3 * j + a) for a in range(3))})" for j in range(OTHERS))
    call = f"bound_patch(step, dx, ({others}), ({gradients}), {constant(VOLUME)}, {constant(INTERPOLANT)})"
    return ["for k in range(list0_K.start[p], list0_K.start[p + 1]):", f"    step = {call}"]


def patch_packs(packs: Packs, block: Any, incidences: Incidences, dtype: Any) -> PatchPacks:
    """Tables of the pass over patches; incidences: those of the list, corner after corner of patch after patch."""
    width, m = packs.width, len(block.elements)
    total = -(-m // width) * width

    def in_lanes(values: np.ndarray) -> np.ndarray:
        filled = values[np.minimum(np.arange(total), m - 1)]
        return np.ascontiguousarray(filled.reshape(-1, width, values.shape[1]).transpose(0, 2, 1)).reshape(-1)

    slots = np.full((total, CORNERS), -1, np.int64)
    _, entry, lane = place_in_lists(packs, incidences.owner)
    numbers = incidences.constants.shape[1]
    slots[:m] = ((entry * numbers + INTERPOLANT) * width + lane).reshape(m, CORNERS)
    return PatchPacks(
        in_lanes(packs.row_of_vertex[block.elements]).astype(np.uint32),
        in_lanes(block.gradients[:, 1:].reshape(m, 3 * OTHERS)).astype(dtype),
        in_lanes(block.conversion[:, :3]).astype(dtype),
        np.zeros(total, dtype),
        slots,
    )
