"""On how many threads a function runs fastest, found by measuring its runs.

On a quiet computer that is on all cores; beside another busy program it may be fewer, because threads that wait for
each other stand still when one loses its core.  Nobody knows beforehand, and it changes.  So the number in use is
compared with another one for a few runs now and then.  Trials are paid from an account that earns 1 % of the time that
runs take, so that they cost no more than that, and one that goes badly ends at once.  On all threads it earns half as
much after each trial that confirms them, down to an eighth: other programs that come show in the runs themselves, and
a number that looks no worse is tried for nothing.  That they are gone shows in trials alone.  Timing decides only how
many threads run, never the result.
"""

from __future__ import annotations

from dataclasses import dataclass

HORIZON = 0.03  # [s] of runs that a mean is of: longer than the time slices of the system, which runs lose
BUDGET = 0.01  # part of all time that trials may cost
HALVINGS = 3  # of the budget, at most, one for each trial that confirms all threads
START = 0.02  # [s] on the account at the beginning, and at most unless a trial costs more
TRIAL_SECONDS, TRIAL_RUNS = 0.02, 3  # at least so long another number must be better
RUNS_BETWEEN = 16  # runs between trials
GAIN = 0.95  # of the time: another number that takes more than that is not better
ALARM = 0.8  # of the time: another number that took less than that before is tried at once
HOPELESS = 1.5  # times as slow: a trial ends after one run


@dataclass
class Pace:
    """Seconds per amount of work, a mean over the last runs."""

    seconds: float = 0.0
    amount: float = 0.0
    runs: int = 0

    def add(self, seconds: float, amount: float, horizon: float = float("inf")) -> None:
        """A run; what was `horizon` seconds before it counts half or less."""
        keep = 1.0 if horizon == float("inf") else horizon / (horizon + seconds)
        self.seconds, self.amount = self.seconds * keep + seconds, self.amount * keep + amount
        self.runs += 1

    @property
    def value(self) -> float:
        return self.seconds / self.amount


class ThreadChoice:
    """The number of threads for one function: `count` before a run, `record` after it."""

    def __init__(self, most: int):
        self.counts = candidates(most)
        self.paces: dict[int, Pace] = {}
        self.trial: tuple[int, Pace] | None = None  # a number that is tried
        self.account = START  # [s] that trials may cost
        self.since_trial = 0  # runs
        self.confirmed = 0  # trials in a row that were slower than the number in use
        self._is_warm = False
        self._turn = 0  # of the others to be tried
        self._settle(most)  # the number in use

    @property
    def count(self) -> int:
        """Threads for the next run."""
        return self.settled if self.trial is None else self.trial[0]

    def record(self, seconds: float, amount: float) -> None:
        """Take note of a run on `count` threads that did so much work."""
        if not self._is_warm:  # the first run loads compiled code
            self._is_warm = True
        elif amount > 0:
            if self.trial is None:
                self._watch(seconds, amount)
            else:
                self._compare(*self.trial, seconds, amount)

    def _watch(self, seconds: float, amount: float) -> None:
        """A run on the number in use; maybe try another one next. Looked at closely every RUNS_BETWEEN runs only: a run
        may take no longer than this does then.
        """
        pace = self._own
        pace.add(seconds, amount, HORIZON)
        self.since_trial += 1
        self.account += self.budget * seconds
        if self._best_other < ALARM * pace.seconds / pace.amount:
            self.trial = (min(self._others, key=self._known_value), Pace())
        elif self.since_trial % RUNS_BETWEEN == 0 or (self._is_new and pace.runs >= TRIAL_RUNS):
            self._consider(self._others[self._turn % len(self._others)], amount)

    def _consider(self, candidate: int, amount: float) -> None:
        """Try another number next, if the account allows for it."""
        cost = self._cost(candidate) * amount
        self.account = min(self.account, max(START * self.budget / BUDGET, cost))
        if self.account >= cost:
            self.trial, self._turn = (candidate, Pace()), self._turn + 1

    def _settle(self, count: int) -> None:
        """Use a number of threads, and remember what others are known to take."""
        self.settled = count
        self._own = self.paces.setdefault(count, Pace())
        self._others = [k for k in self.counts if k != count]
        self._is_new = any(k not in self.paces for k in self._others)
        self._best_other = min(map(self._known_value, self._others))
        halvings = min(self.confirmed, HALVINGS) if count == self.counts[0] else 0
        self.budget = BUDGET / 2**halvings

    def _known_value(self, count: int) -> float:
        return self.paces[count].value if count in self.paces else float("inf")

    def _cost(self, candidate: int) -> float:
        """What a run on another number of threads will lose, per amount of work: as much as last time, or else what
        cores less cost.
        """
        own = self._own.value
        if candidate in self.paces:
            return max(0.0, self.paces[candidate].value - own)
        return max(0.0, own * (self.settled / candidate - 1.0))

    def _compare(self, count: int, tried: Pace, seconds: float, amount: float) -> None:
        """A run of a trial: end it if it is slower, settle on its number of threads after enough runs."""
        own = self._own.value
        tried.add(seconds, amount)
        self.account -= max(0.0, seconds - own * amount)
        is_slow = tried.value > (HOPELESS if tried.runs == 1 else GAIN) * own
        is_long = tried.runs >= TRIAL_RUNS and tried.seconds >= TRIAL_SECONDS
        if not is_slow and not is_long:
            return
        if not is_slow:  # what the old number lost before it was noticed counts as a trial's cost
            self.account -= HORIZON * (1.0 - tried.value / own)
        self.confirmed = self.confirmed + 1 if is_slow else 0
        self.paces[count] = tried
        self.trial, self.since_trial = None, 0
        self._settle(self.settled if is_slow else count)


def candidates(most: int) -> list[int]:
    """Numbers of threads that are tried: all cores, all but one, three quarters, a half, a quarter ... one."""
    halves = [most >> k for k in range(most.bit_length())]
    return sorted({*halves, max(1, most - 1), max(1, most * 3 // 4)}, reverse=True)
