"""Tets and triangles of one law as GPBD's kernel sees them."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.kernels.elimination import elimination_source
from pliant.kernels.inversion import repair, with_moves
from pliant.kernels.projection_source import ConstraintSource
from pliant.kernels.sheet_strain import NUMBERS as SHEET_NUMBERS
from pliant.kernels.sheet_strain import (
    load_sheet,
    sheet_advanced,
    sheet_columns,
    sheet_derivatives,
    sheet_frame,
    sheet_gram,
    sheet_largest,
    sheet_moves,
    sheet_newton_step,
    sheet_pull,
    sheet_searched,
)
from pliant.kernels.strain_derivatives import first_derivatives, strain_derivatives
from pliant.kernels.strain_frame import (
    NUMBERS,
    columns,
    combine,
    corner_moves,
    gram,
    has_still_axes,
    load_columns,
    load_frame,
    pulled_back,
    remember,
    symmetric_columns,
    with_still_axes,
)
from pliant.kernels.strain_newton import advanced, keep, largest, newton_step, searched, times
from pliant.kernels.term_source import import_lines, law_functions

_IMPORTS = import_lines(
    first_derivatives,
    strain_derivatives,
    repair,
    with_moves,
    columns,
    corner_moves,
    gram,
    load_columns,
    load_frame,
    pulled_back,
    remember,
    combine,
    has_still_axes,
    symmetric_columns,
    with_still_axes,
    advanced,
    keep,
    largest,
    newton_step,
    searched,
    times,
)

_SHEET_IMPORTS = import_lines(
    load_sheet,
    sheet_advanced,
    sheet_columns,
    sheet_derivatives,
    sheet_frame,
    sheet_gram,
    sheet_largest,
    sheet_moves,
    sheet_newton_step,
    sheet_pull,
    sheet_searched,
)


@dataclass(frozen=True)
class StrainOptions:
    """What of GPBD's settings is compiled in."""

    newton_iterations: int
    line_search: bool
    tolerance: float  # largest entry of a Newton step after which an element is done


def strain_source(name: str, text: str, parameter_count: int, has_barrier: bool, options: StrainOptions):
    """text: the law's functions, from materials.calculus."""
    count = NUMBERS + parameter_count
    places = [f"(p * {count} + {NUMBERS + i}) * WIDTH" for i in range(parameter_count)]
    parameters = ", ".join(f"load(numbers_K, {place}, zero())" for place in places)
    lines = [f"frame, signed_roots = load_frame(numbers_K, p * {count}, zero())", f"law = ({parameters},)"]
    if has_barrier:
        lines += ["r, moves, is_sound = repair(r, frame)"]
    first_step = [
        "pull = pulled_back(F, D, frame)",
        "g, H = first_derivatives(F, C, pull, frame, law, derivatives_K, add_outer_6)",
    ]
    lines += [
        "F = columns(r, frame)",
        "C = gram(F)",
        "D = load_columns(accumulated_K, p, zero())",
        "z = (zero(), zero(), zero(), zero(), zero(), zero())",
        *first_step,
        "if count(has_still_axes(signed_roots)) > 0:  # few elements: the others are spared the arithmetic of t",
        "    frame = with_still_axes(frame, signed_roots)",
        *("    " + line for line in first_step),
        *_step_lines(options, has_barrier),
    ]
    if options.newton_iterations > 1:
        again = ["g, H = strain_derivatives(F, C, z, pull, frame, law, derivatives_K, add_outer_6)"]
        lines += [
            f"for _ in range({options.newton_iterations - 1}):",
            f"    if count(largest(step) < {options.tolerance!r}) == WIDTH:",
            "        break",
            *("    " + line for line in again + _step_lines(options, has_barrier)),
        ]
    lines += ["z = times(frame[4], z)"]
    if has_barrier:
        lines += ["z = keep(is_sound, z)", "left += WIDTH - count(is_sound)"]
    lines += [
        "z0, z1, z2 = symmetric_columns(z)",
        "A = (combine(F, z0), combine(F, z1), combine(F, z2))",
        "d = corner_moves(r, A, frame)",
        "remember(accumulated_K, p, D, A)",
    ]
    if has_barrier:
        lines += ["d = with_moves(frame[4], moves, d)"]
    tables = ("numbers_K", "accumulated_K")
    return ConstraintSource(name, 4, _IMPORTS, tables, tuple(lines), law_functions(text), elimination_source(6))


def sheet_strain_source(name: str, text: str, parameter_count: int, options: StrainOptions) -> ConstraintSource:
    """Triangles; a law with a barrier needs no repair, because a triangle has no wrong side."""
    count = SHEET_NUMBERS + parameter_count
    loads = [f"load(numbers_K, (p * {count} + {i}) * WIDTH, zero())" for i in range(count)]
    step = ["step = sheet_newton_step(g, H, solve_3, add_diagonal_3, least_eigenvalue_3)"]
    if options.line_search:
        step += ["step = sheet_searched(C, z, step, pull, frame, law, energy_density_K)"]
    again = [
        "g, H = sheet_derivatives(C, z, pull, frame, law, derivatives_K, add_outer_3)",
        *step,
        "z = sheet_advanced(z, step)",
    ]
    lines = [
        f"frame = sheet_frame(({', '.join(loads[:SHEET_NUMBERS])},))",
        f"law = ({', '.join(loads[SHEET_NUMBERS:])},)",
        "F = sheet_columns(r, frame)",
        "C = sheet_gram(F)",
        "D = load_sheet(accumulated_K, p, zero())",
        "pull = sheet_pull(F, D)",
        "z = (zero(), zero(), zero())",
        *again,
    ]
    if options.newton_iterations > 1:
        lines += [
            f"for _ in range({options.newton_iterations - 1}):",
            f"    if count(sheet_largest(step) < {options.tolerance!r}) == WIDTH:",
            "        break",
            *("    " + line for line in again),
        ]
    lines += ["d = sheet_moves(p, r, F, D, z, frame, accumulated_K)"]
    tables, functions = ("numbers_K", "accumulated_K"), law_functions(text)
    sheets = f"{name} sheets"
    return ConstraintSource(sheets, 3, _SHEET_IMPORTS, tables, tuple(lines), functions, elimination_source(3))


def _step_lines(options: StrainOptions, has_barrier: bool) -> list[str]:
    """From gradient and Hessian to the next z."""
    lines = ["step = newton_step(g, H, solve_6, add_diagonal_6, least_eigenvalue_6)"]
    if options.line_search:
        lines += [f"step = searched(F, C, z, step, pull, frame, law, energy_density_K, {has_barrier})"]
    return [*lines, "z = advanced(z, step)"]
