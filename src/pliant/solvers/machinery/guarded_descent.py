"""Iterations that move all vertices at once, with the step length of Wang and Yang (2016), Section 4.2."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.errors import DeviceError
from pliant.solvers.contract import Capabilities, Execution, Momentum, MomentumSolver, SweepResult
from pliant.solvers.machinery.packed import PackedPotential, pack
from pliant.solvers.machinery.vbd_tables import PackedWork, Tables

if TYPE_CHECKING:
    from pliant.solvers.machinery.device_descent import DescentOnDevice

CHECK_EVERY = 8  # iterations between looks at the energy
SHRINK = 0.7  # gamma: what the step length is multiplied by when the energy has risen
SHORTEST = 1e-4  # below it the step ends: further iterations are not worth it
TOO_SHORT = f"no further progress: the step length fell below {SHORTEST:g}"


@dataclass
class GuardedWork(PackedWork):
    """What changes while descending. `length` is handed on from step to step."""

    packed: PackedPotential
    direction: np.ndarray  # (rows, 4)
    safe: np.ndarray  # (rows, 4) positions when the energy was last seen to fall
    forces: tuple[np.ndarray, np.ndarray]  # (rows, 4) at `safe` and at x, where energies cannot tell
    length: float = SHRINK  # so that the first step begins with 1
    length_before: float = SHRINK  # at the end of the step before
    safe_energy: float = np.inf
    safe_number: int = 0  # of the potential in which that energy was measured
    since_check: int = 0
    since_refresh: int = 0
    exhausted: bool = False  # the step length has become too short
    undone: int = 0  # how often iterations were taken back
    constant_scales: np.ndarray | None = None  # (rows, 4) in place of 1 / diag(H)
    on_device: DescentOnDevice | None = None  # where iterations run, if not on the CPU

    @property
    def packed_tables(self) -> Tables:
        return self.packed.tables

    @property
    def may_undo(self) -> bool:
        return self.since_check > 0

    def state_dict(self) -> dict[str, float]:
        return {"length": self.length}

    def load_state_dict(self, state: dict[str, float]) -> None:
        self.length = state["length"]

    def result(self, done: int) -> SweepResult:
        """The result of a sweep of so many iterations."""
        return SweepResult(done, TOO_SHORT if self.exhausted else "")


def guarded_work(packed: PackedPotential) -> GuardedWork:
    return GuardedWork(packed, packed.rows(), packed.rows(), (packed.rows(), packed.rows()))


def begin_guarded(problem: IncrementalPotential, work: GuardedWork) -> None:
    """A new step starts with a longer step length than the last one ended with."""
    work.packed.begin_step(problem)
    work.length_before = work.length
    work.length = max(work.length, SHORTEST) / SHRINK
    work.since_check = work.since_refresh = 0
    work.safe_energy, work.exhausted = np.inf, False


class GuardedDescent(MomentumSolver[GuardedWork]):
    """What solvers have in common that move all vertices at once."""

    kind: ClassVar[str]  # of its kernels: "jacobi" or "blocks"
    capabilities = Capabilities("minimise", contact=True, pressure=True, momentum=True, fixed_point=True, device=True)

    def init(self, problem: IncrementalPotential, execution: Execution) -> GuardedWork:
        on_device = None
        if execution.device is not None:
            from pliant.solvers.machinery.device_descent import DescentOnDevice

            on_device = DescentOnDevice(problem, execution, self.kind)
        work = guarded_work(pack(problem, execution))
        work.on_device = on_device
        return work

    def device_source(self, problem: IncrementalPotential, precision: str = "single", language: str = "opencl") -> str:
        from pliant.solvers.machinery.device_work import scene_source

        return scene_source(problem, precision, language, descent=self.kind)

    def begin_step(self, problem: IncrementalPotential, work: GuardedWork) -> None:
        begin_guarded(problem, work)
        if work.on_device is not None:
            with _undone_if_lost(work):
                work.on_device.begin_step(problem)

    def update_contacts(self, problem: IncrementalPotential, work: GuardedWork) -> None:
        """Other contacts: the next look at the energy compares with the safe positions' under them."""
        work.packed.update_contacts(problem)
        if work.on_device is not None:
            with _undone_if_lost(work):
                work.on_device.update_contacts(problem)
        work.since_refresh = 0


