"""The source of a scene's constraint solver: elements corrected one colour after another, all iterations in one call.

Gauss-Seidel corrects positions at once.  Jacobi collects the corrections of all elements and adds them at the end of an
iteration.  It walks along strips (kernels.strip_packs): what an element has in common with the one before, positions
and sums, stays in registers.  Contacts come last.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from pliant.kernels.term_source import in_order
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
    imports: str  # see term_source.import_lines
    tables: tuple[str, ...]
    lines: tuple[str, ...]
    definitions: str = ""  # functions of its own
    shared: str = ""  # functions that several kinds may bring along: written once

    def numbered(self, text: str, k: int) -> str:
        return text.replace("_K", f"_{k}")

    def arguments(self, tables: dict[str, Any]) -> tuple[Any, ...]:
        """Tables by name, without `_K`, in the order in which a kernel takes them."""
        return in_order(self.name, self.tables, tables)


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
        laws = " and ".join(constraint.name for constraint in self.constraints) or "contacts alone"
        order = "Jacobi" if self.jacobi else "Gauss-Seidel"
        return f"{self.solver}, {order}, for {laws} ({self.precision} precision, {self.width} lanes)"


def projection_module(variant: ProjectionVariant) -> ModuleType:
    """The compiled module of a variant, with a function `sweep`."""
    return load_module("projection", source(variant), variant.describe())


def source(variant: ProjectionVariant) -> str:
    sources = list(enumerate(variant.constraints))
    order = "colours_{k}, tiles_{k}, strips_{k}" if variant.jacobi else "colours_{k}"
    tables = [f"{order.format(k=k)}, corners_{k}, " + c.numbered(", ".join(c.tables), k) for k, c in sources]
    tables += ["contacts"] if variant.contact else []
    imports = dict.fromkeys(line for k, c in sources for line in c.numbered(c.imports, k).splitlines())
    parts = [
        _HEADER.format(
            description=variant.describe(),
            precision=variant.precision,
            width=variant.width,
            imports="\n".join([*imports, *(_CONTACT_IMPORTS if variant.contact else [])]),
        ),
        *dict.fromkeys(c.shared for _, c in sources if c.shared),
        *(c.numbered(c.definitions, k) for k, c in sources if c.definitions),
        *(part for k, c in sources for part in (_correct_source(variant, k, c), _walk_source(variant, k, c))),
    ]
    sweeps = "".join(
        (_TILES if variant.jacobi else _COLOURS).format(k=k, tables=c.numbered(", ".join(c.tables), k))
        for k, c in sources
    )
    collect = (_COLLECT if variant.jacobi else "") + (_TOUCH if variant.contact else "")
    parts.append(_SWEEP.format(tables=", ".join(["held", *tables]), sweeps=sweeps, collect=collect))
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _correct_source(variant: ProjectionVariant, k: int, constraint: ConstraintSource) -> str:
    lines = ["left = 0", *(constraint.numbered(line, k) for line in constraint.lines)]
    tables = constraint.numbered(", ".join(constraint.tables), k)
    return _CORRECT.format(k=k, name=constraint.name, tables=tables, body=_indented(lines))


def _walk_source(variant: ProjectionVariant, k: int, constraint: ConstraintSource) -> str:
    write = _strip_lines if variant.jacobi else _pack_lines
    tables = constraint.numbered(", ".join(constraint.tables), k)
    lines = write(variant, constraint.corners, f"left, d = correct_{k}(p, r, started, holds, {tables})")
    return (_STRIP if variant.jacobi else _PACK).format(k=k, tables=tables, body=_indented(lines))


def _indented(lines: list[str]) -> str:
    return "\n".join("    " + line for line in lines)


def _rows(array: str, corners: int) -> str:
    return ", ".join(f"gather4({array}, corners, first + {i} * WIDTH, zero())" for i in range(corners))


def _other_rows(variant: ProjectionVariant, corners: int) -> list[str]:
    """Rows of the corners beside their positions; nothing reads them if they are not asked for."""
    return [
        f"started = ({_rows('start', corners)},)" if variant.needs_start else "started = zero()",
        f"holds = ({_rows('held', corners)},)" if variant.needs_holds else "holds = zero()",
    ]


def _pack_lines(variant: ProjectionVariant, corners: int, correct: str) -> list[str]:
    """Correct the positions of a pack's elements."""
    return [
        f"first = p * {corners} * WIDTH",
        f"r = ({_rows('x', corners)},)",
        *_other_rows(variant, corners),
        correct,
        *(
            f"scatter4(x, corners, first + {i} * WIDTH, "
            f"r[{i}][0] + d[{i}][0], r[{i}][1] + d[{i}][1], r[{i}][2] + d[{i}][2], r[{i}][3])"
            for i in range(corners)
        ),
        "return left",
    ]


