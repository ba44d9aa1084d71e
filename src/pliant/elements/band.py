"""Elastic bands along edges of a sheet: ropes whose rest lengths shrink from those of the edges to the band's own.

    E = k/2 (l - l_0(t))^2 where l > l_0;   l_0(t) = l_b + (l_e - l_b) max(0, 1 - t / T)

with the length l_b of the band and l_e of the edge at rest, and k = F / l_b: F [N] is the force at twice that length.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pliant.elements.block import Block, Invariance
from pliant.elements.spring import SPRING
from pliant.elements.stitch import remaining


@dataclass(frozen=True)
class Bands(Block):
    """Edges (m, 2) of bands."""

    energy_name = "band"
    invariance = Invariance.RIGID
    changes_in_time = True

    lengths: np.ndarray  # (m,) l_0 now [m]
    stiffness: np.ndarray  # (m,) k [N/m]
    compression: np.ndarray  # (m,) zero: bands only pull
    last: np.ndarray  # (m,) l_b [m]
    excess: np.ndarray  # (m,) l_e - l_b [m]
    seconds: np.ndarray  # (m,) T [s]; 0: tight from the start

    def at(self, time: float) -> Self:
        return replace(self, lengths=self.last + self.excess * remaining(self.seconds, time))


BAND = replace(SPRING, block=Bands, name="bands", changes=True)
