"""Elements in packs of `width`, for solvers that correct one element after another.

Elements of one colour share no vertex, so the lanes of a pack, and the packs of a colour, can be corrected at the same
time.  A pack that is not full repeats its last element: the same numbers are computed and written twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.kernels.strip_packs import StripPacks


class ElementPacks(NamedTuple):
    """Which element is where."""

    width: int
    element: np.ndarray  # (packs, width) number of the element
    is_first: np.ndarray  # (packs, width) False where a lane repeats another
    colour_start: np.ndarray  # (colours + 1,) first pack of each colour

    @property
    def pack_count(self) -> int:
        return len(self.element)

    @property
    def order(self) -> tuple[np.ndarray, ...]:
        """By which a kernel finds its way."""
        return (self.colour_start,)


def pack_elements(colours: np.ndarray, place: np.ndarray, width: int) -> ElementPacks:
    """Sort elements into packs: colours (m,), none below 0; place (m,): position along a curve through space."""
    walk = np.lexsort((place, colours))
    sizes = np.bincount(colours)
    packs_of_colour = -(-sizes // width)
    colour_start = np.concatenate([[0], np.cumsum(packs_of_colour)])
    first_element = np.concatenate([[0], np.cumsum(sizes)])
    slot = np.arange(colour_start[-1] * width)
    colour = np.repeat(np.arange(len(sizes)), packs_of_colour * width)
    rank = slot - colour_start[colour] * width
    element = walk[first_element[colour] + np.minimum(rank, sizes[colour] - 1)]
    return ElementPacks(width, element.reshape(-1, width), (rank < sizes[colour]).reshape(-1, width), colour_start)


def corner_starts(packs: ElementPacks, elements: np.ndarray, row_of_vertex: np.ndarray) -> np.ndarray:
    """Where the rows (of four numbers) of the corners of elements (m, k) begin, flat (packs, k, width)."""
    starts = 4 * row_of_vertex[elements][packs.element]  # (packs, width, k)
    return np.ascontiguousarray(starts.transpose(0, 2, 1), np.uint32).reshape(-1)


def spread_over_packs(packs: ElementPacks | StripPacks, values: np.ndarray, dtype) -> np.ndarray:
    """Numbers of elements (m, k) as flat (packs, k, width)."""
    return np.ascontiguousarray(values[packs.element].transpose(0, 2, 1), dtype).reshape(-1)
