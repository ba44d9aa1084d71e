"""The number of threads follows the time that runs take: on a made-up computer, whose times are known."""

from collections.abc import Callable

import numpy as np
import pytest

from pliant.kernels.thread_choice import BUDGET, HORIZON, START, ThreadChoice, candidates

Machine = Callable[[int, float], float]  # seconds of a run on so many threads, at a time [s]


def simulated(choice: ThreadChoice, machine: Machine, seconds: float, now: float = 0.0) -> tuple[float, int, list[int]]:
    """The time at the end, the number of runs, and the threads of each."""
    end, counts = now + seconds, []
    while now < end:
        counts.append(choice.count)
        taken = machine(choice.count, now)
        choice.record(taken, 1.0)
        now += taken
    return now, len(counts), counts


def quiet(seconds: float = 1e-3, noise: float = 0.0, seed: int = 0) -> Machine:
    """Threads help by 90 % of a core each."""
    random = np.random.default_rng(seed)
    return lambda count, now: seconds / (0.1 + 0.9 * count) * (1 + noise * random.exponential())


def crowded(seconds: float = 1e-3, slice_seconds: float = 3e-3, seed: int = 0) -> Machine:
    """Beside another program one thread is as fast as ever; two lose a time slice in one of four runs."""
    random = np.random.default_rng(seed)

    def machine(count: int, now: float) -> float:
        lost = slice_seconds * (random.uniform() < 0.25) if count > 1 else 0.0
        return quiet(seconds)(count, now) + lost

    return machine


@pytest.mark.parametrize("seconds", [1e-4, 1e-3, 1e-2, 0.3])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_a_quiet_computer_loses_little(seconds: float, noise: float) -> None:
    """At most 3 % more time than on all threads always, over a thousand runs, noisy or not."""
    machine, choice = quiet(seconds, noise, seed=1), ThreadChoice(2)
    now, runs, counts = simulated(choice, machine, 1000 * machine(2, 0.0))
    twin = quiet(seconds, noise, seed=2)
    always = sum(twin(2, 0.0) for _ in range(runs))
    assert now <= 1.03 * always + 0.02
    assert choice.settled == 2
    assert counts.count(1) >= 1  # or nothing would ever be noticed


@pytest.mark.parametrize("seconds", [1e-4, 1e-3, 1e-2])
def test_a_computer_that_stays_quiet_loses_less_and_less(seconds: float) -> None:
    """An eighth of a percent, once three trials have confirmed all threads."""
    machine, choice = quiet(seconds), ThreadChoice(2)
    budgets = [BUDGET / 2**k for k in range(4)]
    now, seen = 0.0, []
    while choice.confirmed < 4:
        seen.append(choice.budget)
        now, _, _ = simulated(choice, machine, machine(2, 0.0), now)
    assert sorted(set(seen), reverse=True) == budgets
    span = 20_000 * machine(2, 0.0)
    end, runs, _ = simulated(choice, machine, span, now)
    saved = START * budgets[-1] / BUDGET
    assert end - now <= (1.0 + 1.1 * budgets[-1]) * runs * machine(2, 0.0) + saved


def test_trials_are_as_frequent_as_ever_on_fewer_threads() -> None:
    """Nothing else shows that other programs have ended."""
    choice = ThreadChoice(2)
    now, _, _ = simulated(choice, quiet(1e-3), 20.0)
    assert choice.budget < BUDGET
    simulated(choice, crowded(1e-3), 5.0, now)
    assert choice.settled == 1
    assert choice.budget == BUDGET


def test_a_hiccup_does_not_change_the_number() -> None:
    """A run that lost one time slice, twice a second."""
    choice = ThreadChoice(2)
    hiccups = iter(np.arange(0.3, 100.0, 0.5))
    due = next(hiccups)

    def machine(count: int, now: float) -> float:
        nonlocal due
        lost = 0.0
        if now >= due:
            due, lost = next(hiccups), 4e-3
        return quiet(1e-3)(count, now) + lost

    _, runs, counts = simulated(choice, machine, 5.0)
    assert counts.count(1) < 0.03 * runs


@pytest.mark.parametrize("seconds", [3e-4, 1e-3, 1e-2, 5e-2])
def test_a_busy_computer_is_noticed_and_left_again(seconds: float) -> None:
    """Quiet, crowded, quiet: each time soon the better number, at most 1.3 times the time of the best in between."""
    choice = ThreadChoice(2)
    now, _, _ = simulated(choice, quiet(seconds), max(2.0, 200 * seconds))
    assert choice.settled == 2
    slow = crowded(seconds, 10 * seconds + 3e-3)
    before = now
    now, runs, counts = simulated(choice, slow, max(5.0, 300 * seconds), now)
    one = quiet(seconds)(1, now)
    assert (now - before) / runs < 1.3 * one
    assert np.mean(np.array(counts[runs // 4 :]) == 1) > 0.9
    now, runs, counts = simulated(choice, quiet(seconds), max(30.0, 2000 * seconds), now)
    assert np.mean(np.array(counts[runs // 2 :]) == 2) > 0.9


def test_a_function_that_two_threads_slow_down_runs_on_one() -> None:
    """Waking another thread costs more than a short run."""
    choice = ThreadChoice(2)
    _, runs, counts = simulated(choice, lambda count, now: 2e-5 + 8e-5 * (count > 1), 1.0)
    assert counts.count(2) < 0.05 * runs


def test_many_cores_of_which_one_is_taken() -> None:
    """All but one is found, and is better than all and than a half."""

    def machine(count: int, now: float) -> float:
        return 1e-2 / count + (5e-3 if count == 16 else 0.0)

    choice = ThreadChoice(16)
    simulated(choice, machine, 30.0)
    assert choice.settled == 15


def test_times_are_compared_per_amount_of_work() -> None:
    """Runs of one iteration and of twenty, in turn, do not look like a computer that gets slower and faster."""
    choice, random = ThreadChoice(2), np.random.default_rng(0)
    counts = []
    for _ in range(5000):
        amount = float(random.choice([1.0, 20.0]))
        counts.append(choice.count)
        choice.record(amount * quiet(1e-4)(choice.count, 0.0), amount)
    assert counts.count(1) < 0.03 * len(counts)


def test_the_first_run_does_not_count() -> None:
    """It loads compiled code, or waits for it to be compiled."""
    choice = ThreadChoice(2)
    choice.record(60.0, 1.0)
    assert not choice.paces[2].runs
    choice.record(1e-3, 1.0)
    assert choice.paces[2].value == 1e-3


def test_candidates() -> None:
    assert candidates(2) == [2, 1]
    assert candidates(3) == [3, 2, 1]
    assert candidates(16) == [16, 15, 12, 8, 4, 2, 1]
    assert HORIZON > 3e-3  # a time slice of the system
