"""Tets and triangles of GPBD on a device: Newton's method in the space of an element's strain (Equation 19), in C.

What an element does in each part of an iteration is traced from kernels.strain_frame, strain_derivatives,
strain_newton, sheet_strain, inversion and elimination.  This text holds what has an end of its own: Newton's
iterations, the halving of a step, and the choices between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pliant.device.corrections import CorrectionSource, Tracing
from pliant.device.functions import Argument
from pliant.kernels import sheet_strain, strain_frame, strain_newton
from pliant.kernels.elimination import elimination_functions
from pliant.kernels.inversion import FLAT, lifted, volume_ratio, with_moves
from pliant.kernels.sheet_strain import (
    sheet_columns,
    sheet_corrections,
    sheet_derivatives,
    sheet_energy,
    sheet_frame,
    sheet_gram,
    sheet_largest,
    sheet_pull,
    sheet_shift,
    sheet_stepped,
)
from pliant.kernels.strain_derivatives import first_derivatives, plus, strain_derivatives
from pliant.kernels.strain_frame import (
    columns,
    combine,
    corner_moves,
    frame_of,
    gram,
    pulled_back,
    symmetric_columns,
    with_still_axes,
)
from pliant.kernels.strain_newton import largest, shift_of, strain_energy, times
from pliant.kernels.strain_source import StrainOptions
from pliant.lanes.vectors import add
from pliant.materials.calculus import LawCode


@dataclass(frozen=True)
class _Sizes:
    """How many numbers things have, and where limits of the search come from."""

    corners: int
    numbers: int  # of an element's frame
    strains: int
    columns: int
    halvings: int
    sure: float

    @property
    def hessian(self) -> int:
        return self.strains * (self.strains + 1) // 2


_TET = _Sizes(4, strain_frame.NUMBERS, 6, 9, strain_newton.HALVINGS, strain_newton.SURE_STRAIN)
_TRIANGLE = _Sizes(3, sheet_strain.NUMBERS, 3, 6, sheet_strain.HALVINGS, sheet_strain.SURE_STRAIN)


def tet_source(code: LawCode, parameters: int, options: StrainOptions, tracing: Tracing) -> CorrectionSource:
    """Tets of a law."""
    return CorrectionSource(
        f"tets of {code.name}",
        _TET.corners,
        _TET.numbers + parameters,
        _TET.columns,
        (*_tet_functions(tracing), *(_repair_functions(tracing) if code.has_barrier else ())),
        "\n\n".join(_tet_law(code, parameters, options, tracing)),
        _filled(_CORRECTION, _TET, options, code.has_barrier),
    )


def triangle_source(code: LawCode, parameters: int, options: StrainOptions, tracing: Tracing) -> CorrectionSource:
    """Triangles of a law."""
    return CorrectionSource(
        f"triangles of {code.name}",
        _TRIANGLE.corners,
        _TRIANGLE.numbers + parameters,
        _TRIANGLE.columns,
        tuple(_triangle_functions(tracing)),
        "\n\n".join(_triangle_law(code, parameters, options, tracing)),
        _filled(_CORRECTION, _TRIANGLE, options, has_barrier=False),
    )


# --- tets -------------------------------------------------------------------------------------------------------------


def _rows(r: tuple[Any, ...]) -> tuple[Any, ...]:
    """Rows of the corners, of four numbers each."""
    return tuple(r[4 * i : 4 * i + 4] for i in range(len(r) // 4))


def _three(a: tuple[Any, ...]) -> tuple[Any, ...]:
    """Columns of three numbers each."""
    return tuple(a[3 * i : 3 * i + 3] for i in range(len(a) // 3))


def _frame(n: tuple[Any, ...]) -> Any:
    frame, signed_roots = frame_of(n)
    return with_still_axes(frame, signed_roots)


_R, _N, _F, _D, _Z = Argument("r", 16), Argument("n", 14), Argument("F", 9), Argument("D", 9), Argument("z", 6)


def _tet_functions(tracing: Tracing) -> list[str]:
    """What does not depend on the law."""
    solve = elimination_functions(6)

    def deform(r, n):
        F = columns(_rows(r), _frame(n))
        return F, gram(F)

    def correct(r, n, F, D, z):
        frame = _frame(n)
        z0, z1, z2 = symmetric_columns(times(frame[4], z))
        F, D = _three(F), _three(D)
        A = (combine(F, z0), combine(F, z1), combine(F, z2))
        return corner_moves(_rows(r), A, frame), (add(D[0], A[0]), add(D[1], A[1]), add(D[2], A[2]))

    return [
        tracing.function("deform_4", columns, deform, [_R, _N], ["F 9", "C 6"]),
        *_systems(tracing, solve, 6, lambda H: shift_of(H, solve.least_eigenvalue), largest),
        tracing.function("correct_4", corner_moves, correct, [_R, _N, _F, _D, _Z], ["d 12", "D 9"]),
    ]


def _systems(tracing: Tracing, solve: Any, n: int, shift: Any, size_of: Any) -> list[str]:
    """Newton's step from gradient and Hessian of n strains, and its size."""
    count = n * (n + 1) // 2
    H, g, step = Argument("H", count), Argument("g", n, is_array=True), Argument("step", n, is_array=True)

    def solved(H, g):
        return solve.solve(H, tuple(-part for part in g))

    def shifted(H):
        return solve.add_diagonal(H, shift(H))

    return [
        tracing.function(f"solve_{n}", strain_newton.newton_step, solved, [H, g], [f"step {n}", "return"]),
        tracing.function(f"shift_{n}", shift_of, shifted, [H], [f"H {count}"]),
        tracing.function(f"largest_{n}", size_of, size_of, [step], ["return real"]),
        _NEWTON_STEP.replace("<n>", str(n)).strip("\n"),
    ]


