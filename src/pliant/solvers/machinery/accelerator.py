"""What accelerators have in common: they wrap a solver, and iterate and start as it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.errors import SolverError
from pliant.solvers.contract import Capabilities, Execution, Solver, SweepResult, Work, check_solver
from pliant.solvers.machinery.packed import PackedPotential, pack, packed_over
from pliant.solvers.machinery.vbd_tables import PackedWork


@dataclass
class AcceleratorWork(Work):
    """What an accelerator keeps, with what the wrapped solver keeps."""

    inner: Any

    @property
    def singular_blocks(self) -> int:
        return self.inner.singular_blocks

    @property
    def undone(self) -> int:
        """How often the wrapped solver has gone back to an earlier state."""
        return self.inner.undone

    @property
    def may_undo(self) -> bool:
        return self.inner.may_undo

    def load_early(self, pose: Callable[[], IncrementalPotential]) -> None:
        self.inner.load_early(pose)

    def state_dict(self) -> dict[str, Any]:
        return self.inner.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.inner.load_state_dict(state)


A = TypeVar("A", bound=AcceleratorWork)


@dataclass(frozen=True)
class Accelerator(Solver[A], Generic[A]):
    """Wraps a solver. Its class declares what it could pass on; it supports of that what the solver supports."""

    solver: Solver[Any]

    @property
    def supports(self) -> Capabilities:
        return self.capabilities.around(self.solver.supports)

    @property
    def wrapped(self) -> Solver[Any]:
        return self.solver

    @property
    def iterations(self) -> int:
        return self.solver.iterations

    @property
    def start(self) -> str:
        return self.solver.start

    def device_source(self, problem: IncrementalPotential, precision: str = "single", language: str = "opencl") -> str:
        return self.wrapped.device_source(problem, precision, language)

    def with_iterations(self, n: int) -> Any:
        return type(self)(**{**self.options(), "solver": self.solver.with_iterations(n)})


@dataclass(frozen=True)
class FixedPointAccelerator(Accelerator[A], Generic[A]):
    """Wraps a solver whose iteration depends on positions alone.

    Internal states of elements are not supported: those of an iteration that is not accepted would be kept.
    """

    capabilities = Capabilities("minimise", contact=True, pressure=True)

    def __post_init__(self) -> None:
        name = type(self).__name__
        check_solver(self.solver, f"{name}: solver")
        if not self.solver.supports.fixed_point:
            raise SolverError(
                f"{name} cannot wrap {type(self.solver).__name__}: it needs a solver whose iterations depend on "
                "positions alone, such as VBD, BlockJacobi, GradientDescent or ProjectiveDynamics."
            )

    def begin_step(self, problem: IncrementalPotential, work: A) -> None:
        self.solver.begin_step(problem, work.inner)
        self.forget(work)

    def update_contacts(self, problem: IncrementalPotential, work: A) -> None:
        """Hand on contacts that were detected within a step, and forget iterations without them."""
        self.solver.update_contacts(problem, work.inner)
        self.forget(work)

    def forget(self, work: A) -> None:
        """Forget the iterations so far, where they are kept."""

    def iterate_inner(self, problem: IncrementalPotential, x: np.ndarray, work: A) -> tuple[np.ndarray, SweepResult]:
        """Positions (n, 3) [m] after one iteration of the wrapped solver from x, and its result."""
        moved = x.copy()
        return moved, self.solver.sweep(problem, moved, work.inner, 1)


@dataclass
class EnergyWork(AcceleratorWork):
    """With a way to measure energies: over the wrapped solver's own tables, where it has them."""

    packed: PackedPotential
    is_own: bool  # the tables are not the wrapped solver's

    def energy(self, x: np.ndarray) -> float:
        """G at positions (n, 3) [J]."""
        self.packed.tables.read(x)
        return self.packed.energy(self.packed.tables.x)

    def energy_at_start(self, x: np.ndarray) -> float:
        """G where an iteration starts, after contacts were refreshed there; its rounding is measured once per step."""
        rows = self.packed.tables
        rows.read(x)
        self.packed.refresh(rows.x)
        return self.packed.measure_scales(rows.x) if self.packed.noise == 0.0 else self.packed.energy(rows.x)


E = TypeVar("E", bound=EnergyWork)


@dataclass(frozen=True)
class EnergyAccelerator(FixedPointAccelerator[E], Generic[E]):
    """Wraps a solver and accepts only positions whose energy does not rise."""

    def begin_step(self, problem: IncrementalPotential, work: E) -> None:
        super().begin_step(problem, work)
        if work.is_own:
            work.packed.begin_step(problem)
        work.packed.noise = 0.0

    def update_contacts(self, problem: IncrementalPotential, work: E) -> None:
        super().update_contacts(problem, work)
        if work.is_own:
            work.packed.update_contacts(problem)

    def init_inner(self, problem: IncrementalPotential, execution: Execution) -> tuple[Work, PackedPotential, bool]:
        """The wrapped solver's work object, the potential in lanes, and whether that has tables of its own."""
        inner = self.solver.init(problem, execution)
        if isinstance(inner, PackedWork):
            return inner, packed_over(inner.packed_tables, problem.model), False
        return inner, pack(problem, execution), True
