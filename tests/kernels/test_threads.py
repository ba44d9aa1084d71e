"""A team meets at its barrier: each phase sees all that was written in the phase before."""

import gc
import signal
import sys
import threading
import time
from itertools import pairwise

import numpy as np
import pytest
from numba import njit

from pliant.kernels.thread_choice import ThreadChoice
from pliant.kernels.threads import WORTH_WAKING, Team, barrier_wait, next_part, share

PHASES, CELLS = 300, 23


@njit(nogil=True)
def mix(thread, threads, barrier, boards):
    """Cell i of phase p is made of all cells of phase p - 1, so that one stale read changes everything after it."""
    arrivals = 0
    for p in range(1, len(boards)):
        first, last = share(0, boards.shape[1], thread, threads)
        for i in range(first, last):
            total = 0
            for j in range(boards.shape[1]):
                total += (i + 2 * j + 1) * boards[p - 1, j]
            boards[p, i] = total % 1000003
        arrivals += threads
        barrier_wait(barrier, arrivals)


@njit(nogil=True)
def take_parts(thread, threads, barrier, takers):
    """Take one part after another, until there are none left."""
    part = next_part(barrier)
    while part < len(takers):
        takers[part] += 1
        part = next_part(barrier)


@njit(nogil=True)
def fill(thread, threads, barrier, out):
    """Write the number of the thread and of the team."""
    out[thread, 0] = thread
    out[thread, 1] = threads


@njit(nogil=True)
def come_late(thread, threads, barrier, rounds, out):
    """All wait for the last thread, which has much to do."""
    value = out[thread]
    if thread == threads - 1:
        for _ in range(rounds):
            value = value * 6364136223846793005 + 1442695040888963407
    out[thread] = value
    barrier_wait(barrier, threads)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_phases_see_all_of_the_last(threads: int) -> None:
    """The boards equal those of plain NumPy, three times over with the same team."""
    expected = np.zeros((PHASES, CELLS), np.int64)
    expected[0] = np.arange(CELLS)
    weights = np.arange(CELLS)[:, None] + 2 * np.arange(CELLS)[None] + 1
    for p in range(1, PHASES):
        expected[p] = weights @ expected[p - 1] % 1000003
    team = Team(threads)
    for _ in range(3):
        boards = np.zeros((PHASES, CELLS), np.int64)
        boards[0] = np.arange(CELLS)
        team.run(mix, boards)
        np.testing.assert_array_equal(boards, expected)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no futex: threads give up their time slices")
def test_who_waits_long_sleeps() -> None:
    """A thread that waits for another uses no core meanwhile, which somebody else may need."""
    team, out, rounds = Team(3), np.zeros(3, np.int64), 100_000_000
    team.run(come_late, 0, out)
    waited = used = 0.0
    while waited < 0.1:  # whatever the speed of the machine
        rounds *= 2
        began, cpu = time.perf_counter(), time.thread_time()
        team.run(come_late, rounds, out)
        waited, used = time.perf_counter() - began, time.thread_time() - cpu
    assert used < 0.25 * waited


def count_threads(thread, threads, barrier, seen):
    """Write down on how many threads this runs."""
    if thread == 0:
        seen.append(threads)


def test_an_adaptive_team_asks_for_the_number_of_each_function(monkeypatch) -> None:
    """Shares fit the number of threads of the run, and the amount of work is that after it."""
    team, numbers, recorded = Team(3, adaptive=True), iter([3, 1, 2, 1]), []
    monkeypatch.setattr(ThreadChoice, "count", property(lambda self: next(numbers)))
    monkeypatch.setattr(ThreadChoice, "record", lambda self, seconds, amount: recorded.append(amount))
    seen: list = []
    for _ in range(3):
        team.run(count_threads, seen, amount=7.0)
    team.run(
        lambda thread, threads, barrier, own, seen: seen.append(own),
        seen,
        amount=lambda: 10.0 * len(seen),
        shares=lambda threads: f"share of {threads}",
    )
    assert seen == [3, 1, 2, "share of 1"]
    assert recorded == [7.0, 7.0, 7.0, 40.0]


def test_a_team_of_a_given_number_measures_nothing(monkeypatch) -> None:
    monkeypatch.setattr(ThreadChoice, "__init__", lambda self, most: pytest.fail("a choice was made"))
    seen: list = []
    for team in (Team(2), Team(1, adaptive=True)):
        team.run(count_threads, seen)
    assert seen == [2, 1]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_thread_runs_once(threads: int) -> None:
    """Threads are numbered 0 ... n - 1."""
    out = np.full((threads, 2), -1)
    Team(threads).run(fill, out)
    np.testing.assert_array_equal(out, [[t, threads] for t in range(threads)])


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize(("first", "last"), [(0, 0), (3, 4), (2, 12), (5, 105)])
def test_shares_cover_everything_once(threads: int, first: int, last: int) -> None:
    """Neighbouring shares touch, the sizes differ by at most one."""
    shares = [share(first, last, t, threads) for t in range(threads)]
    assert shares[0][0] == first
    assert shares[-1][1] == last
    assert all(one[1] == other[0] for one, other in pairwise(shares))
    sizes = [b - a for a, b in shares]
    assert max(sizes) - min(sizes) <= 1


def test_error_of_a_thread_comes_out() -> None:
    """What a worker raises is raised by run."""

    def fail(thread, threads, barrier):
        if thread == 1:
            raise RuntimeError("thread 1")

    with pytest.raises(RuntimeError, match="thread 1"):
        Team(2).run(fail)


def test_parts_are_taken_once() -> None:
    """Whoever is free takes the next part: all are taken, none twice."""
    takers = np.zeros(100_000, np.int64)
    Team(3).run(take_parts, takers)
    assert (takers == 1).all()


@pytest.mark.parametrize(("nanoseconds", "threads"), [(0.5 * WORTH_WAKING, 1), (2 * WORTH_WAKING, 3)])
def test_little_work_wakes_nobody(nanoseconds: float, threads: int) -> None:
    out = np.full((3, 2), -1)
    Team(3).run_for(nanoseconds, fill, out)
    np.testing.assert_array_equal(out[:threads], [[t, threads] for t in range(threads)])
    assert (out[threads:] == -1).all()


def test_a_team_goes_on_after_an_error() -> None:
    """Also after one of the caller's own thread: the others are waited for."""

    def fail(thread, threads, barrier, who):
        if thread == who:
            raise RuntimeError(f"thread {who}")

    team = Team(3)
    for who in (0, 2):
        with pytest.raises(RuntimeError, match=f"thread {who}"):
            team.run(fail, who)
        out = np.full((3, 2), -1)
        team.run(fill, out)
        np.testing.assert_array_equal(out[:, 0], [0, 1, 2])


def test_threads_end_with_their_team() -> None:
    """A thousand simulations do not leave a thousand threads."""
    before = set(threading.enumerate())
    teams = [Team(3) for _ in range(5)]
    for team in teams:
        team.run(fill, np.empty((3, 2)))
    workers = set(threading.enumerate()) - before
    assert len(workers) == 10
    del team, teams
    gc.collect()
    for worker in workers:
        worker.join(10.0)
    assert not any(worker.is_alive() for worker in workers)


def test_ctrl_c_does_not_leave_a_task_behind() -> None:
    """A worker writes to the caller's arrays: run ends with the interrupt, but only when the worker is done."""
    ended = []

    def slow(thread, threads, barrier):
        if thread == 1:
            time.sleep(0.3)
            ended.append(thread)

    timer = threading.Timer(0.1, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        Team(2).run(slow)
    timer.join()
    assert ended == [1]