def guarded_descent(
    work: GuardedWork, x: np.ndarray, n: int, kernel: Callable, refresh: int, momentum: Momentum | None
) -> SweepResult:
    """n iterations of a kernel of descent_source from x (n, 3). diag(H) is measured every `refresh` iterations.

    Every 8 iterations the energy must have fallen. If not, they are undone and repeated with a shorter step: undone
    iterations count. Contacts are refreshed every 8 iterations too.
    """
    with _undone_if_lost(work):
        return _descent(work, x, n, kernel, refresh, momentum)


def _descent(
    work: GuardedWork, x: np.ndarray, n: int, kernel: Callable, refresh: int, momentum: Momentum | None
) -> SweepResult:
    """See guarded_descent."""
    t, asked = work.packed.tables, n
    t.read(x)
    while n > 0 and not work.exhausted:
        if work.since_refresh == 0:
            work.packed.measure_scales(t.x)
            if work.on_device is not None:
                t.write(x)
                work.on_device.measure_scales(x)
        if work.since_check == 0 and not _is_safe(work):
            _undo(work, momentum)
            continue
        k = min(n, CHECK_EVERY - work.since_check, refresh - work.since_refresh)
        omegas = None if momentum is None else momentum.next(k)
        if work.on_device is None:
            _iterate(work, kernel, k, omegas)
        else:
            t.write(x)
            work.on_device.descend(x, work.length, omegas, k, t.momentum_is_fresh)
            t.read(x)
            t.momentum_is_fresh = False
        n -= k
        work.since_refresh = (work.since_refresh + k) % refresh
        work.since_check = (work.since_check + k) % CHECK_EVERY
        if work.since_check == 0 and not _has_fallen(work):
            _undo(work, momentum)
    t.write(x)
    return work.result(asked - n)


@contextmanager
def _undone_if_lost(work: GuardedWork) -> Iterator[None]:
    """A device that is lost in a step leaves what the step began with."""
    try:
        yield
    except DeviceError:
        work.length = work.length_before
        raise


def _iterate(work: GuardedWork, kernel: Callable, k: int, omegas: np.ndarray | None) -> None:
    """k iterations in lanes and threads."""
    t = work.packed.tables
    memory = (t.no_rows, t.no_rows) if omegas is None else t.momentum()
    scales = work.packed.scales if work.constant_scales is None else work.constant_scales
    factors = np.ones(k) if omegas is None else omegas
    arrays = (scales, t.x, work.direction, t.vertices, *t.tables)
    t.team.run(kernel, t.packs.moving_count, work.length, factors, *memory, *arrays, amount=k)


def _is_safe(work: GuardedWork) -> bool:
    """Keep where eight iterations begin, unless an accelerator around this solver has taken it uphill."""
    packed, x = work.packed, work.packed.tables.x
    energy = packed.energy(x)
    if np.isfinite(work.safe_energy) and not energy <= _safe_energy(work) + packed.noise:
        return False
    if packed.refresh(x):
        energy = packed.energy(x)
        if work.on_device is not None:
            work.on_device.take_up_contacts()
    work.safe[:], work.safe_energy, work.safe_number = x, energy, packed.number
    return True


def _safe_energy(work: GuardedWork) -> float:
    """Energy of the safe positions in the potential as it is now."""
    if work.safe_number != work.packed.number:
        work.safe_energy, work.safe_number = work.packed.energy(work.safe), work.packed.number
    return work.safe_energy


def _has_fallen(work: GuardedWork) -> bool:
    packed, x = work.packed, work.packed.tables.x
    after = packed.energy(x)
    _safe_energy(work)
    if not np.isfinite(after):
        return False
    if abs(work.safe_energy - after) > packed.noise:
        return after < work.safe_energy
    before, now = work.forces
    packed.force(work.safe, before)
    packed.force(x, now)
    packed.add(x, -1.0, work.safe, work.direction)
    return packed.has_fallen(
        work.safe_energy, after, 0.5 * (packed.dot(before, work.direction) + packed.dot(now, work.direction))
    )


def _undo(work: GuardedWork, momentum: Momentum | None) -> None:
    """Back to where the energy was last seen to fall, with a shorter step."""
    t = work.packed.tables
    t.x[:] = work.safe
    work.length *= SHRINK
    work.undone += 1
    work.since_refresh = 0
    work.exhausted = work.length < SHORTEST
    t.momentum_is_fresh = True
    if momentum is not None:
        momentum.restart()
