"""How to compute."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.arguments import is_one_of
from pliant.device.opencl import OpenCL
from pliant.errors import SolverError
from pliant.kernels.threads import Team
from pliant.lanes.host import core_count


@dataclass(frozen=True)
class Execution:
    """How to compute: precision of the lanes ("single" or "double"), number of threads, and a device other than the
    CPU.
    """

    precision: str = "single"
    threads: int = 0  # exactly so many; 0: as many as are fastest, at most the cores this process may use
    device: OpenCL | None = None  # None: the CPU

    def __post_init__(self) -> None:
        if not is_one_of(self.precision, ("single", "double")):
            raise SolverError(f"precision is {self.precision!r}: it must be 'single' or 'double'.")

    def team(self, work_items: int | None = None, items_a_thread: int = 1, is_steady: bool = False) -> Team:
        """Threads for so much work: exactly as many as were asked for, or at most as many as pay off, of which those
        run that are fastest beside what else the computer does.  The result does not depend on it. is_steady: see Team.
        """
        if self.threads:
            return Team(self.threads, is_steady=is_steady)
        most = core_count() if work_items is None else min(core_count(), work_items // items_a_thread)
        return Team(max(1, most), adaptive=True, is_steady=is_steady)
