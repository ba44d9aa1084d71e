"""The source of a scene's vertex block descent on a device: Algorithm 1 in C, for its laws, precision and schedule.

What an element does is traced from its lane functions; this text holds loops, tables and barriers alone.  Three kernels
move the vertices of a colour (SCHEDULES): `solve_groups` as in Section 4 of the paper, `solve_packed` with neighbours
in local memory, `solve_items` with one work-item per vertex.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pliant.device.c_text import Helpers
from pliant.device.contact_source import CONTACT_TABLES, contact_functions
from pliant.device.descent_source import DESCEND, INVERSE_DIAGONALS
from pliant.device.lists import DeviceList
from pliant.device.prelude import prelude
from pliant.device.state_source import state_functions
from pliant.device.vertex_source import VERTEX, VERTEX_ARGUMENTS, vertex_functions

GROUP = 32  # work-items of a group
STAGED = 128  # positions that a packed group holds in local memory


@dataclass(frozen=True)
class DeviceVariant:
    """What kernels are made for."""

    precision: str
    lists: tuple[DeviceList, ...]
    helpers: Helpers
    constrained: bool = False
    damped: bool = False
    viscous: bool = False
    psd: bool = False
    contact: bool = False
    descent: str = ""  # moves all vertices at once: "jacobi" or "blocks"; empty: colour after colour

    @property
    def has_barrier(self) -> bool:
        return any(one.has_barrier for one in self.lists)

    @property
    def is_projected(self) -> bool:
        """Whether some blocks are summed on their own: H has room for a second sum."""
        return any(one.is_projected for one in self.lists)


def program_source(variant: DeviceVariant, language: str = "opencl") -> str:
    """The text of a program with all kernels of a variant."""
    names = {
        "vertex": VERTEX,
        "vertex_arguments": VERTEX_ARGUMENTS,
        "tables": _tables(variant),
        "staged_tables": _tables(variant, staged=True),
        "arguments": _arguments(variant),
        "contacts": f"x, {', '.join(CONTACT_TABLES.names)}, " if variant.contact else "",
        "add_contacts": ", ".join(["x", *CONTACT_TABLES.names]),
        "group": str(GROUP),
        "staged": str(STAGED),
        "target": "moved" if variant.contact else "x",
        "H": "H[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}" if variant.is_projected else "H[6] = {0, 0, 0, 0, 0, 0}",
        "block": "12" if variant.is_projected else "6",
        "sums": "15" if variant.is_projected else "9",
    }
    vertex = vertex_functions(variant)
    texts = [
        prelude(variant.precision, language),
        *([contact_functions(variant.precision, variant.helpers, not variant.descent)] if variant.contact else []),
    ]
    functions = [one.function.replace("_K", f"_{k}") for k, one in enumerate(variant.lists)]
    texts += [*variant.helpers.texts, *functions, *state_functions(variant.lists), vertex]
    for staged in (False,) if variant.descent else (False, True):
        texts.append(_elements_source(variant, staged))
        if variant.has_barrier and not variant.descent:
            texts.append(_bound_source(variant, staged))
    kernels: tuple[str, ...] = (_SOLVE_GROUPS, _SOLVE_PACKED, _SOLVE_ITEMS)
    if variant.descent:
        kernels = (INVERSE_DIAGONALS, DESCEND[variant.descent])
    texts += [_filled(text, names, variant) for text in (*kernels, _ACCELERATE)]
    if variant.contact or variant.descent:
        texts.append(_SHOW)
    if variant.damped:
        texts.append(_filled(_MEASURE_DAMPING, names, variant))
    return "\n\n".join(text.strip("\n") for text in texts if text) + "\n"


def _filled(text: str, names: dict[str, str], variant: DeviceVariant) -> str:
    """A template with names in place of <name>, and lines that a variant does not need left out."""
    on = {
        "barrier": variant.has_barrier,
        "plain": not variant.has_barrier,
        "constrained": variant.constrained,
        "contact": variant.contact,
        "projected": variant.is_projected,
    }
    lines = []
    for line in text.splitlines():
        mark, _, rest = line.partition("|")
        if mark.strip() in on:
            if on[mark.strip()]:
                lines.append(rest)
        else:
            lines.append(line)
    text = "\n".join(lines)
    for name, value in names.items():
        text = text.replace(f"<{name}>", value)
    return text


def list_tables(k: int, one: DeviceList) -> list[str]:
    """Names of the tables of list k, in the order of kernels' arguments."""
    names = [f"start_{k}"]
    names += [f"others_{k}"] if one.others.shape[1] else []
    names += [f"constants_{k}"] if one.constants.shape[1] else []
    names += [f"parameters_{k}"] if one.parameters.shape[1] else []
    names += [f"element_{k}"] if one.element is not None else []
    return names + ([f"state_{k}"] if one.state is not None else [])


