"""Kernels that come with a wheel: machine code of the common scenes, for levels of x86-64 that many CPUs share.

A wheel holds a folder pliant/compiled/LEVEL/FINGERPRINT (written by tools/build_wheel.py).  It is used if the CPU
has all features of the level and the fingerprint, of sources and versions, is that of this process.  A source checkout
has none.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pliant.lanes.host import cpu_features

_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2")
_V4 = (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
LEVELS = {"x86-64-v4": _V4, "x86-64-v3": _V3}  # the best first
PLACE = Path(__file__).parent.parent / "compiled"


def level() -> str | None:
    """The best level whose features this CPU has."""
    return next((name for name, needed in LEVELS.items() if cpu_features().issuperset(needed)), None)


@cache
def folder() -> Path | None:
    """The shipped kernels that fit this process, if there are any."""
    from pliant.lanes.cache import fingerprint

    best = level()
    if best is None or not PLACE.exists():
        return None
    found = PLACE / best / fingerprint(best)
    return found if found.exists() else None
