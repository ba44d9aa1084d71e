"""What every solver is: a frozen dataclass of options, with methods that a time loop calls by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import Any, Generic, Self, TypeVar

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.errors import DeviceError, SolverError
from pliant.model import Model
from pliant.model.tearing import TopologyChange
from pliant.solvers.contract.capabilities import Capabilities
from pliant.solvers.contract.checks import check_tolerance
from pliant.solvers.contract.error import StepError
from pliant.solvers.contract.execution import Execution
from pliant.solvers.contract.momentum import Momentum
from pliant.solvers.contract.report import RESIDUAL, SweepResult
from pliant.solvers.contract.work import Work

W = TypeVar("W", bound=Work)


@dataclass(frozen=True)
class Solver(ABC, Generic[W]):
    """A frozen dataclass of options, each with a default. All that changes is in its work object, a W.

    tolerance: iterations of a step end early where its error is at most this part of the step's forces, in every body
        (contract.error), such as 0.01. None: all iterations are done.

    `init` is called once, `begin_step` at the start of every step, then `sweep`; where contacts are detected again
    within a step, `update_contacts` comes between two sweeps. When a mesh has torn, `update_topology` comes after the
    step.
    """

    tolerance: float | None = field(default=None, kw_only=True)

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """What its class does and supports at most: a class attribute, capabilities = Capabilities("minimise", ...)."""

    @property
    @abstractmethod
    def iterations(self) -> int:
        """Iterations per step. A field of the dataclass."""

    @property
    def start(self) -> str:
        """Where iterations begin, one of kernels.predict.STARTS (VBD 3.7). A field, or a class attribute."""
        return "adaptive"

    @abstractmethod
    def init(self, problem: IncrementalPotential, execution: Execution) -> W:
        """Build what does not change from step to step: orderings, tables, factorisations, compiled code."""

    def begin_step(self, problem: IncrementalPotential, work: W) -> None:
        """Load a new step: its target, its previous positions, its contacts."""

    @abstractmethod
    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: W, n: int = 1) -> SweepResult:
        """Improve x (n, 3) [m] in place by n iterations, in one compiled call where there is one.

        n sweeps of one iteration give the same bits as one of n. The result holds how many iterations were done and,
        if it is pointless to go on, why.
        """

    def device_source(self, problem: IncrementalPotential, precision: str = "single", language: str = "opencl") -> str:
        """The C text of its iterations on a device, which needs none; language: "opencl" or "cuda"."""
        raise DeviceError(f"{type(self).__name__} does not run on an OpenCL device.")

    def update_contacts(self, problem: IncrementalPotential, work: W) -> None:
        """Load contacts that were detected within a step. Without a copy of them there is nothing to do."""

    def measure_residual(self, problem: IncrementalPotential, x: np.ndarray, work: W) -> float:
        """How far x (n, 3) [m] is from solving the step, as `residual_definition` of its class says."""
        return problem.with_contacts_at(x).residual(x)

    def with_multipliers(self, problem: IncrementalPotential, work: W) -> IncrementalPotential:
        """The step as its elements pull in it: with the multipliers that rows have, if it has any."""
        return problem

    @property
    def residual_definition(self) -> str:
        """What `measure_residual` measures. A class attribute where it differs."""
        return RESIDUAL

    def update_topology(self, problem: IncrementalPotential, work: W, change: TopologyChange) -> bool:
        """Take up a scene that has torn. False: it cannot, and `init` builds a new work object."""
        return False

    def adapt(self, problem: IncrementalPotential, work: W, error: StepError, done: int) -> bool:
        """Learn the error after `done` iterations of a step, where it is measured and larger than asked for. True:
        other iterations go on from there.
        """
        return False

    def is_blind_to_rounding(self, work: W) -> bool:
        """Whether forces that round away while vertices are moved one by one are lost to it."""
        return self.supports.local

    def moves_bound_error(self, work: W) -> bool:
        """Whether an iteration moves each vertex as far as its forces ask, by positions alone: what it moves times the
        stiffness of vertices against inertia then bounds the error from the first iterations on.
        """
        return False

    def has_residual(self, work: W) -> bool:
        """Whether an iteration costs so much more than the forces of all vertices that these tell its error."""
        return False

    def holds_infinite(self, model: Model) -> bool:
        """Whether joints, attachments and springs of infinite stiffness do not give way in a model."""
        return self.supports.hard_constraints

    def period(self, work: W) -> int:
        """Iterations after which the same is done again, as between two corrections."""
        return 1

    @property
    def asked_tolerance(self) -> float | None:
        """Its tolerance, or that of the solver it wraps: a part of the forces of a step."""
        if self.tolerance is None and self.wrapped is not None:
            return self.wrapped.asked_tolerance
        return self.tolerance

    @property
    def supports(self) -> Capabilities:
        """What this object supports: its class's capabilities, less what its options or a wrapped solver rule out."""
        return self.capabilities

    @property
    def wrapped(self) -> Solver[Any] | None:
        """The solver that an accelerator wraps; None for any other."""
        return None

    def options(self) -> dict[str, Any]:
        """The fields of the dataclass by name."""
        return {option.name: vars(self)[option.name] for option in fields(self)}

    def with_iterations(self, n: int) -> Self:
        """The same solver with n iterations per step."""
        return type(self)(**{**self.options(), "iterations": n})


class MomentumSolver(Solver[W]):
    """A solver whose iterations can be carried on by momentum (VBD, Equation 18), as Chebyshev does."""

    @abstractmethod
    def sweep(
        self, problem: IncrementalPotential, x: np.ndarray, work: W, n: int = 1, momentum: Momentum | None = None
    ) -> SweepResult:
        """n iterations; with momentum, each is carried on by the next of its factors."""


def check_solver(value: Any, what: str) -> None:
    """An object of a class of solvers."""
    if isinstance(value, type):
        raise SolverError(
            f"{what} is the class {value.__name__}: give an object of it, such as {value.__name__}(iterations=20)."
        )
    if not isinstance(value, Solver):
        raise SolverError(f"{what} is {value!r}: give a solver such as pl.VBD(iterations=20), derived from pl.Solver.")
    check_tolerance(value.tolerance, f"{type(value).__name__}: tolerance")
