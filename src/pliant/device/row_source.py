"""Jacobi over constraints with bounds on a device, in C: two passes, constraints and then vertices (Francu and
Moldoveanu, Section 7).

What a constraint does is traced from constraints.packs.relax_pack, the text of the CPU's lanes, with its loads and
stores replaced: of a constraint between two points, or a point and an obstacle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

from pliant.constraints.one_row import Scheme
from pliant.constraints.packs import WALL, relax_pack
from pliant.constraints.rows import CONTACT, DISTANCE, ENTRY_BITS, ROPE, Rows
from pliant.constraints.sweeps import Pace
from pliant.device.c_text import Helpers, meaning_of
from pliant.device.functions import Argument, c_function
from pliant.device.plain_python import plain_python
from pliant.device.prelude import prelude
from pliant.device.trace import Trace

GROUP = 64  # work-items of a group
NUMBERS = ("h", "velocity_part", "position_part", "omega", "beta")  # of a constraint, or of all
KINDS = (DISTANCE, CONTACT, ROPE, WALL)


class RowVariant(NamedTuple):
    """What kernels are made for."""

    precision: str
    scheme: Scheme  # its numbers do not matter
    weights: int
    has_momentum: bool


def variant_of(precision: str, scheme: Scheme, pace: Pace) -> RowVariant:
    """The variant of a scheme and a pace, whatever their numbers are."""
    plain = scheme._replace(h=1.0, velocity_part=1.0, position_part=1.0)
    return RowVariant(precision, plain, pace.weights, pace.a != 0.0)


@dataclass
class _Memory:
    """Arrays of the constraint that is traced, by name: what is read of them and what is written."""

    numbers: dict[str, Any]  # that stand for what is in memory
    columns: dict[str, int]
    read: dict[str, None] = field(default_factory=dict)
    written: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def load(self, name: str, count: int) -> tuple[Any, ...]:
        self.read[name] = None
        return self.numbers[name][:count]

    def replaced(self) -> dict[str, Any]:
        """Names of memory functions in constraints.packs, and what they do here."""

        def store(name: str, i: Any, *values: Any) -> None:
            self.written[name] = values

        def gather(array: str, indices: str, start: Any, stride: int, like: Any) -> tuple[Any, ...]:
            return self.numbers["here" if start == 0 else "opposite"]

        return {
            "load": lambda name, i, like: self.load(name, 1)[0],
            "load_pairs": lambda name, i, like: self.load(name, 2),
            "load_triples": lambda name, i, like: self.load(name, 3),
            "load3": lambda name, i, like: self.load(name, 3),
            "store_triples": store,
            "store3": store,
            "gather_quads": gather,
        }


def _traced(kind: int, variant: RowVariant, columns: dict[str, int], symbols: dict[str, Any]) -> _Memory:
    """What relax_pack does with a constraint of a kind."""
    memory = _Memory(symbols, columns)
    places = SimpleNamespace(vertices="vertices", **{name: name for name in columns})
    bodies = SimpleNamespace(velocity="velocity")
    parts = {name: symbols[name] for name in ("h", "velocity_part", "position_part")}
    pace = Pace(symbols["omega"], 1.0 if variant.has_momentum else 0.0, 1.0, 0, 1, variant.weights)
    about = (variant.scheme._replace(**parts), pace, symbols["beta"], 0.0)
    plain_python(relax_pack, memory.replaced())(places, bodies, 0, kind, *about)
    return memory


def _arguments(columns: dict[str, int]) -> list[Argument]:
    arrays = [Argument(name, count, is_array=True) for name, count in columns.items()]
    return [Argument("here", 3), Argument("opposite", 3), *(Argument(name) for name in NUMBERS), *arrays]


class RowProgram(NamedTuple):
    """A program, and the arrays of constraints that it takes."""

    text: str
    arrays: tuple[str, ...]
    written: tuple[str, ...]  # of them


def row_program(variant: RowVariant, columns: dict[str, int], language: str = "opencl") -> RowProgram:
    """The text of a program for a variant; columns: of the arrays of real numbers of Rows, by name."""
    helpers, functions, branches = Helpers(), [], []
    everything = _arguments(columns)
    looked = []
    for kind in KINDS:
        trace = Trace(variant.precision)
        symbols = {argument.name: argument.symbols(trace) for argument in everything}
        looked.append(_traced(kind, variant, columns, symbols))
    written = dict.fromkeys(name for memory in looked for name in memory.written)
    arrays = dict.fromkeys([name for memory in looked for name in memory.read] + list(written))
    used = _arguments({name: columns[name] for name in arrays})
    for kind, memory in zip(KINDS, looked, strict=True):
        own = {name: len(values) for name, values in memory.written.items()}
        functions.append(_function(kind, variant, columns, used, own, helpers))
        branches.append(_branch(kind, used, own, columns))
    names = {
        "arrays": ",\n    ".join(f"GLOBAL real *all_{name}" for name in arrays),
        "loads": "\n".join(line for name in arrays for line in _loads(name, columns[name])),
        "branches": "\n".join(branches),
        "columns": str(columns["push"]),
        "bits": str(ENTRY_BITS),
        "slots": str((1 << ENTRY_BITS) - 1),
    }
    kernels = _RELAX + _GATHER
    for name, value in names.items():
        kernels = kernels.replace(f"<{name}>", value)
    texts = [prelude(variant.precision, language), *helpers.texts, *functions, kernels]
    return RowProgram("\n\n".join(text.strip("\n") for text in texts) + "\n", tuple(arrays), tuple(written))


def _function(
    kind: int, variant: RowVariant, columns: dict[str, int], used: list[Argument], own: dict[str, int],
    helpers: Helpers,
) -> str:  # fmt: skip
    """relax_<kind>, which replaces what a constraint has in the arrays `own`."""

    def call(*values):
        symbols = {argument.name: value for argument, value in zip(used, values, strict=True)}
        memory = _traced(kind, variant, columns, symbols)
        return tuple(memory.written[name] for name in own)

    declared = [f"real *{one.name}" if one.name in own else one.declared for one in used]
    targets = [f"{name}[{k}] = {{}};" for name, count in own.items() for k in range(count)]
    head = f"inline void relax_{kind}({', '.join(declared)})"
    return c_function(head, call, used, targets, meaning_of(relax_pack.py_func), variant.precision, helpers)


def _loads(name: str, columns: int) -> list[str]:
    return [
        f"    real {name}[{columns}];",
        f"    for (int k = 0; k < {columns}; k++)",
        f"        {name}[k] = all_{name}[{columns} * i + k];",
    ]


def _branch(kind: int, used: list[Argument], own: dict[str, int], columns: dict[str, int]) -> str:
    stores = [
        f"        for (int k = 0; k < {count}; k++)\n            all_{name}[{columns[name]} * i + k] = {name}[k];"
        for name, count in own.items()
    ]
    call = f"        relax_{kind}({', '.join(one.name for one in used)});"
    return "\n".join([f"    if (kinds[i] == {kind}) {{", call, *stores, "    }"])


def columns_of(rows: Rows) -> dict[str, int]:
    """Columns of the arrays of real numbers, by name."""
    return {
        name: 1 if array.ndim == 1 else array.shape[1]
        for name, array in rows._asdict().items()
        if array.dtype == rows.rest.dtype and name not in ("levers", "rolling", "roll", "roll_change")
    }


_RELAX = """
// One work-item per constraint: its impulses from the velocities of the iteration before (Equations 26 and 38).
KERNEL void relax(const int count, const real h, const real velocity_part, const real position_part, const real omega,
    const real beta, GLOBAL const uchar *kinds, GLOBAL const int *vertices, GLOBAL const real *velocity,
    <arrays>)
{
    const int i = GLOBAL_ID;
    if (i >= count)
        return;
    const int a = vertices[4 * i], partner = vertices[4 * i + 1], b = partner < 0 ? a : partner;
    const real3 here = VECTOR(velocity[3 * a], velocity[3 * a + 1], velocity[3 * a + 2]);
    const real3 opposite = VECTOR(velocity[3 * b], velocity[3 * b + 1], velocity[3 * b + 2]);
<loads>
<branches>
}
"""

_GATHER = """
// One work-item per vertex: W J^T of the pushes of its constraints, in the order of its list
// (constraints.one_row.gather).
KERNEL void gather(const int vertices, GLOBAL real *velocity, GLOBAL const real *inverse_mass, GLOBAL const int *start,
    GLOBAL const int *entries, GLOBAL const real *push)
{
    const int i = GLOBAL_ID;
    if (i >= vertices || inverse_mass[i] == 0)
        return;
    real3 total = VECTOR(0, 0, 0);
    for (int k = start[i]; k < start[i + 1]; k++) {
        const int row = <columns> * (entries[k] >> <bits>);
        const real sign = (entries[k] & <slots>) ? -1 : 1;
        total.x += sign * push[row];
        total.y += sign * push[row + 1];
        total.z += sign * push[row + 2];
    }
    velocity[3 * i] += inverse_mass[i] * total.x;
    velocity[3 * i + 1] += inverse_mass[i] * total.y;
    velocity[3 * i + 2] += inverse_mass[i] * total.z;
}
"""