def _strip_lines(variant: ProjectionVariant, corners: int, correct: str) -> list[str]:
    """Collect the corrections along a strip: one row comes and one sum e_0 goes with every element."""
    shared = range(corners - 1)

    def add_sum(i: int, e: str) -> str:
        return f"add_rows(sums, corners, first + {i} * WIDTH, {e}[0], {e}[1], {e}[2])"

    return [
        f"first = (strips[s] + {corners - 1} * s) * WIDTH",
        "skipped = 0",
        *(f"r_{i} = gather4(x, corners, first + {i} * WIDTH, zero())" for i in shared),
        *(f"e_{i} = (zero(), zero(), zero())" for i in shared),
        "for p in range(strips[s], strips[s + 1]):",
        f"    r_{corners - 1} = gather4(x, corners, first + {corners - 1} * WIDTH, zero())",
        f"    r = ({', '.join(f'r_{i}' for i in range(corners))},)",
        *("    " + line for line in (*_other_rows(variant, corners), correct)),
        "    skipped += left",
        *(f"    e_{i} = add(e_{i}, d[{i}])" for i in shared),
        f"    e_{corners - 1} = d[{corners - 1}]",
        "    " + add_sum(0, "e_0"),
        *(f"    r_{i}, e_{i} = r_{i + 1}, e_{i + 1}" for i in shared),
        "    first += WIDTH",
        *(add_sum(i, f"e_{i}") for i in shared),
        "return skipped",
    ]


_HEADER = '''
"""{description}. Written by pliant.kernels.projection_source: change that, not this."""
from pliant.lanes.entry import entry

from pliant.kernels.threads import barrier_wait, share
from pliant.lanes import (
    absolute, count, exp, inverse_cube_root, load, log, make_zero, maximum, minimum, number, reciprocal,
    select, sqrt, store
)
from pliant.lanes.rows import add_rows, gather4, scatter4
from pliant.lanes.vectors import add, physics
{imports}

WIDTH = {width}
zero = make_zero("{precision}", WIDTH)
'''

_CORRECT = '''
@physics
def correct_{k}(p, r, started, holds, {tables}):
    """How many elements of pack p could not be corrected, and the corrections of the corners: {name}."""
{body}
    return left, d
'''

_PACK = """
@physics
def correct_pack_{k}(p, x, start, held, corners, {tables}):
{body}
"""

_STRIP = """
@physics
def correct_strip_{k}(s, x, sums, start, held, strips, corners, {tables}):
{body}
"""

_COLOURS = """        for c in range(len(colours_{k}) - 1):
            first, last = share(colours_{k}[c], colours_{k}[c + 1], thread, threads)
            for p in range(first, last):
                skipped += correct_pack_{k}(p, x, start, held, corners_{k}, {tables})
            arrivals += threads
            barrier_wait(barrier, arrivals)
"""

_TILES = """        for c in range(len(colours_{k}) - 1):
            first, last = share(colours_{k}[c], colours_{k}[c + 1], thread, threads)
            for s in range(tiles_{k}[first], tiles_{k}[last]):
                skipped += correct_strip_{k}(s, x, sums, start, held, strips_{k}, corners_{k}, {tables})
            arrivals += threads
            barrier_wait(barrier, arrivals)
"""

_COLLECT = """        first, last = share(0, len(x), thread, threads)
        for row in range(first, last):
            for axis in range(3):
                x[row, axis] += sums[row, axis]
                sums[row, axis] = 0.0
        arrivals += threads
        barrier_wait(barrier, arrivals)
"""

_CONTACT_IMPORTS = ("from pliant.kernels.contact_projection import correct_contacts",)

_TOUCH = """        if thread == 0:
            correct_contacts(x, held, contacts)
        arrivals += threads
        barrier_wait(barrier, arrivals)
"""

_SWEEP = '''
@entry(nogil=True, error_model="numpy", _nrt=False)
def sweep(thread, threads, barrier, n, left, x, sums, start, {tables}):
    """n iterations over all elements. x (rows, 4): positions and h^2 / m, zero for vertices that are held."""
    arrivals = 0
    for _ in range(n):
        skipped = 0
{sweeps}{collect}        left[thread] = skipped
'''
