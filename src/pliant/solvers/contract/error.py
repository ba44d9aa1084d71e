"""How far the iterations of a step are from their end: the one definition of error, for all solvers.

    error = |x - x*|_M / a,    a = max(|x - y|_M, h^2 |g|_M)

per body, |.|_M the mass-weighted root mean square over its vertices: the distance to the step's minimum x*, compared
with what all forces of the step do to the body: elastic forces and contacts move it from y to x, gravity by h^2 g. An
error of 0.01 is 1 % of those forces, left out. In long steps these do much that others undo: a is at most the motion of
the body in the step, or 0.001 of its size. The error is estimated between two bounds (decision 0025):

    seen = |D| r / (1 - r)       motion D of the last iterations and the rate r at which such motions become shorter:
                                 too small as long as slow errors hide behind fast ones
    owed = |h^2 k / m d|         motion d of the last iteration times the stiffness of vertices against inertia,
                                 which is about h^2 times the residual: too large, for H >= M / h^2

    error = seen^(1 - t) owed^t,  t = min(1/2, 3/2 r):  between both, nearer to what is seen the faster it falls

t is 1 before the eighth iteration of vertex block descent and after the first correction by levels: there is no rate
yet, and steps that are that easy owe little. Corrections by levels move much and little in turn, so that a rate may
look far too slow: there the error is what is owed at most. It is at least what is left of the motion of the body as a
whole (contract.whole_bodies), and at least the motion of the last iteration where iterations only go to and fro, as
between meeting a contact and leaving it. A solver that has the forces of all vertices at hand is judged by them:
|x - x*|_M <= h^2 |M^-1 dG/dx|_M.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.kernels.bounds import middle_of
from pliant.kernels.step_error import (
    COLUMNS,
    DISTANCE,
    MASS,
    RECENT,
    ROUNDING,
    ROWS,
    SIZE,
    SLOWEST,
    STILL,
    TINY,
    VISIBLE,
    add_ratios,
    body_errors,
    sums_and_scales,
)
from pliant.model import CARRIED, Model
from pliant.solvers.contract.marks import FEWEST, LEFT_OUT, Looks, marks
from pliant.solvers.contract.report import SolveReport, SweepResult
from pliant.solvers.contract.step_error import StepError
from pliant.solvers.contract.stiffness_ratio import bodies_of_vertices, contact_ratios, elastic_ratios
from pliant.solvers.contract.whole_bodies import WholeBodies, find_whole_bodies

if TYPE_CHECKING:
    from pliant.solvers.contract.solver import Solver

NOTHING = np.zeros(0)
CONVERGED = 0.05  # error up to which a step counts as converged, if no tolerance is given


class ErrorMeter:
    """Watches the iterations of a step, and ends them where their error is as small as asked for."""

    def __init__(self, solver: Solver[Any], problem: IncrementalPotential, precision: str):
        model = problem.model
        self.solver = solver
        self.body = bodies_of_vertices(model)
        self.precision = precision
        self.eps = float(np.finfo(np.float32 if precision == "single" else np.float64).eps)
        self.error: StepError | None = None  # of the current step, once measured
        self._gravity = np.zeros(len(model.body_names))  # [m/s^2] of each body
        self.set_gravity(model)
        self._wholes: WholeBodies | None = None  # found when first needed
        self._elastic: np.ndarray | None = None  # (bodies,) ratios without contacts, measured when first needed
        self._elastic_ratio = np.zeros(0)  # (n,) the same of vertices
        self._ratio, self._mean_ratio = np.zeros(0), np.zeros(0)  # (n,) and (bodies,) of the current step
        self._sums = np.zeros((len(model.body_names), COLUMNS))
        self._scales = np.zeros(len(model.body_names))  # [m] what forces do in the step
        self._moves, self._middle = self.body >= 0, np.zeros(3)
        self._rooms = [np.empty_like(problem.x_prev) for _ in range(3)]
        self._kept: list[tuple[int, np.ndarray]] = []  # iterations done and positions, at the last two marks
        self._marks: list[int] = []
        self._before = np.zeros(0)  # (bodies,) [m] estimated at the last mark
        self._settled = np.zeros(0)  # (bodies,) errors without what rounding takes away
        self._done, self._most, self._began, self._period = 0, 0, 0, 1
        self._by_residual = False  # each iteration from the second on is measured, by its residual
        self._touches = False  # contacts seldom let a step end early, and looking at them costs most
        self._is_bounded = False  # what iterations move bounds the error from the first ones on
        self._is_guided = False  # each look says when to look again
        self.looks = Looks()  # which those are

    def set_gravity(self, model: Model) -> None:
        """Take over the gravity that a model has now."""
        moving = np.flatnonzero(self.body >= 0)
        self._gravity[self.body[moving]] = np.linalg.norm(model.gravity[moving], axis=1)

    def begin_step(self, problem: IncrementalPotential, x: np.ndarray, n: int, work: Any) -> None:
        """Take up a step of at most n iterations from x (n, 3)."""
        self.error, self._done, self._most, self._ratio = None, 0, n, NOTHING
        self._work, self._touches = work, problem.contacts is not None and problem.contacts.count > 0
        if work.measures_error:
            return
        self._begin(x, work)
        middle_of(x, self._moves, self._middle)

    def _begin(self, x: np.ndarray, work: Any) -> None:
        """Forget what was seen of other iterations; those of one kind begin at x (n, 3)."""
        self._period, self._began, self._kept, self._before = self.solver.period(work), self._done, [], NOTHING
        is_watched = self.solver.asked_tolerance is not None
        self._by_residual = is_watched and self.solver.has_residual(work)
        self._is_bounded = is_watched and not self._touches and self.solver.moves_bound_error(work)
        self._is_guided = self._is_bounded and self._period == 1
        left = self._most - self._done
        if self._by_residual:
            found: Iterable[int] = range(min(2, left), left + 1)
        elif self._is_guided:
            found = self.looks.begin(left, is_new=self._began == 0)
        else:
            found = marks(left, self._period, is_watched)
        self._marks = [self._done + mark for mark in found]
        self._keep(x)

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: Any, n: int) -> SweepResult:
        """n iterations of the solver, measured on their way; fewer where a tolerance is met."""
        if work.measures_error:
            result = self.solver.sweep(problem, x, work, n)
            self.error = work.measured_error()
            return result
        began, end, result = self._done, self._done + n, SweepResult(0)
        while self._done < end and not result.ended:
            mark = next((m for m in self._marks if m > self._done), end)
            is_measured = mark <= end and self._is_measured_at(mark)
            if is_measured and self._has_last(mark):
                result = self._iterate(problem, x, work, mark - 1)
                self._last[:] = x
            if not result.ended:
                result = self._iterate(problem, x, work, min(mark, end))
            if result.ended:
                self.error = None  # the solver's own end is judged by its residual
            elif self._done == mark and is_measured:
                result = self._look(problem, x, work)
            elif self._done == mark:
                self._go_on(x)
        return result._replace(iterations=self._done - began)

    def write(self, problem: IncrementalPotential, x: np.ndarray, last: SweepResult, report: SolveReport) -> None:
        """Write the error at the end of a step, x (n, 3), to its report."""
        if last.ended and self.error is None:
            with np.errstate(over="ignore", invalid="ignore"):
                self.error = self.bound(problem, x)
        if self.error is not None:
            report.error = self.error.largest
            report.body_errors = dict(zip(problem.model.body_names, self.error.bodies.tolist(), strict=True))

    def is_converged(self, report: SolveReport) -> bool:
        """Whether the error of a report is as small as asked for, by default 5 %."""
        tolerance = self.solver.asked_tolerance
        return bool(report.error <= (CONVERGED if tolerance is None else tolerance))

    def torn(self, problem: IncrementalPotential) -> ErrorMeter:
        """One for the same bodies after they have torn; how stiff they are stays as it was measured."""
        new = ErrorMeter(self.solver, problem, self.precision)
        new._elastic, new.looks = self._elastic, self.looks
        return new

    @property
    def stiffness_ratios(self) -> list[float] | None:
        """How stiff bodies were when it was measured: what a step that goes on with the same bits has to know."""
        return None if self._elastic is None else self._elastic.tolist()

    @stiffness_ratios.setter
    def stiffness_ratios(self, ratios: list[float] | None) -> None:
        kept = None if ratios is None else np.array(ratios, dtype=float)
        if kept is not None and kept.shape != self._scales.shape:
            raise ValueError(f"stiffness_ratios are {kept.shape[0]} numbers, but there are {len(self._scales)} bodies")
        self._elastic, self._elastic_ratio = kept, np.zeros(0)

    @property
    def _last(self) -> np.ndarray:
        """(n, 3) before the last iteration."""
        return self._rooms[2]

    def _iterate(self, problem: IncrementalPotential, x: np.ndarray, work: Any, until: int) -> SweepResult:
        n = until - self._done
        if n == 0:
            return SweepResult(0)
        result = self.solver.sweep(problem, x, work, n)
        self._done += result.iterations
        return result if result.iterations == n or result.ended else result._replace(ended="no further progress")

    def _look(self, problem: IncrementalPotential, x: np.ndarray, work: Any) -> SweepResult:
        """Measure at a mark, and let the solver adapt."""
        tolerance, is_early = self.solver.asked_tolerance, self._is_early
        self.error = error = self._measured(problem, x, work)
        if self._is_guided and tolerance is not None:
            self.looks.note(self._done, error, tolerance)
        if tolerance is not None and error.largest <= tolerance:
            met = f"converged: error {error.largest:.2g} of the step's forces is at most {tolerance:g}"
            return SweepResult(0, met, converged=True)
        if not is_early and self.solver.adapt(problem, work, error, self._done):
            self._begin(x, work)
            return SweepResult(0)
        if tolerance is not None and not is_early and self._is_rounding(error, tolerance, work):
            return SweepResult(0, "no further progress: what is left rounds away in positions")
        self._go_on(x)
        return SweepResult(0)

    def _go_on(self, x: np.ndarray) -> None:
        """Keep positions x (n, 3) at a mark; where each look says when to look again, find the next one."""
        self._keep(x)
        if self._is_guided and self._done == self._marks[-1] < self._most:
            window = self.looks.next_window(self._done - self._began, self.error, self.solver.asked_tolerance)
            self._marks.append(min(self._done + window, self._most))

    def _measured(self, problem: IncrementalPotential, x: np.ndarray, work: Any) -> StepError:
        """The error at a mark. How far whole bodies are is asked only where it would end the step."""
        if self.solver.has_residual(work):
            with np.errstate(over="ignore", invalid="ignore"):  # a step that breaks down is reported as such
                return self.bound(problem, x)
        error = self.estimate(problem, x, self.solver.is_blind_to_rounding(work))
        if self._period == 1 and not self._touches:
            return error
        if self._wholes is None:
            self._wholes = find_whole_bodies(problem, self.body)
        if self._wholes.touch(problem) and error.largest <= (self.solver.asked_tolerance or CONVERGED):
            error = self._with_whole_bodies(problem, x, error)
        if self._period == 1:
            return error
        self._settled = error.bodies
        if not error.touching.any():
            return error
        lost = self._wholes.lost(error.rounding, error.touching)
        return replace(error, bodies=np.maximum(error.bodies, lost), lost=lost, _largest=None)

    def _with_whole_bodies(self, problem: IncrementalPotential, x: np.ndarray, error: StepError) -> StepError:
        """At least how far whole bodies are. What vertices owe bounds that too."""
        assert self._wholes is not None
        bound = (error.owed + error.rounding)[self._wholes.bodies].max(initial=0.0)
        if self._period == 1 and bound <= (self.solver.asked_tolerance or CONVERGED):
            return error
        left = self._wholes.distances(problem, x, len(self._sums))
        if not left.any():
            return error
        whole = self._relative(left)
        slow = SLOWEST ** (1 / max(self._done - self._kept[-1][0], 1))
        rates = np.where(whole > error.bodies, np.maximum(error.rates, slow), error.rates)
        return replace(error, bodies=np.maximum(error.bodies, whole), rates=rates, _largest=None)

    def _is_rounding(self, error: StepError, tolerance: float, work: Any) -> bool:
        """Whether all bodies above a tolerance have moved by less than positions round to since the last mark, where
        that, or the force it makes of it, is more than the tolerance: a light body under heavy ones, whose poses are
        exact. Between corrections by levels, whether all but what rounding takes away has been done. Solvers that are
        judged by residuals tell themselves when those round away.
        """
        if self._period > 1:
            return bool(self._settled.max(initial=0.0) <= tolerance)
        has_own_end = self.solver.is_blind_to_rounding(work) or self.solver.has_residual(work)
        if has_own_end or not self.solver.supports.local:
            return False
        rounding, above = self.eps * self._root_mean_squares(SIZE), error.bodies > tolerance
        hidden = np.maximum(error.rounding, self._relative(rounding)) > tolerance
        return bool((hidden & (self._root_mean_squares(RECENT) <= STILL * rounding))[above].all())

    def _is_measured_at(self, mark: int) -> bool:
        """Whether the error is measured at the next mark, after so many iterations; if not, positions are kept."""
        if self._by_residual:
            return True
        if mark - self._began < self._work.blind_iterations:
            return False
        if self.solver.asked_tolerance is None:
            return self._has_windows and mark == self._marks[-1]
        if self._is_guided:
            is_skipped = self.looks.is_far and mark - self._began < FEWEST and mark < self._most
            return len(self._kept) == 2 and not is_skipped
        return self._has_windows or self._is_bounded

    def _has_last(self, mark: int) -> bool:
        """Whether positions before the last iteration are kept: odd windows show as well what goes to and fro, but
        what is owed early is a matter of the last iteration alone.
        """
        window = mark - self._kept[-1][0]
        return not self._is_guided or window % 2 == 0 or (window > 1 and mark - self._began < FEWEST)

    @property
    def _is_early(self) -> bool:
        """Whether the rate of the iterations does not show yet, so that only what is owed counts."""
        if not self._is_bounded or self._done == self._most:
            return False
        return self._done - self._began < FEWEST if self._is_guided else len(self._kept) < 2

    @property
    def _has_windows(self) -> bool:
        """Whether two windows are there. The first iterations move far and would let a rate look better than it is,
        except where they are few, or begin with a correction by levels.
        """
        first = self._kept[0][0] if len(self._kept) == 2 else self._began
        return len(self._kept) == 2 and (first > self._began or self._period > 1 or self._most < FEWEST)

    def _keep(self, x: np.ndarray) -> None:
        room = self._rooms[len(self._kept)] if len(self._kept) < 2 else self._kept[0][1]
        room[:] = x
        self._kept = [*self._kept[-1:], (self._done, room)]

    def estimate(self, problem: IncrementalPotential, x: np.ndarray, is_blind: bool = False) -> StepError:
        """The error at x (n, 3), from the last two windows; is_blind: what rounding hides counts as error."""
        (first, earlier), (second, before) = self._kept[0], self._kept[-1]
        windows = max(second - first, 1), self._done - second
        last = self._last if self._has_last(self._done) else before
        is_early = self._is_early
        owing = last if is_early or self._period > 1 else before
        self._measure_ratios(problem, x)
        is_first = first - self._began < (LEFT_OUT if self._is_guided else 1)
        weight = 1.0 if is_early else 0.5 if is_first else 0.0
        is_bounded, is_alone = self.solver.moves_bound_error(self._work), self._is_bounded and self._period == 1
        of_solver = self.solver.supports.local, is_bounded, is_blind, is_alone
        arrays = (self.body, problem.model.mass, self._ratio, self._middle, x, before, earlier, owing, last)
        step = (problem.y, problem.x_prev, problem.h**2 * self._gravity, self.eps, self._sums, self._scales)
        found = np.empty((ROWS, len(self._sums)))
        told = (self._mean_ratio, self._before, windows, self._period, weight, *of_solver, found)
        largest = body_errors(*arrays, *step, *told)
        self._before = NOTHING if is_early else found[DISTANCE]
        error, lower, upper, rates, shifts, noise, _ = found
        return StepError(error, lower, upper, rates, shifts, *self._ratios_of_bodies(), noise, _largest=largest)

    def bound(self, problem: IncrementalPotential, x: np.ndarray) -> StepError:
        """An upper bound at x (n, 3) where iterations have ended: H >= M / h^2, so |x - x*|_M <= h^2 |M^-1 dG/dx|_M."""
        self._measure_ratios(problem, x)
        arrays = (self.body, problem.model.mass, self._ratio, self._middle, x, x, x, x, x, problem.y, problem.x_prev)
        is_of_forces = True  # what is compared with forces is made of them too: long steps count as they are
        sums_and_scales(*arrays, problem.h**2 * self._gravity, self.eps, is_of_forces, self._sums, self._scales)
        problem = self.solver.with_multipliers(problem, self._work)
        g = problem.project(problem.with_contacts_at(x).gradient(x))
        moves = (self.body >= 0) & (problem.model.subspace != CARRIED)
        squares = np.sum(g[moves] ** 2, axis=1) / problem.model.mass[moves]
        total = np.bincount(self.body[moves], squares, len(self._sums)).astype(float)
        carried = problem.model.carried
        if carried is not None:
            owners = self.body[carried.points[carried.start[:-1]]]
            total[owners[owners >= 0]] += problem.rigid_squares(g)[owners >= 0]
        length = problem.h**2 * np.sqrt(total / np.maximum(self._sums[:, MASS], TINY))
        error = self._relative(length)
        nothing = np.zeros(len(error))
        return StepError(error, error, error, nothing, nothing, *self._ratios_of_bodies(), nothing)

    def rounding_at_start(self, problem: IncrementalPotential) -> np.ndarray:
        """(bodies,) what rounding in single precision makes of the forces of a step that has not begun, by elements,
        compared with gravity, or with visible motion where other forces act or steps are long; 0 where nothing acts.
        """
        x, moves, count, middle = problem.x_prev, self._moves, len(self._sums), np.zeros(3)
        middle_of(x, moves, middle)
        mass, body = problem.model.mass[moves], self.body[moves]
        squares = np.bincount(body, mass * np.sum((x[moves] - middle) ** 2, axis=1), count)
        size = np.sqrt(squares / np.maximum(np.bincount(body, mass, count), TINY))
        lengths = ROUNDING * np.finfo(np.float32).eps * size * self._measure_elastic(problem)
        fall, has_forces = problem.h**2 * self._gravity, len(problem.model.forces) > 0
        fall = np.where((fall > size) | ((fall == 0) & has_forces), VISIBLE * size, fall)
        return np.divide(lengths, fall, out=np.zeros(count), where=(fall > 0) & np.isfinite(lengths))

    def _measure_elastic(self, problem: IncrementalPotential) -> np.ndarray:
        """(bodies,) h^2 k / m, without contacts, measured once."""
        if self._elastic is None:
            with np.errstate(over="ignore", invalid="ignore"):  # of tets without volume they may not be finite
                self._elastic = 1 + elastic_ratios(problem, problem.x_prev, self.body)
        return self._elastic

    def _ratios_of_bodies(self) -> tuple[np.ndarray, np.ndarray]:
        """Of elements, and what contacts add."""
        assert self._elastic is not None
        return self._elastic, np.maximum(self._mean_ratio - self._elastic, 0.0)

    def _root_mean_squares(self, column: int) -> np.ndarray:
        """(bodies,) [m] of a column of the sums."""
        return np.sqrt(self._sums[:, column] / np.maximum(self._sums[:, MASS], TINY))

    def _relative(self, length: np.ndarray) -> np.ndarray:
        """A length [m] of each body compared with what forces do to it in the step; 0 where nothing acts or moves."""
        return np.divide(length, self._scales, out=np.zeros(len(length)), where=self._scales > 0)

    def _measure_ratios(self, problem: IncrementalPotential, x: np.ndarray) -> None:
        """h^2 k / m of vertices, and its mean over bodies; contacts as they are when a step is first measured."""
        if len(self._ratio):
            return
        elastic = self._measure_elastic(problem)
        if not len(self._elastic_ratio):
            self._elastic_ratio = np.where(self._moves, elastic[self.body], 0.0)
        self._ratio, self._mean_ratio = self._elastic_ratio, elastic
        touching = contact_ratios(problem, x, self.body)
        if touching is not None:
            self._ratio, self._mean_ratio = np.empty(len(touching)), np.empty(len(elastic))
            add_ratios(self.body, problem.model.mass, self._elastic_ratio, touching, self._ratio, self._mean_ratio)