def _repair_functions(tracing: Tracing) -> list[str]:
    """Inverted elements of laws with a barrier (GPBD, Section 4.1)."""

    def repair(r, n):
        frame = _frame(n)
        r, moves = lifted(_rows(r), frame, True)
        return r, moves, volume_ratio(r, frame) > 0.0

    def lifted_corrections(n, moves, d):
        return with_moves(_frame(n)[4], _three(moves), _three(d))

    moves, d = Argument("moves", 12), Argument("d", 12)
    return [
        tracing.function(
            "is_inverted", volume_ratio, lambda r, n: volume_ratio(_rows(r), _frame(n)) <= FLAT, [_R, _N], ["return"]
        ),
        tracing.function("repair", lifted, repair, [_R, _N], ["r 16", "moves 12", "return"]),
        tracing.function("add_repair", with_moves, lifted_corrections, [_N, moves, d], ["d 12"]),
    ]


def _tet_law(code: LawCode, parameters: int, options: StrainOptions, tracing: Tracing) -> list[str]:
    """What depends on the law."""
    add_outer = elimination_functions(6).add_outer
    derivatives, density = code.functions.derivatives, code.functions.energy_density

    def first(F, C, D, n, law):
        frame, F = _frame(n), _three(F)
        pull = pulled_back(F, _three(D), frame)
        return pull, *first_derivatives(F, C, pull, frame, law, derivatives, add_outer)

    def again(F, C, z, pull, n, law):
        return strain_derivatives(_three(F), C, z, pull, _frame(n), law, derivatives, add_outer)

    def energy(F, C, z, pull, step, n, law, part):
        value, is_positive = strain_energy(_three(F), C, plus(z, part, step), pull, _frame(n), law, density)
        return value, is_positive if code.has_barrier else True

    sources = (first_derivatives, strain_derivatives, strain_energy)
    return _law_texts(_TET, code.has_barrier, parameters, options, tracing, sources, (first, again, energy))


def _law_texts(
    sizes: _Sizes, has_barrier: bool, parameters: int, options: StrainOptions, tracing: Tracing,
    sources: tuple[Any, Any, Any], traced: tuple[Any, Any, Any],
) -> list[str]:  # fmt: skip
    """Derivatives where Newton's method begins and further on, energy, search, and the iterations; sources: the lane
    functions of the first three; traced: how they are called.
    """
    n, columns = sizes.strains, sizes.columns
    lengths = {"F": columns, "D": columns, "C": n, "z": n, "pull": n, "step": n, "n": sizes.numbers, "law": parameters}
    F, D, C, z, pull, step, numbers, law = (Argument(name, size, is_array=True) for name, size in lengths.items())
    derivatives = [f"g {n}", f"H {sizes.hessian}"]
    texts = [
        tracing.function(
            "first_derivatives_K", sources[0], traced[0], [F, C, D, numbers, law], [f"pull {n}", *derivatives]
        )
    ]
    if options.newton_iterations > 1:
        arguments = [F, C, z, pull, numbers, law]
        texts.append(tracing.function("derivatives_K", sources[1], traced[1], arguments, derivatives))
    if options.line_search:
        arguments = [F, C, z, pull, step, numbers, law, Argument("part")]
        texts.append(tracing.function("energy_K", sources[2], traced[2], arguments, ["energy 1", "return"]))
        texts.append(_filled(_SEARCH, sizes, options, has_barrier))
    return [*texts, _filled(_NEWTON, sizes, options, has_barrier)]


# --- triangles --------------------------------------------------------------------------------------------------------

_R3, _N8, _F6, _D6 = Argument("r", 12), Argument("n", 8), Argument("F", 6), Argument("D", 6)
_Z3 = Argument("z", 3, is_array=True)


def _triangle_functions(tracing: Tracing) -> list[str]:
    solve = elimination_functions(3)

    def deform(r, n):
        F = sheet_columns(_rows(r), sheet_frame(n))
        return F, sheet_gram(F)

    def correct(r, n, F, D, z):
        return sheet_corrections(_rows(r), _three(F), _three(D), z, sheet_frame(n))

    return [
        tracing.function("deform_3", sheet_columns, deform, [_R3, _N8], ["F 6", "C 3"]),
        *_systems(tracing, solve, 3, lambda H: sheet_shift(H, solve.least_eigenvalue), sheet_largest),
        tracing.function("correct_3", sheet_corrections, correct, [_R3, _N8, _F6, _D6, _Z3], ["d 9", "D 6"]),
    ]