def _declared(name: str, staged: bool = False) -> str:
    kind = "real"
    if name.startswith("others"):
        kind = "uchar" if staged else "int"
    elif name.startswith(("start", "element")):
        kind = "int"
    return f"GLOBAL const {kind} *{name}"


def _tables(variant: DeviceVariant, staged: bool = False) -> str:
    """Parameters of functions: all tables."""
    names = [name for k, one in enumerate(variant.lists) for name in list_tables(k, one)]
    texts = [_declared(name, staged) for name in names]
    return ",\n    ".join([*texts, *(CONTACT_TABLES.declared if variant.contact else ())])


def _arguments(variant: DeviceVariant) -> str:
    names = [name for k, one in enumerate(variant.lists) for name in list_tables(k, one)]
    return ", ".join([*names, *(CONTACT_TABLES.names if variant.contact else ())])


def _number(k: int, place: int) -> str:
    """Number `place` of entry e of list k."""
    return f"constants_{k}[{place} * m + e]" if place else f"constants_{k}[e]"


def _state(k: int) -> str:
    """The state of the element of entry e of list k."""
    return f"state_{k}[element_{k}[e]]"


def call_arguments(k: int, arguments: Sequence[str], staged: bool) -> list[str]:
    """Texts of a call's arguments: "xi"; "other j", "before j": positions relative to the vertex; "number i",
    "vector i": of the entry; "parameter i": of the vertex; "state", "states size back":
    those of the element, of the list that is so many before.
    """
    texts = []
    for argument in arguments:
        kind, *at = argument.split(" ")
        place = int(at[0]) if at else 0
        other = f"others_{k}[{place} * m + e]" if place else f"others_{k}[e]"
        if kind == "xi":
            texts.append("xi")
        elif kind == "other":
            texts.append(f"relative(x[{other}], xi)")
        elif kind == "before":
            texts.append(f"relative(x_prev[{f'neighbours[{other}]' if staged else other}], before)")
        elif kind == "number":
            texts.append(_number(k, place))
        elif kind == "vector":
            texts.append(f"VECTOR({', '.join(_number(k, place + axis) for axis in range(3))})")
        elif kind == "state":
            texts.append(_state(k))
        elif kind == "states":
            texts.append(f"state_{k - int(at[1])} + {place} * element_{k}[e]")
        else:
            texts.append(f"parameter_{k}_{place}")
    return texts


def _places(staged: bool) -> str:
    """Where positions are: in the device's memory, or in a group's, with the rows they came from."""
    return "LOCAL const real4 *x, GLOBAL const int *neighbours" if staged else "GLOBAL const real4 *x"


def _loop(k: int, one: DeviceList, call: str) -> list[str]:
    count = [f"const int m = start_{k}[rows];"] if one.others.shape[1] > 1 or one.constants.shape[1] > 1 else []
    loads = [f"const real parameter_{k}_{p} = parameters_{k}[{p} * rows + i];" for p in range(one.parameters.shape[1])]
    lines = [*count, *loads, f"for (int e = start_{k}[i] + k; e < start_{k}[i + 1]; e += items)", f"    {call}"]
    return [f"{{ // {one.name}", *("    " + line for line in lines), "}"]


def _elements_source(variant: DeviceVariant, staged: bool) -> str:
    """The function that adds what all elements do to a vertex, for every so many-th of them."""
    lines = []
    for k, one in enumerate(variant.lists):
        texts = call_arguments(k, one.arguments, staged)
        block = "H + 6" if one.is_projected else "H"
        lines += _loop(k, one, f"add_{k}({', '.join(['f', block, *texts])});")
    if any("before" in argument for one in variant.lists for argument in one.arguments):
        lines.insert(0, "const real3 before = position(x_prev[i]);")
    return _function(
        f"inline void add_elements{'_staged' if staged else ''}(const int i, const int k, const int items, "
        f"const int rows, const real3 xi, real *f, real *H,\n    {_places(staged)}"
        ", GLOBAL const real4 *x_prev,\n    "
        f"{_tables(variant, staged)})",
        lines,
        "Adds force and Hessian block of the elements at vertex i: number k, and every `items`-th after it "
        "(Equations 8 and 9 without inertia).",
    )


