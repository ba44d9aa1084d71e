"""One step's potential in lanes and threads: force, energy and the vector arithmetic of descent methods.

Vectors are rows (rows, 4) in the order of packs and in the solver's precision; sums are in double precision and in one
order, so that any number of threads gives the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.kernels.row_vectors import PACKS_A_SUM, scaled_sum, sums_of_products
from pliant.lanes.compiled import cached
from pliant.model import Model
from pliant.solvers.contract import Execution
from pliant.solvers.machinery.energy_noise import NOISE, typical_edge
from pliant.solvers.machinery.vbd_tables import Tables, build_tables


@dataclass
class PackedPotential:
    """G of the current step as compiled code sees it."""

    tables: Tables
    edge: float  # typical length of an element [m]
    scales: np.ndarray  # (rows, 4) 1 / diag(H) where it was last measured [m/N]
    noise: float = 0.0  # differences of energy below this are rounding [J]
    _shares: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    _sums: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)

    def begin_step(self, problem: IncrementalPotential) -> None:
        """Take up a new step."""
        self.tables.begin_step(problem)
        self.noise = 0.0

    def update_contacts(self, problem: IncrementalPotential) -> None:
        """Take up what was detected in the middle of a step."""
        self.tables.update_contacts(problem)

    def refresh(self, x: np.ndarray) -> bool:
        """Let contacts find closest points and friction limits again at x; whether there are any, so that what was
        measured before belongs to another potential.
        """
        t = self.tables
        if t.contacts is None or not t.contacts.count:
            return False
        t.team.run(t.module.refresh, x, t.vertices, *t.tables, amount=t.contacts.count)
        t.potential_number += 1
        return True

    @property
    def number(self) -> int:
        """Of the potential: contacts make another one whenever they take note of positions."""
        return self.tables.potential_number

    def rows(self) -> np.ndarray:
        """A vector of zeros."""
        return np.zeros_like(self.tables.x)

    def force(self, x: np.ndarray, out: np.ndarray) -> None:
        """-dG/dx along the directions in which vertices may move [N]."""
        t = self.tables
        t.team.run(t.module.forces, t.packs.moving_count, x, out, t.vertices, *t.tables)

    def energy(self, x: np.ndarray) -> float:
        """G [J]."""
        t = self.tables
        t.team.run(t.module.energies, x, self._shares, t.vertices, *t.tables)
        return float(np.sum(self._shares, dtype=np.float64))

    def measure_scales(self, x: np.ndarray) -> float:
        """1 / diag(H) at x, and from it how far energies can be trusted: their terms are as large as stiffness times
        length squared, however small the sum, or as the shares themselves, as those of pressure far from the origin.
        Returns G [J].
        """
        self.measure_diagonal(x)
        stiffness = float(np.sum(1.0 / self.scales[: self.moving_rows, :3], dtype=np.float64)) / 3
        energy = self.energy(x)
        terms = float(np.sum(np.abs(self._shares), dtype=np.float64))
        self.noise = NOISE * float(np.finfo(x.dtype).eps) * max(stiffness * self.edge**2, terms / np.sqrt(len(x)))
        return energy

    def measure_diagonal(self, x: np.ndarray) -> None:
        """Let scales be 1 / diag(H) at x."""
        t = self.tables
        t.team.run(t.module.inverse_diagonals, t.packs.moving_count, x, self.scales, t.vertices, *t.tables)

    def precondition(self, f: np.ndarray, out: np.ndarray) -> None:
        """f / diag(H)."""
        t = self.tables
        t.team.run(t.module.precondition, t.packs.moving_count, self.scales, f, out, t.vertices)

    def dot(self, a: np.ndarray, b: np.ndarray) -> float:
        """a . b over all vertices that move."""
        t = self.tables
        t.team.run(cached(sums_of_products), a, b, t.packs.is_wide, t.packs.width, t.packs.moving_count, self._sums)
        return float(np.sum(self._sums))

    def add(self, a: np.ndarray, s: float, b: np.ndarray, out: np.ndarray) -> None:
        """out = a + s b; fixed vertices keep what out has."""
        self.tables.team.run(cached(scaled_sum), a, s, b, out, self.moving_rows)

    def has_fallen(self, before: float, after: float, work_of_force: float, least: float = 0.0) -> bool:
        """Whether G has fallen by at least so much.

        Where the difference is lost in rounding, the work done by the mean of the forces at both ends decides: it is
        exact for quadratics and has no large terms that cancel.
        """
        drop = before - after
        return (drop if abs(drop) > self.noise else work_of_force) >= least

    @property
    def sum_count(self) -> int:
        """Partial sums of a product."""
        return len(self._sums)

    @property
    def moving_rows(self) -> int:
        """Rows of the vertices that move, padding included."""
        return self.tables.packs.moving_count * self.tables.packs.width


def pack(problem: IncrementalPotential, execution: Execution) -> PackedPotential:
    """Tables, threads and compiled code for a scene."""
    return packed_over(build_tables(problem, execution, line_search=False, psd=False, in_turn=False), problem.model)


def packed_over(tables: Tables, model: Model) -> PackedPotential:
    """The potential that a solver's own tables hold."""
    packs = tables.packs
    packed = PackedPotential(tables, typical_edge(model), np.ones_like(tables.x))
    packed._shares = np.zeros(packs.pack_count * packs.width, tables.x.dtype)
    packed._sums = np.zeros(-(-packs.moving_count // PACKS_A_SUM))
    return packed
