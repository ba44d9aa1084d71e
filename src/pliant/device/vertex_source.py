"""What a vertex does with its force and its block: inertia, damping, the 3x3 system (kernels.local_solve), traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pliant.device.contact_source import CONTACT_TABLES
from pliant.device.descent_source import KEEP_SUBSPACE
from pliant.device.functions import FORCE_AND_BLOCK, NOTHING, Argument, c_function
from pliant.device.trace import Trace
from pliant.elements.tet import bound_step
from pliant.kernels.local_solve import (
    add_inertia,
    add_vertex_damping,
    descent_direction,
    force_ahead,
    keep_subspace,
    project_block,
    solve_by_cofactors,
    solve_in_double,
    solve_in_plane,
    solve_on_line,
)
from pliant.kernels.momentum import carried_on
from pliant.lanes.vectors import absolute_matrix, positive_part

if TYPE_CHECKING:
    from pliant.device.vbd_source import DeviceVariant

_STEP = ("dx[0] = {};", "dx[1] = {};", "dx[2] = {};", "return {};")
_BLOCK = tuple(f"H[{k}] = {{}};" for k in range(6))
_SYSTEM = (Argument("H", 6), Argument("f", 3))


def vertex_functions(variant: DeviceVariant) -> str:
    """All functions that a variant needs, and `step_of_vertex`, which calls them."""
    rounding = Trace(variant.precision).rounding
    texts: list[str] = []

    def add(head: str, function: Any, arguments: Any, targets: Any, call: Any = None) -> None:
        comment = f"{function.__name__} ({function.__module__}): {' '.join((function.__doc__ or '').split())}"
        own = (head, call or function, arguments, targets, comment.split(". ")[0].rstrip(".") + ".")
        texts.append(c_function(*own, variant.precision, variant.helpers))

    add(
        "inline void add_inertia(const real m, const real3 target, const real3 xi, real *f, real *H)",
        add_inertia,
        [Argument("m"), Argument("target", 3), Argument("xi", 3)],
        FORCE_AND_BLOCK,
        lambda m, target, xi: add_inertia(*NOTHING, m, target, xi),
    )
    system = "const real *H, const real3 f, real *dx"
    add(f"inline int solve_by_cofactors({system})", solve_by_cofactors, _SYSTEM, _STEP)
    add(
        f"inline int solve_in_double({system})",
        solve_in_double,
        _SYSTEM,
        _STEP,
        lambda H, f: solve_in_double(H, f, rounding),
    )
    add(
        "inline real carried_on(const real x, const real before_previous, const real omega)",
        carried_on,
        [Argument("x"), Argument("before_previous"), Argument("omega")],
        ["return {};"],
    )
    if variant.constrained:
        for function in (solve_on_line, solve_in_plane):
            head = f"inline int {function.__name__}(const real *H, const real3 f, const real3 d, real *dx)"
            add(head, function, [*_SYSTEM, Argument("d", 3)], _STEP)
    if variant.damped:
        add(
            "inline void add_vertex_damping(const real *D, const real3 xi, const real3 x_prev, real *f, real *H)",
            add_vertex_damping,
            [Argument("D", 6), Argument("xi", 3), Argument("x_prev", 3)],
            FORCE_AND_BLOCK,
            lambda D, xi, x_prev: add_vertex_damping(*NOTHING, D, xi, x_prev),
        )
    if variant.damped:
        add("inline void positive_part(real *H)", positive_part, [Argument("H", 6)], _BLOCK)
    if variant.is_projected:
        add("inline void absolute_matrix(real *H)", absolute_matrix, [Argument("H", 6)], _BLOCK)
        texts.append(_ADD_ABSOLUTE)
    if variant.contact:
        add(
            "inline void force_ahead(const real3 f, const real *H, const real3 dx, real *ahead)",
            force_ahead,
            [Argument("f", 3), Argument("H", 6), Argument("dx", 3)],
            tuple(f"ahead[{k}] = {{}};" for k in range(3)),
        )
    if variant.psd:
        arguments = [Argument("H", 6), Argument("m")]
        add("inline void project_block(real *H, const real m)", project_block, arguments, _BLOCK)
    if variant.has_barrier:
        add(
            "inline real bound_step(const real part, const real3 a, const real3 b, const real3 c, const real3 dx)",
            bound_step,
            [Argument("part"), *(Argument(name, 3) for name in ("a", "b", "c", "dx"))],
            ["return {};"],
        )
    if variant.descent:
        _add_descent(variant, add)
    kept = [KEEP_SUBSPACE.strip("\n")] if variant.descent and variant.constrained else []
    return "\n\n".join([*texts, *kept, _system_source(variant), _terms_source(variant), _step_source(variant)])


def _add_descent(variant: DeviceVariant, add: Callable[..., None]) -> None:
    """Functions of kernels that move all vertices at once."""
    replaced = tuple(f"f[{k}] = {{}};" for k in range(3))
    if variant.descent == "blocks":
        head = "inline void descent_direction(const real *H, const real3 f, real *dx)"
        add(head, descent_direction, [*_SYSTEM, Argument("dx", 3, is_array=True)], _STEP[:3])
    if variant.constrained:
        for name, dimension in (("keep_on_line", 1), ("keep_in_plane", 2)):
            add(
                f"inline void {name}(real *f, const real3 d)",
                keep_subspace,
                [Argument("f", 3, is_array=True), Argument("d", 3)],
                replaced,
                lambda f, d, dimension=dimension: keep_subspace(dimension, d, f),
            )


def _system_source(variant: DeviceVariant) -> str:
    lines = []
    if variant.constrained:
        lines += ["if (subspace[i] == 1)", "    return solve_on_line(H, force, position(direction[i]), dx);"]
        lines += ["if (subspace[i] == 2)", "    return solve_in_plane(H, force, position(direction[i]), dx);"]
    lines += ["if (solve_by_cofactors(H, force, dx))", "    return solve_in_double(H, force, dx);", "return 0;"]
    return "\n".join(
        [
            "// H^-1 f in the space that vertex i moves in; whether H is singular.",
            "inline int solve_system(const int i, const real *H, const real3 force, real *dx,",
            "    GLOBAL const uchar *subspace, GLOBAL const real4 *direction)",
            "{",
            *("    " + line for line in lines),
            "}",
        ]
    )


def _terms_source(variant: DeviceVariant) -> str:
    lines = ["add_absolute(H);"] if variant.is_projected else []
    lines += ["H[0] += diagonal[i];", "H[3] += diagonal[i];", "H[5] += diagonal[i];"]
    lines += ["add_inertia(inertia[i], position(target[i]), xi, f, H);"]
    if variant.viscous:
        lines += ["H[0] += viscous[i];", "H[3] += viscous[i];", "H[5] += viscous[i];"]
    if variant.damped:
        lines += ["real D[6];", "for (int j = 0; j < 6; j++)", "    D[j] = damping[j * rows + i];"]
        lines += ["add_vertex_damping(D, xi, position(x_prev[i]), f, H);"]
    if variant.psd:
        lines += ["project_block(H, inertia[i]);"]
    return "\n".join(
        [
            "// Adds inertia and damping to the force and the block of vertex i (Equations 8 to 11).",
            f"inline void add_vertex(const int i, const int rows, const real3 xi, real *f, real *H,\n    {VERTEX})",
            "{",
            *("    " + line for line in lines),
            "}",
        ]
    )


def _step_source(variant: DeviceVariant) -> str:
    lines = [f"add_vertex(i, rows, xi, f, H, {VERTEX_ARGUMENTS});", "const real3 force = VECTOR(f[0], f[1], f[2]);"]
    lines += _AMONG_CONTACTS if variant.contact else ["return solve_system(i, H, force, dx, subspace, direction);"]
    contacts = [f"    GLOBAL const real4 *x, {', '.join(CONTACT_TABLES.declared)},"] if variant.contact else []
    return "\n".join(
        [
            "// The way of vertex i to the minimum of its local energy (Equations 5, 8 to 11), from what its elements",
            "// do; whether its block is singular.",
            "inline int step_of_vertex(const int i, const int rows, const real3 xi, real *f, real *H, real *dx,",
            *contacts,
            f"    {VERTEX})",
            "{",
            *("    " + line for line in lines),
            "}",
        ]
    )


_ADD_ABSOLUTE = """
// Adds the second sum of blocks to the first, with the magnitudes of its eigenvalues.
inline void add_absolute(real *H)
{
    absolute_matrix(H + 6);
    for (int j = 0; j < 6; j++)
        H[j] += H[6 + j];
}
""".strip("\n")

#: As in kernels.sweep_source: twice where there are contacts, the second time with those at the end of the first step.
_AMONG_CONTACTS = [
    "int singular = 0;",
    "dx[0] = dx[1] = dx[2] = 0;",
    "for (int visit = 0; visit < (contact_start[i + 1] > contact_start[i] ? 2 : 1); visit++) {",
    "    real ahead_f[3], ahead_H[6], further[3];",
    "    const real3 moved = VECTOR(dx[0], dx[1], dx[2]);",
    "    force_ahead(force, H, moved, ahead_f);",
    "    for (int j = 0; j < 6; j++)",
    "        ahead_H[j] = H[j];",
    f"    add_contacts(i, xi, moved, ahead_f, ahead_H, x, {', '.join(CONTACT_TABLES.names)});",
    "    const real3 left = VECTOR(ahead_f[0], ahead_f[1], ahead_f[2]);",
    "    singular |= solve_system(i, ahead_H, left, further, subspace, direction);",
    "    for (int j = 0; j < 3; j++)",
    "        dx[j] += further[j];",
    "}",
    "return singular;",
]

#: Tables of vertices that every kernel takes.
VERTEX = """GLOBAL const real *inertia, GLOBAL const real *diagonal, GLOBAL const real *viscous,
    GLOBAL const real4 *target, GLOBAL const real4 *x_prev, GLOBAL real *damping, GLOBAL const real *damping_rate,
    GLOBAL const uchar *subspace, GLOBAL const real4 *direction"""
VERTEX_ARGUMENTS = "inertia, diagonal, viscous, target, x_prev, damping, damping_rate, subspace, direction"
