"""How to compute."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.errors import SolverError
from pliant.lanes.host import core_count


@dataclass(frozen=True)
class Execution:
    """How to compute: precision of the lanes ("single" or "double") and number of threads."""

    precision: str = "single"
    threads: int = 0  # 0: as many as pay off, at most the cores this process may use

    def __post_init__(self) -> None:
        if self.precision not in ("single", "double"):
            raise SolverError(f"precision is {self.precision!r}: it must be 'single' or 'double'.")

    def thread_count(self, work_items: int, items_a_thread: int) -> int:
        """Threads for so much work: more than pay off would only wait for each other. The result does not depend on
        it.
        """
        return self.threads or max(1, min(core_count(), work_items // items_a_thread))
