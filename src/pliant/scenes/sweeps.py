"""Many runs of one scene with different values: the grid, the jobs in processes of their own, and the table.

A job is `pliant run` in a folder of its own, so that one that crashes or is killed harms no other. What a finished job
reported is in its folder; a sweep that is started again goes on with those that have not finished.
"""

from __future__ import annotations

import csv
import json
import math
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from pliant.errors import FileError, SceneError

MOST_JOBS = 100_000
TRIES = 3  # of a job whose process is killed
REPORT = "report.json"  # of a finished job
KILLED = {"status": "killed"}
#: What the table tells of a run, from the report of `pliant run --json`.
COLUMNS = ("frames", "time", "seconds", "real_time_factor", "iterations", "residual", "contacts", "deepest_contact",
           "energy_start", "energy_end")  # fmt: skip


@dataclass(frozen=True)
class Varied:
    """A key of the scene and the texts of its values, as --set takes them."""

    key: str
    values: tuple[str, ...]


def varied(text: str) -> Varied:
    """KEY=a,b,c or KEY=a..b:n (n numbers, evenly spaced) or KEY=a..b:n:log (evenly spaced in the logarithm)."""
    key, equals, values = text.partition("=")
    if not equals or not key.strip() or not values.strip():
        raise SceneError(f"--vary {text}: give KEY=1,2,3 or KEY=FIRST..LAST:COUNT, such as contact.friction=0.1,0.3.")
    found = _range(text, values) if ".." in values else _listed(values)
    if not all(found) or len(set(found)) < len(found):
        raise SceneError(f"--vary {text}: a value is missing or comes twice; give different values.")
    return Varied(key.strip(), found)


def _listed(values: str) -> tuple[str, ...]:
    """Values between commas; those within brackets and quotes belong to a value."""
    parts, depth, quote = [""], 0, ""
    for letter in values:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        else:
            depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    return tuple(part.strip() for part in parts)


def _range(text: str, values: str) -> tuple[str, ...]:
    ends, _, rest = values.partition(":")
    first_text, _, last_text = ends.partition("..")
    count_text, _, spacing = rest.partition(":")
    try:
        first, last, count = float(first_text), float(last_text), int(count_text)
    except ValueError:
        first, last, count = math.nan, math.nan, 0
    if not (math.isfinite(first) and math.isfinite(last) and 2 <= count <= MOST_JOBS) or spacing not in ("", "log"):
        raise SceneError(f"--vary {text}: give FIRST..LAST:COUNT with a COUNT of at least 2, and :log after it or not.")
    if spacing == "log" and (first <= 0 or last <= 0):
        raise SceneError(f"--vary {text}: with :log, both ends must be above zero.")
    shares = [k / (count - 1) for k in range(count)]
    if spacing == "log":
        return tuple(f"{first * (last / first) ** share:.10g}" for share in shares)
    return tuple(f"{first + (last - first) * share:.10g}" for share in shares)


