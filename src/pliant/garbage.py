"""Python looks for garbage after every 700 new objects; not so often while much is made that stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

COLLECT_AFTER = 100_000  # new objects


@contextmanager
def collected_rarely() -> Iterator[None]:
    """While modules are imported or kernels compiled: each search would go through all of them, in vain."""
    threshold = gc.get_threshold()
    if 0 < threshold[0] < COLLECT_AFTER:  # 0: somebody wants no searches at all
        gc.set_threshold(COLLECT_AFTER, *threshold[1:])
    try:
        yield
    finally:
        gc.set_threshold(*threshold)
