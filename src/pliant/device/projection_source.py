"""The source of a scene's constraint solver on a device: Jacobi (GPBD, Section 5.1), in two passes without atomics.

`correct_all_K`, one work-item per element of a kind, writes the corrections of its corners to a buffer; `collect`, one
work-item per vertex, adds those of its elements, always in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pliant.device.corrections import CorrectionSource, Tracing
from pliant.device.prelude import prelude

GROUP = 64  # work-items of a group


@dataclass(frozen=True)
class CorrectionVariant:
    """What kernels are made for."""

    sources: tuple[CorrectionSource, ...]
    tracing: Tracing


def program_source(variant: CorrectionVariant, language: str = "opencl") -> str:
    """The text of a program with all kernels of a variant."""
    sources = variant.sources
    functions = [one.functions.replace("_K", f"_{k}") for k, one in enumerate(sources)]
    kernels = [_kernel(one).replace("_K", f"_{k}") for k, one in enumerate(sources)]
    texts = [
        prelude(variant.tracing.precision, language),
        *variant.tracing.helpers.texts,
        *dict.fromkeys(text for one in sources for text in one.shared),
        *functions,
        *kernels,
        _COLLECT,
    ]
    return "\n\n".join(text.strip("\n") for text in texts) + "\n"


def _kernel(source: CorrectionSource) -> str:
    names = {
        "name": source.name,
        "corners": source.corners,
        "numbers": source.numbers,
        "memory": source.memory,
        "lines": _indented(source.lines.splitlines()),
    }
    text = _CORRECT
    for name, value in names.items():
        text = text.replace(f"<{name}>", str(value))
    return text


def _indented(lines: Sequence[str]) -> str:
    return "\n".join("    " + line for line in lines)


_CORRECT = """
// One work-item per element, <name>: the corrections of its corners, which `collect` adds, go to places of its own.
KERNEL void correct_all_K(const int m, const int first, GLOBAL const real4 *x, GLOBAL real4 *corrections,
    GLOBAL int *left, GLOBAL const int *corners, GLOBAL const real *numbers, GLOBAL real *memory)
{
    const int e = GLOBAL_ID;
    if (e >= m)
        return;
    real r[4 * <corners>], n[<numbers>], D[<memory>], d[3 * <corners>];
    for (int i = 0; i < <corners>; i++) {
        const real4 row = x[corners[i * m + e]];
        r[4 * i] = row.x;
        r[4 * i + 1] = row.y;
        r[4 * i + 2] = row.z;
        r[4 * i + 3] = row.w;
    }
    for (int i = 0; i < <numbers>; i++)
        n[i] = numbers[i * m + e];
    for (int i = 0; i < <memory>; i++)
        D[i] = memory[i * m + e];
<lines>
    for (int i = 0; i < <memory>; i++)
        memory[i * m + e] = D[i];
    for (int i = 0; i < <corners>; i++)
        corrections[first + i * m + e] = ROW_OF(d[3 * i], d[3 * i + 1], d[3 * i + 2]);
}
"""

_COLLECT = """
// One work-item per vertex: adds the corrections of its elements, in the order of `places`.
KERNEL void collect(const int rows, GLOBAL real4 *x, GLOBAL const real4 *corrections, GLOBAL const int *start,
    GLOBAL const int *places)
{
    const int i = GLOBAL_ID;
    if (i >= rows)
        return;
    real4 now = x[i];
    real3 sum = VECTOR(0, 0, 0);
    for (int k = start[i]; k < start[i + 1]; k++) {
        const real4 d = corrections[places[k]];
        sum.x += d.x;
        sum.y += d.y;
        sum.z += d.z;
    }
    now.x += sum.x;
    now.y += sum.y;
    now.z += sum.z;
    x[i] = now;
}
"""