@dataclass
class Sweep:
    """All combinations of the varied values. options: further arguments of `pliant run`."""

    scene: str
    grid: Sequence[Varied]
    folder: Path
    options: Sequence[str] = ()
    _processes: set[subprocess.Popen] = field(default_factory=set, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _is_stopping: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        keys = [one.key for one in self.grid]
        if not keys or len(set(keys)) < len(keys):
            raise SceneError("sweep: vary at least one key, and each key once.")
        if self.count > MOST_JOBS:
            raise SceneError(f"sweep: these are {self.count} runs; give fewer values, at most {MOST_JOBS} runs.")

    @property
    def count(self) -> int:
        """How many runs there are."""
        return math.prod(len(one.values) for one in self.grid)

    @property
    def jobs(self) -> list[tuple[str, ...]]:
        """The values of each run."""
        return list(product(*(one.values for one in self.grid)))

    def folder_of(self, job: int) -> Path:
        """Of a run by its number."""
        return self.folder / f"run-{job:05d}"

    def keep(self) -> None:
        """Write what is swept into the folder; refuse a folder of another sweep."""
        path = self.folder / "sweep.json"
        about = {"scene": self.scene, "vary": [[one.key, list(one.values)] for one in self.grid]}
        about["options"] = list(self.options)
        if path.exists():
            try:
                same = json.loads(path.read_text()) == about
            except (OSError, ValueError):
                same = False
            if not same:
                raise FileError(f"{path}: this folder holds another sweep; choose another with --out.")
        path.write_text(json.dumps(about, indent=2) + "\n")

    def run(self, workers: int, done: Callable[[int, dict[str, Any]], None]) -> None:
        """Run all jobs that have not finished, so many at a time; `done` is told the number and report of each."""
        try:
            with ThreadPoolExecutor(workers) as pool:
                futures = {pool.submit(self._run_job, job): job for job in self.waiting()}
                try:
                    for future in as_completed(futures):
                        done(futures[future], future.result())
                except BaseException:
                    self._stop()
                    raise
        finally:
            self.write_table()

    def waiting(self) -> list[int]:
        """Jobs that have not finished."""
        return [job for job in range(self.count) if self.report_of(job) is None]

    def report_of(self, job: int) -> dict[str, Any] | None:
        """What a finished job reported."""
        try:
            report = json.loads((self.folder_of(job) / REPORT).read_text())
        except (OSError, ValueError):
            return None
        return report if isinstance(report, dict) else None

    def command(self, job: int) -> list[str]:
        """Arguments of Python that run a job."""
        settings = [f"{one.key}={value}" for one, value in zip(self.grid, self.jobs[job], strict=True)]
        words = ["-m", "pliant", "run", self.scene, "--out", str(self.folder_of(job)), "--json"]
        return words + [word for setting in settings for word in ("--set", setting)] + list(self.options)

    def finish(self, job: int, code: int, said: str, error: str) -> dict[str, Any]:
        """Keep what a process that ended by itself reports; a job that Pliant refuses reports the error."""
        report = _report(code, said, error)
        self.folder_of(job).mkdir(parents=True, exist_ok=True)
        temporary = self.folder_of(job) / f"{REPORT}.tmp"
        temporary.write_text(json.dumps(report))
        os.replace(temporary, self.folder_of(job) / REPORT)
        return report

    def _run_job(self, job: int) -> dict[str, Any]:
        """Run a job to its end, again if its process is killed."""
        for _ in range(TRIES):
            code, said, error = self._process([sys.executable, *self.command(job)])
            if self._is_stopping:
                return {"status": "stopped"}
            if code >= 0:
                return self.finish(job, code, said, error)
        return KILLED  # again and again: it may have more memory next time

    def _process(self, command: list[str]) -> tuple[int, str, str]:
        with self._lock:
            if self._is_stopping:
                return -1, "", ""
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self._processes.add(process)
        said, error = process.communicate()
        with self._lock:
            self._processes.discard(process)
        return process.returncode, said, error

    def _stop(self) -> None:
        with self._lock:
            self._is_stopping = True
            for process in self._processes:
                process.terminate()

    def columns(self) -> list[str]:
        """Names of the table's columns."""
        return ["run", *(one.key for one in self.grid), "status", *COLUMNS, "warnings", "error"]

    def rows(self) -> Iterator[list[Any]]:
        """A row per run: its number, its values and what it reported."""
        for job, values in enumerate(self.jobs):
            report = self.report_of(job) or {"status": "missing"}
            numbers = [report.get(name) for name in COLUMNS]
            warned = len(report.get("warnings") or [])
            yield [job, *values, report["status"], *numbers, warned, report.get("error", "")]

    def write_table(self) -> Path:
        """results.csv, whole or not at all."""
        path = self.folder / "results.csv"
        temporary = path.with_suffix(".tmp")
        with temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(self.columns())
            writer.writerows(self.rows())
        os.replace(temporary, path)
        return path


def _report(code: int, said: str, error: str) -> dict[str, Any]:
    """What a process that ended by itself has to say."""
    try:
        report = json.loads(said) if code == 0 else None
    except ValueError:
        report = None
    if not isinstance(report, dict):
        lines = [line for line in error.strip().splitlines() if line.startswith("Error: ")] or error.splitlines()[-1:]
        return {"status": "failed", "error": " ".join(lines).removeprefix("Error: ") or f"it ended with code {code}"}
    return {**report, "status": "done"}
