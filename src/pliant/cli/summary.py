"""What a person judges a run by when it is done."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pliant.help_links import entry_of, link
from pliant.simulate import Simulation


@dataclass
class RunSummary:
    """Watches a run: whether steps converge, how deep contacts are, how the energy changes, what Pliant warns of."""

    simulation: Simulation
    deepest: float = 0.0  # [m] of all contacts at the ends of steps
    deepest_at: float = 0.0  # [s]
    steps: int = 0  # whose error was measured
    unconverged: int = 0  # of them
    largest_error: float = 0.0  # compared with the step's forces
    worst_body: str = ""  # that had it
    warnings: Counter[str] = field(default_factory=Counter)  # texts, and how often each came
    _first_of: dict[str, str] = field(default_factory=dict)  # the text of each kind of warning that came first
    _links: dict[str, str] = field(default_factory=dict)  # where the manual explains a text

    def __post_init__(self) -> None:
        self.began = self.simulation.time
        self.first_energy = self.simulation.energies()["total"]

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Take note of all steps and warnings within."""
        handler, logger = _Collector(self), logging.getLogger("pliant")
        self.simulation.observers.append(self._observe)
        logger.addHandler(handler)
        try:
            yield
        finally:
            logger.removeHandler(handler)
            self.simulation.observers.remove(self._observe)

    def _observe(self, state: Any, report: Any) -> None:
        if report.contact is not None and report.contact.deepest > self.deepest:
            self.deepest, self.deepest_at = report.contact.deepest, state.step * self.simulation.h
        if report.error >= 0:  # nan where it was not measured
            self.steps, self.unconverged = self.steps + 1, self.unconverged + (not report.converged)
            if report.error >= self.largest_error:
                self.largest_error = report.error
                self.worst_body = max(report.body_errors, key=report.body_errors.__getitem__)

    def warn(self, kind: str, text: str, entry: str = "") -> None:
        """Take note of a warning; of one kind, the first text stands for all. entry: its section of the manual."""
        first = self._first_of.setdefault(kind, text)
        self.warnings[first] += 1
        self._links[first] = link(entry) if entry else ""

    def numbers(self, seconds: float) -> dict[str, Any]:
        """For scripts, after so many seconds of work."""
        return {
            "real_time_factor": (self.simulation.time - self.began) / seconds,
            "converged": self.unconverged == 0 if self.steps else None,
            "unconverged_steps": self.unconverged,
            "largest_error": self.largest_error if self.steps else None,
            "deepest_contact": self.deepest if self.simulation.model.contact is not None else None,
            "energy_start": self.first_energy,
            "energy_end": self.simulation.energies()["total"],
            "warnings": [
                {"text": text, "count": count, "link": self._links[text]} for text, count in self.warnings.items()
            ],
        }

    def lines(self, seconds: float) -> list[str]:
        """For people."""
        about = self.numbers(seconds)
        lines = [f"Real-time factor: {about['real_time_factor']:.2g} simulated seconds per second."]
        if self.steps:
            worst = f"the largest error of a step is {100 * self.largest_error:.2g} % of its forces ({self.worst_body})"
            few = f"Not converged in {self.unconverged} of {self.steps} steps"
            lines.append(f"{few if self.unconverged else 'Converged'}: {worst}.")
        if about["deepest_contact"] is not None:
            where = f" at t = {self.deepest_at:.3f} s" if self.deepest else ""
            lines.append(f"Deepest contact: {1e3 * self.deepest:.3g} mm{where}.")
        first, last = about["energy_start"], about["energy_end"]
        lines.append(f"Energy: {first:.4g} J at the start, {last:.4g} J at the end ({last - first:+.3g} J).")
        for warning in about["warnings"]:
            often = f" ({warning['count']} times)" if warning["count"] > 1 else ""
            see = f" See {warning['link']}." if warning["link"] else ""
            lines.append(f"Warning{often}: {warning['text']}{see}")
        return lines


class _Collector(logging.Handler):
    """Hands warnings to a summary."""

    def __init__(self, summary: RunSummary):
        super().__init__(logging.WARNING)
        self._summary = summary

    def emit(self, record: logging.LogRecord) -> None:
        self._summary.warn(str(record.msg), record.getMessage(), entry_of(record))
