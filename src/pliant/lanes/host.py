"""What this computer's CPU offers: features, lane widths, cores."""

from __future__ import annotations

import os
from functools import cache

from llvmlite import binding

CACHE_LINE = 64  # bytes, of all CPUs that have lanes of these widths


@cache
def cpu_name() -> str:
    """The CPU that Numba compiles for: this one, unless $NUMBA_CPU_NAME is another."""
    return os.environ.get("NUMBA_CPU_NAME") or binding.get_host_cpu_name()


@cache
def cpu_features() -> frozenset[str]:
    """Features that Numba may use: those of this CPU, unless $NUMBA_CPU_FEATURES lists others ("+avx,+fma,-avx2")."""
    chosen = os.environ.get("NUMBA_CPU_FEATURES")
    if chosen is not None:
        return frozenset(name[1:] for name in chosen.split(",") if name.startswith("+"))
    return frozenset(name for name, present in binding.get_host_cpu_features().items() if present)


def vector_bits() -> int:
    """Width of the CPU's vector registers."""
    features = cpu_features()
    if "avx512f" in features:
        return 512
    return 256 if "avx" in features else 128


def default_width(precision: str) -> int:
    """Lanes that fill one register, at least 4 (a pack of fewer is not worth its overhead)."""
    return max(4, vector_bits() // (32 if precision == "single" else 64))


def core_count() -> int:
    """Cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        return os.cpu_count() or 1