def _triangle_law(code: LawCode, parameters: int, options: StrainOptions, tracing: Tracing) -> list[str]:
    add_outer = elimination_functions(3).add_outer
    derivatives, density = code.functions.derivatives, code.functions.energy_density

    def first(F, C, D, n, law):
        pull = sheet_pull(_three(F), _three(D))
        return pull, *again(F, C, (0.0, 0.0, 0.0), pull, n, law)

    def again(F, C, z, pull, n, law):
        return sheet_derivatives(C, z, pull, sheet_frame(n), law, derivatives, add_outer)

    def energy(F, C, z, pull, step, n, law, part):
        return sheet_energy(C, sheet_stepped(z, part, step), pull, sheet_frame(n), law, density), True

    sources = (sheet_derivatives, sheet_derivatives, sheet_energy)
    return _law_texts(_TRIANGLE, False, parameters, options, tracing, sources, (first, again, energy))


# --- what has an end of its own ---------------------------------------------------------------------------------------


def _filled(text: str, sizes: _Sizes, options: StrainOptions, has_barrier: bool) -> str:
    """A template with numbers in place of <name>, and lines that are not needed left out."""
    on = {"barrier": has_barrier, "plain": not has_barrier, "search": options.line_search,
          "again": options.newton_iterations > 1}  # fmt: skip
    lines = []
    for line in text.strip("\n").splitlines():
        rest, is_needed = line, True
        while (mark := rest.partition("|")[0]) in on:
            rest, is_needed = rest.partition("|")[2], is_needed and on[mark]
        if is_needed:
            lines.append(rest)
    numbers = {
        "corners": sizes.corners, "numbers": sizes.numbers, "n": sizes.strains, "hessian": sizes.hessian,
        "columns": sizes.columns, "halvings": sizes.halvings, "sure": repr(sizes.sure),
        "iterations": options.newton_iterations, "tolerance": repr(options.tolerance),
    }  # fmt: skip
    text = "\n".join(lines)
    for name, value in numbers.items():
        text = text.replace(f"<{name}>", str(value))
    return text


_NEWTON_STEP = """
// newton_step (kernels.strain_newton): -H^-1 g; an indefinite H is made positive by the bound of Equation 23.
inline void newton_step_<n>(const real *g, real *H, real *step)
{
    if (solve_<n>(H, g, step)) {
        shift_<n>(H);
        solve_<n>(H, g, step);
    }
}
"""

_SEARCH = """
// searched (kernels.strain_newton): the step halved until the energy does not rise; zero if it never does.
inline void search_K(const real *F, const real *C, const real *z, const real *pull, const real *n, const real *law,
    real *step)
{
    const real size = largest_<n>(step);
    if (size < (real)<sure>)
        return;
    real before, after, part = 1;
    energy_K(F, C, z, pull, step, n, law, 0, &before);
    for (int k = 0; k < <halvings>; k++) {
        const int may = energy_K(F, C, z, pull, step, n, law, part, &after);
        if (may && (after <= before || part * size < (real)<sure>)) {
            for (int i = 0; i < <n>; i++)
                step[i] *= part;
            return;
        }
        part *= (real)0.5;
    }
    for (int i = 0; i < <n>; i++)
        step[i] = 0;
}
"""

_NEWTON = """
// Newton's iterations for an element's strain z (GPBD, Equation 19), which begins at zero.
inline void minimise_K(const real *F, const real *C, const real *D, const real *n, real *z)
{
    const real *law = n + <numbers>;
    real pull[<n>], g[<n>], H[<hessian>], step[<n>];
    first_derivatives_K(F, C, D, n, law, pull, g, H);
    newton_step_<n>(g, H, step);
search|    search_K(F, C, z, pull, n, law, step);
    for (int i = 0; i < <n>; i++)
        z[i] += step[i];
again|    for (int k = 1; k < <iterations> && !(largest_<n>(step) < (real)<tolerance>); k++) {
again|        derivatives_K(F, C, z, pull, n, law, g, H);
again|        newton_step_<n>(g, H, step);
again|search|        search_K(F, C, z, pull, n, law, step);
again|        for (int i = 0; i < <n>; i++)
again|            z[i] += step[i];
again|    }
}
"""

#: Sees r (rows of the corners), n (the element's numbers) and D (its memory); sets d (corrections) and D.
_CORRECTION = """
real F[<columns>], C[<n>], z[<n>];
for (int i = 0; i < <n>; i++)
    z[i] = 0;
barrier|real moves[12];
barrier|const int inverted = is_inverted(r, n);
barrier|const int is_sound = inverted ? repair(r, n, moves) : 1;
deform_<corners>(r, n, F, C);
barrier|if (!is_sound)
barrier|    COUNT_ONE(left);
barrier|else
barrier|    minimise_K(F, C, D, n, z);
plain|minimise_K(F, C, D, n, z);
correct_<corners>(r, n, F, D, z, d);
barrier|if (inverted)
barrier|    add_repair(n, moves, d);
"""
