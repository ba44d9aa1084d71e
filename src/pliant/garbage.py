"""Python looks for garbage after every 700 new objects; not so often while much is made that stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

COLLECT_AFTER = 100_000  # new objects


@contextmanager
def collected_rarely() -> Iterator[None]:
    """While kernels are compiled: each search would go through all that stays, in vain."""
    threshold = gc.get_threshold()
    if 0 < threshold[0] < COLLECT_AFTER:  # 0: somebody wants no searches at all
        gc.set_threshold(COLLECT_AFTER, *threshold[1:])
    try:
        yield
    finally:
        gc.set_threshold(*threshold)


@contextmanager
def uncollected() -> Iterator[None]:
    """While modules are imported, of which next to nothing is garbage: no searches, which take a tenth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def kept() -> Iterator[None]:
    """The same for the modules of the command, which stay until it ends: later searches leave them out.

    So do they what is garbage by then: not for use in programs of other people.
    """
    with uncollected():
        yield
        gc.freeze()
