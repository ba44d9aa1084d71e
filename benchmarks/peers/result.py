"""What a run of another simulator gives back, and the one way all of them are timed."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

FEW, MANY = 5, 20  # iterations a step at the two ends of the timed line; MANY is a multiple of FEW


@dataclass(frozen=True)
class PeerResult:
    """Outcome of a peer's run on the common scene.

    name: the peer and its version.
    threads: threads the peer may use for its sweeps (`note` says how many cores were really busy).
    positions: (n, 3) [m], after all steps, in the order of the input points.
    milliseconds_per_iteration: cost of one sweep over all free vertices; NaN if not timed.
    milliseconds_per_step_fixed: cost of a step that does not grow with iterations; NaN if not timed.
        A small difference of large times: noise of about an iteration, of either sign. Not clipped.
    n_iterations: iterations of each step that led to `positions`.
    note: precision, colours, busy cores, spread of the times: what a reader of the table must know.
    """

    name: str
    threads: int
    positions: np.ndarray
    milliseconds_per_iteration: float
    milliseconds_per_step_fixed: float
    n_iterations: int
    note: str


@dataclass(frozen=True)
class Timing:
    """Line through the time of a step over its iterations [ms], and how far to trust it."""

    per_iteration: float = np.nan
    fixed: float = np.nan
    busy_cores: float = np.nan
    spread: float = np.nan  # slowest / fastest repeat - 1, of the same work

    def __str__(self):
        if np.isnan(self.per_iteration):
            return "not timed"
        return f"{self.busy_cores:.2f} cores busy, repeats spread by {self.spread:.0%}"


def best_line(results: list[PeerResult]) -> float:
    """Milliseconds an iteration from several rounds: the slope between the fastest steps of FEW and of MANY iterations.

    The lowest of the rounds' own slopes would favour a round in which only the steps of FEW were disturbed.
    """
    few, many = (
        min(r.milliseconds_per_step_fixed + k * r.milliseconds_per_iteration for r in results) for k in (FEW, MANY)
    )
    return (many - few) / (MANY - FEW)


def lumped_masses(points, tets, density):
    """Vertex masses [kg] and tet volumes [m^3]; a vertex gets a quarter of every tet around it.

    Raises ValueError on a tet that is flat or inside out: a peer would drop it or change its sign.
    """
    volumes = np.linalg.det(points[tets[:, 1:]] - points[tets[:, :1]]) / 6
    if (bad := np.flatnonzero(volumes <= 0)).size:
        raise ValueError(f"tet {bad[0]} has volume {volumes[bad[0]]:g} m^3 ({bad.size} such): turn it over")
    return np.bincount(tets.ravel(), np.repeat(density * volumes / 4, 4), len(points)), volumes


def time_iterations(reset: Callable[[], None], step: Callable[[int], None], repeats: int) -> Timing:
    """Time of one iteration as the slope between steps of FEW and of MANY iterations; no repeats: NaN.

    `reset()` goes back to the start and is not timed; `step(k)` makes one step of k iterations. One step of
    MANY is set against MANY / FEW steps of FEW: equal windows, so that best-of-repeats favours neither end.
    (With a shorter window for FEW a noisy machine gave large negative fixed costs, hence too steep a slope.)
    """
    if not repeats:
        return Timing()
    steps_of = {FEW: MANY // FEW, MANY: 1}
    wall, cpu = {FEW: [], MANY: []}, {FEW: [], MANY: []}
    reset()
    step(1)  # compiles, starts threads
    for _ in range(repeats):
        for count, n_steps in steps_of.items():
            seconds = np.zeros(2)
            for _ in range(n_steps):
                reset()
                begin = np.array([time.perf_counter(), time.process_time()])
                step(count)
                seconds += np.array([time.perf_counter(), time.process_time()]) - begin
            wall[count].append(seconds[0])
            cpu[count].append(seconds[1])
    few, many = min(wall[FEW]) / steps_of[FEW], min(wall[MANY])
    slope = (many - few) / (MANY - FEW)
    return Timing(
        per_iteration=slope * 1e3,
        fixed=(few - FEW * slope) * 1e3,
        busy_cores=sum(cpu[MANY]) / sum(wall[MANY]),
        spread=max(wall[MANY]) / min(wall[MANY]) - 1,
    )
