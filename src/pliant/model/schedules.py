"""Values that change with time and that files can keep: pressures, wind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.arguments import NO_NUMBER
from pliant.errors import SceneError
from pliant.model import checks
from pliant.model.motions import times_of_keys


@dataclass(frozen=True, eq=False)
class Schedule:
    """A number or a vector that passes through `values` (m,) or (m, 3) at `times` (m,) [s], in straight lines between.

        balloon.pressure = pl.Schedule(times=(0, 1), values=(0, 2000))

    Before the first and after the last time it stays; repeat: it begins again after the last.
    """

    times: ArrayLike
    values: ArrayLike
    repeat: bool = False

    def __post_init__(self) -> None:
        times = times_of_keys(self.times, self.repeat, "Schedule")
        try:
            values = np.array(self.values, dtype=float)
        except NO_NUMBER:
            values = np.empty(0)
        if values.shape not in ((len(times),), (len(times), 3)) or not np.isfinite(values).all():
            raise SceneError(f"Schedule: values are {self.values!r}: give a finite number or three for each time.")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values)

    def __call__(self, time: float) -> Any:
        """The value at a time [s]."""
        times, values = np.asarray(self.times), np.asarray(self.values)
        time = checks.real(time, "Schedule: time", "s")
        time = time % times[-1] if self.repeat else time
        if values.ndim == 1:
            return float(np.interp(time, times, values))
        return np.array([np.interp(time, times, column) for column in values.T])

    def options(self) -> dict[str, Any]:
        """Its arguments as plain numbers and lists."""
        return {"times": np.asarray(self.times).tolist(), "values": np.asarray(self.values).tolist()} | (
            {"repeat": True} if self.repeat else {}
        )
