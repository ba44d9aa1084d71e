"""What a detector keeps from step to step, as arrays of a checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.contact.tracking.multipliers import multipliers_from
from pliant.contact.tracking.pressing import pressing_arrays, pressing_from
from pliant.contact.tracking.shortfalls import Shortfalls
from pliant.contact.tracking.side_history import SideHistory

if TYPE_CHECKING:
    from pliant.contact.detector import Detector


def detector_state(detector: Detector) -> dict[str, np.ndarray]:
    """What a later step depends on beside positions."""
    near = None if detector.spheres is None else detector.spheres.neighbours
    optional = {"no_self_contact": detector.no_self_contact, "neighbours": near}
    return {
        **detector.side_history._asdict(),
        **{f"multipliers_{name}": array for name, array in detector.multipliers._asdict().items()},
        "least_width": np.array([min(detector.least_width, np.finfo(float).max)]),
        "stored": np.array([detector.stored]),
        **pressing_arrays(detector.pressing),
        **{f"shortfall_{name}": array for name, array in detector.shortfalls._asdict().items()},
        **{name: array for name, array in optional.items() if array is not None},
    }


def load_detector_state(detector: Detector, state: dict[str, np.ndarray]) -> None:
    """Go on from what `detector_state` gave."""
    detector.side_history = SideHistory(*(state[name] for name in SideHistory._fields))
    detector.multipliers, detector.pressing = multipliers_from(state), pressing_from(state)
    detector.least_width = float(state["least_width"][0])
    detector.stored = float(state["stored"][0])
    detector.shortfalls = Shortfalls(state["shortfall_ids"], state["shortfall_values"])
    detector.no_self_contact = state.get("no_self_contact")
    if detector.spheres is not None:
        detector.spheres.neighbours = state.get("neighbours", np.zeros((0, 2), np.int32))
