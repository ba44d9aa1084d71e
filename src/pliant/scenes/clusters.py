"""Sweeps on a Dask cluster (extra `dask`): its workers run the jobs, each in a process of its own.

Workers need Pliant and see the sweep's folder under the same name. A job whose worker dies is given to another; the
process that the dead worker had started ends with it, so that no two write into one folder.
"""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from pliant.errors import PliantError
from pliant.scenes.sweeps import KILLED, TRIES, Sweep

CONNECT_SECONDS = 20.0
DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


def run_on_cluster(sweep: Sweep, address: str, done: Callable[[int, dict[str, Any]], None]) -> None:
    """Run all jobs that have not finished on the workers of a scheduler, such as tcp://head:8786; `done` is told the
    number and report of each.
    """
    distributed = _distributed()
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise PliantError(
            f"--cluster {address}: no scheduler answers ({error}). Start one with `dask scheduler`, workers with "
            "`dask worker ADDRESS`, and give its address."
        ) from None
    with client:
        if not client.scheduler_info()["workers"]:
            raise PliantError(f"--cluster {address}: the scheduler has no workers; start some with `dask worker`.")
        futures = {client.submit(run_here, sweep.command(job), pure=False): job for job in sweep.waiting()}
        try:
            _collect(distributed, client, sweep, futures, done)
        finally:
            client.cancel(list(futures))
            sweep.write_table()


def _collect(
    distributed: Any, client: Any, sweep: Sweep, futures: dict[Any, int], done: Callable[[int, dict[str, Any]], None]
) -> None:
    """Keep what runs report as they end; what was killed is run again."""
    tries = dict.fromkeys(futures.values(), 1)
    running = distributed.as_completed(list(futures), loop=client.loop)
    for future in running:
        job = futures[future]
        try:
            code, said, error = future.result()
        except distributed.KilledWorker:  # it took more workers with it than the scheduler allows
            code, said, error = -signal.SIGKILL, "", ""
        if code >= 0:
            done(job, sweep.finish(job, code, said, error))
        elif tries[job] < TRIES:
            tries[job] += 1
            again = client.submit(run_here, sweep.command(job), pure=False)
            futures[again] = job
            running.add(again)
        else:
            done(job, KILLED)


def run_here(arguments: list[str]) -> tuple[int, str, str]:
    """On a worker: run Python with arguments; its exit code, negative if it was killed, and what it said."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_die_with_parent if sys.platform == "linux" else None,
    )
    said, error = process.communicate()
    return process.returncode, said, error


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise PliantError('Sweeps on a cluster need the package distributed: pip install "pliant[dask]".') from None
    return distributed
