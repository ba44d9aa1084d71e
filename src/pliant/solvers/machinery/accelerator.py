"""What parts that wrap a solver have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.errors import SolverError
from pliant.solvers.contract.checks import check_solver
from pliant.solvers.contract.loop import Execution
from pliant.solvers.machinery.packed import PackedPotential, packed_over
from pliant.solvers.machinery.vbd_tables import Tables


@dataclass
class AroundWork:
    """What a part keeps, with what the wrapped solver keeps."""

    inner: Any

    @property
    def singular_blocks(self) -> int:
        return getattr(self.inner, "singular_blocks", 0)

    @property
    def nbytes(self) -> int:
        return self.inner.nbytes


@dataclass(frozen=True)
class Around:
    """A part around a solver: it minimises, iterates and starts as the solver does."""

    solver: Any

    @property
    def minimises(self) -> bool:
        return self.solver.minimises

    @property
    def iterations(self) -> int:
        return self.solver.iterations

    @property
    def start(self) -> str:
        return self.solver.start


@dataclass
class WrapperWork(AroundWork):
    packed: PackedPotential  # over the wrapped solver's own tables

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint must keep."""
        return self.inner.state_dict() if hasattr(self.inner, "state_dict") else {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        if state:
            self.inner.load_state_dict(state)

    @property
    def undone(self) -> int:
        """How often the wrapped solver has gone back to an earlier state."""
        return getattr(self.inner, "undone", 0)

    def energy(self, x: np.ndarray) -> float:
        """G at positions (n, 3) [J]."""
        self.packed.tables.read(x)
        return self.packed.energy(self.packed.tables.x)

    def energy_at_start(self, x: np.ndarray) -> float:
        """G where an iteration starts, after contacts have taken note of it."""
        self.packed.tables.read(x)
        self.packed.refresh(self.packed.tables.x)
        return self.packed.energy(self.packed.tables.x)


@dataclass(frozen=True)
class Wrapper(Around):
    """A part around a solver whose iteration depends on positions alone."""

    supports = ("contact", "pressure")  # not what elements remember: an iteration that is not taken would be remembered

    def __post_init__(self) -> None:
        name = type(self).__name__
        check_solver(self.solver, f"{name}: solver")
        if not getattr(self.solver, "is_fixed_point", False):
            raise SolverError(
                f"{name} cannot wrap {type(self.solver).__name__}: it needs a solver whose iterations depend on "
                "positions alone, such as VBD, BlockJacobi, GradientDescent or ProjectiveDynamics."
            )

    def update_contacts(self, problem: IncrementalPotential, work: Any) -> None:
        """Hand on what was detected in the middle of a step, and forget iterations without it."""
        self.solver.update_contacts(problem, work.inner)
        self.forget(work)

    def forget(self, work: Any) -> None:
        """Forget the iterations so far; parts with a memory do."""

    def init_inner(self, problem: IncrementalPotential, execution: Execution) -> tuple[Any, PackedPotential]:
        inner = self.solver.init(problem, execution)
        return inner, packed_over(inner if isinstance(inner, Tables) else inner.tables, problem.model)

    def iterate_inner(self, problem: IncrementalPotential, x: np.ndarray, work: WrapperWork) -> np.ndarray:
        """Where one iteration of the wrapped solver leads from x."""
        moved = x.copy()
        self.solver.sweep(problem, moved, work.inner, 1)
        return moved