def _bound_source(variant: DeviceVariant, staged: bool) -> str:
    """The function that bounds a step where laws have a barrier."""
    lines = ["real part = 1;"]
    for k, one in enumerate(variant.lists):
        if one.has_barrier:
            face = [f"relative(x[others_{k}[{j} * m + e]], xi)" for j in range(3)]
            bare = DeviceList(one.name, "", (), one.owner, one.others, one.constants, one.parameters[:, :0])
            kept = f"if ({_state(k)} < 1) " if one.state is not None else ""
            lines += _loop(k, bare, f"{kept}part = bound_step(part, {', '.join(face)}, dx);")
    return _function(
        f"inline real bound_elements{'_staged' if staged else ''}(const int i, const int k, const int items, "
        f"const int rows, const real3 xi, const real3 dx,\n    {_places(staged)},\n    {_tables(variant, staged)})",
        [*lines, "return part;"],
        "The largest part of dx that leaves the tets at vertex i, number k and every `items`-th after it, a part of "
        "their volume.",
    )


def _function(head: str, lines: list[str], comment: str) -> str:
    return "\n".join([f"// {comment}", head, "{", *("    " + line for line in lines), "}"])


_SOLVE_GROUPS = """
// A work-group per vertex, its work-items over the elements, sums in local memory (VBD, Section 4).
KERNEL void solve_groups(const int first, const int rows, GLOBAL real4 *x, GLOBAL real4 *moved, GLOBAL int *singular,
    <vertex>,
    <tables>)
{
    SHARED real sums[<sums> * <group>];
    const int k = LOCAL_ID, i = first + GROUP_ID;
    const real3 xi = position(x[i]);
    real f[3] = {0, 0, 0}, <H>, dx[3];
    add_elements(i, k, <group>, rows, xi, f, H, x, x_prev, <arguments>);
    for (int j = 0; j < 3; j++)
        sums[j * <group> + k] = f[j];
    for (int j = 0; j < <block>; j++)
        sums[(3 + j) * <group> + k] = H[j];
    BARRIER;
    for (int width = <group> / 2; width > 0; width /= 2) {
        if (k < width)
            for (int j = 0; j < <sums>; j++)
                sums[j * <group> + k] += sums[j * <group> + k + width];
        BARRIER;
    }
plain|    if (k > 0)
plain|        return;
    for (int j = 0; j < 3; j++)
        f[j] = sums[j * <group>];
    for (int j = 0; j < <block>; j++)
        H[j] = sums[(3 + j) * <group>];
    const int is_singular = step_of_vertex(i, rows, xi, f, H, dx, <contacts><vertex_arguments>);
barrier|    real part = bound_elements(i, k, <group>, rows, xi, VECTOR(dx[0], dx[1], dx[2]), x, <arguments>);
barrier|    BARRIER;
barrier|    sums[k] = part;
barrier|    BARRIER;
barrier|    for (int width = <group> / 2; width > 0; width /= 2) {
barrier|        if (k < width)
barrier|            sums[k] = sums[k + width] < sums[k] ? sums[k + width] : sums[k];
barrier|        BARRIER;
barrier|    }
barrier|    if (k > 0)
barrier|        return;
barrier|    part = sums[0];
barrier|    for (int j = 0; j < 3; j++)
barrier|        dx[j] *= part;
    if (is_singular)
        COUNT_ONE(singular);
    <target>[i] = ROW_OF(xi.x + dx[0], xi.y + dx[1], xi.z + dx[2]);
}
"""

