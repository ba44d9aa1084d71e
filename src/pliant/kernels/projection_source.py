"""The source of a scene's constraint solver: elements corrected one colour after another, all iterations in one call.

Gauss-Seidel corrects positions at once.  Jacobi collects the corrections of all elements, colour by colour so that
the order of every sum is fixed, and adds them at the end of an iteration.  Contacts come last.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from pliant.lanes.cache import load_module


@dataclass(frozen=True)
class ConstraintSource:
    """How one kind of element enters the kernel; `_K` stands for its number there.

    `lines` see p (the pack), r (rows of the corners: position and h^2 / m), the arrays of `tables` and, if they are
    asked for, `started` and `holds` (rows of the corners).  They set d (a tuple of corrections, one a corner) and may
    add to `left`, the number of elements that could not be corrected.
    """

    name: str
    corners: int
    imports: str
    tables: tuple[str, ...]
    lines: tuple[str, ...]
    definitions: str = ""  # functions of its own
    shared: str = ""  # functions that several kinds may bring along: written once

    def numbered(self, text: str, k: int) -> str:
        return text.replace("_K", f"_{k}")


@dataclass(frozen=True)
class ProjectionVariant:
    """What a kernel is made for."""

    solver: str  # for messages
    precision: str
    width: int
    constraints: tuple[ConstraintSource, ...]
    jacobi: bool = False
    needs_start: bool = False  # positions at the start of the step, by row
    needs_holds: bool = False  # lines and planes, by row
    contact: bool = False

    def describe(self) -> str:
        laws = " and ".join(constraint.name for constraint in self.constraints)
        order = "Jacobi" if self.jacobi else "Gauss-Seidel"
        return f"{self.solver}, {order}, for {laws} ({self.precision} precision, {self.width} lanes)"


def projection_module(variant: ProjectionVariant) -> ModuleType:
    """The compiled module of a variant, with a function `sweep`."""
    return load_module("projection", source(variant), variant.describe())


def source(variant: ProjectionVariant) -> str:
    sources = list(enumerate(variant.constraints))
    tables = ", ".join(f"colours_{k}, corners_{k}, " + c.numbered(", ".join(c.tables), k) for k, c in sources)
    imports = dict.fromkeys(line for _, c in sources for line in c.imports.splitlines())
    parts = [
        _HEADER.format(
            description=variant.describe(),
            precision=variant.precision,
            width=variant.width,
            imports="\n".join([*imports, *(_CONTACT_IMPORTS if variant.contact else [])]),
        ),
        *dict.fromkeys(c.shared for _, c in sources if c.shared),
        *(c.numbered(c.definitions, k) for k, c in sources if c.definitions),
        *(_correct_source(variant, k, c) for k, c in sources),
    ]
    sweeps = "".join(_COLOURS.format(k=k, tables=c.numbered(", ".join(c.tables), k)) for k, c in sources)
    collect = (_COLLECT if variant.jacobi else "") + (_TOUCH if variant.contact else "")
    tables += ", touches" if variant.contact else ""
    parts.append(_SWEEP.format(tables=tables, sweeps=sweeps, collect=collect))
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _correct_source(variant: ProjectionVariant, k: int, constraint: ConstraintSource) -> str:
    each = range(constraint.corners)

    def rows(array: str) -> str:
        return ", ".join(f"gather4({array}, corners, first + {i} * WIDTH, zero())" for i in each)

    lines = [f"first = p * {constraint.corners} * WIDTH", "left = 0", f"r = ({rows('x')},)"]
    if variant.needs_start:
        lines += [f"started = ({rows('start')},)"]
    if variant.needs_holds:
        lines += [f"holds = ({rows('held')},)"]
    lines += [constraint.numbered(line, k) for line in constraint.lines]
    if variant.jacobi:
        lines += [f"r = ({rows('sums')},)"]
    target = "sums" if variant.jacobi else "x"
    lines += [
        f"scatter4({target}, corners, first + {i} * WIDTH, "
        f"r[{i}][0] + d[{i}][0], r[{i}][1] + d[{i}][1], r[{i}][2] + d[{i}][2], r[{i}][3])"
        for i in each
    ]
    body = "\n".join("    " + line for line in lines)
    tables = constraint.numbered(", ".join(constraint.tables), k)
    return _CORRECT.format(k=k, name=constraint.name, tables=tables, body=body)


_HEADER = '''
"""{description}. Written by pliant.kernels.projection_source: change that, not this."""
from numba import njit

from pliant.kernels.threads import meet, share
from pliant.lanes import (
    absolute, count, exp, inverse_cube_root, load, log, make_zero, maximum, minimum, number, select, sqrt, store
)
from pliant.lanes.rows import gather4, scatter4
from pliant.lanes.vectors import physics
{imports}

WIDTH = {width}
zero = make_zero("{precision}", WIDTH)
'''

_CORRECT = '''
@physics
def correct_{k}(p, x, sums, start, held, corners, {tables}):
    """Correct the elements of pack p: {name}. How many could not be corrected."""
{body}
    return left
'''

_COLOURS = """        for c in range(len(colours_{k}) - 1):
            first, last = share(colours_{k}[c], colours_{k}[c + 1], thread, threads)
            for p in range(first, last):
                skipped += correct_{k}(p, x, sums, start, held, corners_{k}, {tables})
            arrivals += threads
            meet(barrier, arrivals)
"""

_COLLECT = """        first, last = share(0, len(x), thread, threads)
        for row in range(first, last):
            for axis in range(3):
                x[row, axis] += sums[row, axis]
                sums[row, axis] = 0.0
        arrivals += threads
        meet(barrier, arrivals)
"""

_CONTACT_IMPORTS = (
    "from pliant.contact.contacts import refreshed",
    "from pliant.kernels.touch_projection import correct_touches",
)

_TOUCH = """        if thread == 0:
            correct_touches(x, held, touches, refreshed)
        arrivals += threads
        meet(barrier, arrivals)
"""

_SWEEP = '''
@njit(cache=True, nogil=True, error_model="numpy")
def sweep(thread, threads, barrier, n, left, x, sums, start, held, {tables}):
    """n iterations over all elements. x (rows, 4): positions and h^2 / m, zero for vertices that are held."""
    arrivals = 0
    for _ in range(n):
        skipped = 0
{sweeps}{collect}        left[thread] = skipped
'''
