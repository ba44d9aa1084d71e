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
from pliant.kernels.hard_drives import DriveRows
from pliant.kernels.hard_rows import DualRows
from pliant.kernels.lists import place_in_lists
from pliant.kernels.packs import Packs
from pliant.kernels.term_source import TermSource
from pliant.solvers.machinery.vbd_terms import PATHS, ListTerm, PackedTerm

DUAL_LINES: dict[type, str] = {
    HardLinks: "update_links(thread, threads, x, list0_K, list1_K, dual_K, WIDTH)",
    HardRopes: "update_ropes(thread, threads, x, list0_K, dual_K, WIDTH)",
    HardDots: "update_dots(thread, threads, x, list0_K, dual_K, WIDTH)",
}
DRIVE_LINES: dict[type, str] = {
    HardAngles: "update_angles(thread, threads, x, list0_K, list1_K, list2_K, dual_K, WIDTH)",
    HardSlides: "update_slides(thread, threads, x, list0_K, list1_K, list2_K, dual_K, WIDTH)",
    HardLengths: "update_lengths(thread, threads, x, list0_K, dual_K, WIDTH)",
}
SHIFT_NUMBER = {HardLinks: 1, HardRopes: 0, HardDots: 1}  # where the shift is among the numbers of a row


class HardTerm(ListTerm):
    """Rows with multipliers in plain lists."""

    dual_lines = DUAL_LINES
    module = "hard_rows"

    @property
    def source(self) -> TermSource:
        plain, line = super().source, self.dual_lines[type(self.block)]
        name = line.split("(")[0]
        imports = f"{plain.imports}\nfrom pliant.kernels.{self.module} import {name}"
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

    dual_lines = DRIVE_LINES
    module = "hard_drives"

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
