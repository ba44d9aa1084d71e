"""How lists of vertex block descent take up what tearing has changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.elements.element import Element
from pliant.elements.registry import element_of
from pliant.geometry.adjacency import elements_at
from pliant.kernels.element_lists import incidences_of
from pliant.kernels.lists import Incidences, edit_lists, rewrite_lists
from pliant.kernels.packs import Packs, inherit
from pliant.model import PlateSquares
from pliant.model.blocks import Tearing
from pliant.model.tearing import Edit
from pliant.solvers.machinery.summed_squares import update_sums


def update_lists(packs: Packs, tables: dict[str, Any], block: Any, edit: Edit, parents: np.ndarray) -> bool:
    """Take up a torn block; whether that was possible.

    Vertices numbered last are new, one for each parent. Lists of theirs and of their parents are written again; in
    others single entries change.
    """
    if block.tearing is Tearing.STAYS:
        return True
    if isinstance(block, PlateSquares):
        return update_sums(packs, tables, block, edit, parents)
    element, n = element_of(block), len(packs.row_of_vertex)
    is_split = np.zeros(n, bool)
    is_split[parents], is_split[n - len(parents) :] = True, True
    near = block.taken(elements_at(block.elements, is_split))
    varies = element.has_law and "parameters" not in tables
    moved = replace(edit.block, elements=edit.elements)
    before, after, now = (_incidences(element, elements, varies) for elements in (edit.block, moved, near))
    for k, (was, becomes, of_split) in enumerate(zip(before, after, now, strict=True)):
        lists = tables[f"list{k}"]
        own = Incidences(*(values[is_split[of_split.owner]] for values in of_split))
        if not edit_lists(packs, lists, was, becomes, ~is_split[was.owner]):
            return False
        if not rewrite_lists(packs, lists, own, np.flatnonzero(is_split)):
            return False
    if "parameters" in tables:
        inherit(packs, tables["parameters"], parents)
    return True


def _incidences(element: Element, block: Any, varies: bool) -> tuple[Incidences, ...]:
    return incidences_of(element, block, block.parameters if varies else None)