_SOLVE_ITEMS = """
// A work-item per vertex.
KERNEL void solve_items(const int first, const int last, const int rows, GLOBAL real4 *x, GLOBAL real4 *moved,
    GLOBAL int *singular,
    <vertex>,
    <tables>)
{
    const int i = first + GLOBAL_ID;
    if (i >= last)
        return;
    const real3 xi = position(x[i]);
    real f[3] = {0, 0, 0}, <H>, dx[3];
    add_elements(i, 0, 1, rows, xi, f, H, x, x_prev, <arguments>);
    if (step_of_vertex(i, rows, xi, f, H, dx, <contacts><vertex_arguments>))
        COUNT_ONE(singular);
barrier|    const real part = bound_elements(i, 0, 1, rows, xi, VECTOR(dx[0], dx[1], dx[2]), x, <arguments>);
barrier|    for (int j = 0; j < 3; j++)
barrier|        dx[j] *= part;
    <target>[i] = ROW_OF(xi.x + dx[0], xi.y + dx[1], xi.z + dx[2]);
}
"""

_SOLVE_PACKED = """
// Work-groups of up to <group> vertices of a colour, which follow each other, all their neighbours in local memory.
KERNEL void solve_packed(const int first, const int rows, GLOBAL real4 *x, GLOBAL real4 *moved, GLOBAL int *singular,
    GLOBAL const int *group_rows, GLOBAL const int *neighbour_start, GLOBAL const int *all_neighbours,
    <vertex>,
    <staged_tables>)
{
    SHARED real4 staged[<staged>];
    const int k = LOCAL_ID, g = first + GROUP_ID;
    GLOBAL const int *neighbours = all_neighbours + neighbour_start[g];
    const int count = neighbour_start[g + 1] - neighbour_start[g];
    for (int j = k; j < count; j += <group>)
        staged[j] = x[neighbours[j]];
    BARRIER;
    const int i = group_rows[2 * g] + k;
    if (i >= group_rows[2 * g + 1])
        return;
    const real3 xi = position(x[i]);
    real f[3] = {0, 0, 0}, <H>, dx[3];
    add_elements_staged(i, 0, 1, rows, xi, f, H, staged, neighbours, x_prev, <arguments>);
    if (step_of_vertex(i, rows, xi, f, H, dx, <contacts><vertex_arguments>))
        COUNT_ONE(singular);
barrier|    const real part = bound_elements_staged(i, 0, 1, rows, xi, VECTOR(dx[0], dx[1], dx[2]), staged, neighbours,
barrier|        <arguments>);
barrier|    for (int j = 0; j < 3; j++)
barrier|        dx[j] *= part;
    <target>[i] = ROW_OF(xi.x + dx[0], xi.y + dx[1], xi.z + dx[2]);
}
"""

_ACCELERATE = """
// Equation 18 for the vertices that move; those that have collided in this step are not carried on (VBD 3.8).
KERNEL void accelerate(const int moving, const real omega, GLOBAL real4 *x, GLOBAL real4 *previous,
    GLOBAL real4 *before_previous, GLOBAL const uchar *collided)
{
    const int i = GLOBAL_ID;
    if (i >= moving)
        return;
    const real4 old = before_previous[i], now = x[i];
    const real own = collided[i] ? 1 : omega;
    const real4 carried =
        ROW_OF(carried_on(now.x, old.x, own), carried_on(now.y, old.y, own), carried_on(now.z, old.z, own));
    before_previous[i] = previous[i];
    previous[i] = carried;
    x[i] = carried;
}
"""

_SHOW = """
// Shows the new positions of a colour, which contacts have not seen before (VBD 3.9).
KERNEL void show(const int first, const int last, GLOBAL real4 *x, GLOBAL const real4 *moved)
{
    const int i = first + GLOBAL_ID;
    if (i < last)
        x[i] = moved[i];
}
"""

_MEASURE_DAMPING = """
// Damping blocks at the start of a step: k_d / h times the positive part of the elastic Hessian (Equations 10 and 11).
KERNEL void measure_damping(const int moving, const int rows, GLOBAL const real4 *x,
    <vertex>,
    <tables>)
{
    const int i = GLOBAL_ID;
    if (i >= moving)
        return;
    real f[3] = {0, 0, 0}, <H>;
    add_elements(i, 0, 1, rows, position(x[i]), f, H, x, x_prev, <arguments>);
projected|    add_absolute(H);
    H[0] += diagonal[i];
    H[3] += diagonal[i];
    H[5] += diagonal[i];
    positive_part(H);
    for (int j = 0; j < 6; j++)
        damping[j * rows + i] = damping_rate[i] * H[j];
}
"""
