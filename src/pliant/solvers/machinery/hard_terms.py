"""How rows with multipliers enter vertex block descent: lists of their corners, and what is updated after an
iteration.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.elements.element import Element
from pliant.elements.hard import PATH, HardDots, HardLinks, HardRopes
from pliant.elements.joint_drive import HARD_PATH, HardAngles, HardSlides
from pliant.elements.joint_length import HardLengths
from pliant.kernels.element_lists import incidences_of
from pliant.kernels.hard_drives import DriveRows, update_angles, update_lengths, update_slides
from pliant.kernels.hard_rows import DualRows, update_dots, update_links, update_ropes
from pliant.kernels.lists import place_in_lists
from pliant.kernels.packs import Packs
from pliant.kernels.term_source import TermSource, import_lines
from pliant.solvers.machinery.vbd_terms import PATHS, ListTerm, PackedTerm

ONE_LIST, TWO_LISTS, THREE_LISTS = "list0_K", "list0_K, list1_K", "list0_K, list1_K, list2_K"

#: What updates the multipliers of rows after an iteration, and the lists that it takes.
DUAL_UPDATES: dict[type, tuple[Any, str]] = {
    HardLinks: (update_links, TWO_LISTS),
    HardRopes: (update_ropes, ONE_LIST),
    HardDots: (update_dots, ONE_LIST),
    HardAngles: (update_angles, THREE_LISTS),
    HardSlides: (update_slides, THREE_LISTS),
    HardLengths: (update_lengths, ONE_LIST),
}
SHIFT_NUMBER = {HardLinks: 1, HardRopes: 0, HardDots: 1}  # where the shift is among the numbers of a row


class HardTerm(ListTerm):
    """Rows with multipliers in plain lists."""

    @property
    def source(self) -> TermSource:
        plain, (update, lists) = super().source, DUAL_UPDATES[type(self.block)]
        line = f"{update.__name__}(thread, threads, x, {lists}, dual_K, WIDTH)"
        imports = f"{plain.imports}\n{import_lines(update)}"
        return replace(plain, imports=imports, tables=(*plain.tables, "dual_K"), dual=(line,))

    def build(self, packs: Packs, dtype: Any) -> PackedTerm:
        built = super().build(packs, dtype)
        return built._replace(tables={**built.tables, "dual": self.dual_rows(packs)})

    def dual_rows(self, packs: Packs) -> Any:
        """What a kernel updates after an iteration."""
        return _dual_rows(self.element, self.block, packs)


def number_places(element: Element, block: Any, packs: Packs, number: int) -> np.ndarray:
    """(m, corners) where one of the numbers of each element is among the constants of each corner's list."""
    places = np.empty(block.elements.shape, np.int64)
    for own, orders in zip(incidences_of(element, block), element.lists, strict=True):
        _, entry, lane = place_in_lists(packs, own.owner)
        at = (entry * own.constants.shape[1] + number) * packs.width + lane
        places[:, [order[0] for order in orders]] = at.reshape(len(places), len(orders))
    return places


def _dual_rows(element: Element, block: Any, packs: Packs) -> DualRows:
    m = len(block.elements)
    places = number_places(element, block, packs, SHIFT_NUMBER[type(block)])
    is_rope = isinstance(block, HardRopes)
    lowest = np.where(block.compression == 0, 0.0, -np.inf) if is_rope else np.full(m, -np.inf)
    return DualRows(
        packs.row_of_vertex[block.elements],
        places,
        np.zeros(m),
        block.stiffness.copy(),
        block.lengths.copy() if is_rope else np.zeros(m),
        lowest,
        shift=np.zeros((m, 3)),
        start=np.zeros((m, 3)),
        multipliers=np.zeros((m, 3)),
        is_active=np.ones(1, bool),
    )


class HardDriveTerm(HardTerm):
    """Drives and stops of joints with multipliers."""

    def dual_rows(self, packs: Packs) -> DriveRows:
        block, m = self.block, len(self.block.elements)
        places = number_places(self.element, block, packs, 0)
        arrays = (block.stiffness, block.offset, block.rest, block.lowest, block.highest)
        numbers = [array.copy() for array in arrays]
        shifts = [np.zeros((m, 1)) for _ in range(3)]
        arrays_of_rows = (packs.row_of_vertex[block.elements], places, np.zeros(m), *numbers, *shifts, np.ones(1, bool))
        return DriveRows(*arrays_of_rows)


PATHS[PATH] = HardTerm
PATHS[HARD_PATH] = HardDriveTerm
