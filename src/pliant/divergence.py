"""What to say when a step gives no finite positions."""

from __future__ import annotations

import numpy as np

from pliant.model import Model


def diagnose_divergence(model: Model, x: np.ndarray, v: np.ndarray, time: float) -> str:
    """A sentence on the step that began at a time [s] and led to positions x and velocities v (n, 3)."""
    broken = np.flatnonzero(~(np.abs(v) < 1e300).all(axis=1))
    first = int(broken[0])
    return (
        f"the step from t = {time:g} s gave no finite position for {len(broken)} of {model.n_vertices} "
        f"vertices, first {model.describe_vertex(first)}: {x[first].tolist()}. The state before it "
        "is kept. Try more substeps, line_search=True, or a softer or StableNeoHookean material."
    )
