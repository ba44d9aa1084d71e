"""Tets of one law as GPBD's kernel sees them."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.kernels.elimination import elimination_source
from pliant.kernels.projection_source import ConstraintSource
from pliant.kernels.strain_frame import NUMBERS
from pliant.kernels.term_source import law_functions

_IMPORTS = """from pliant.kernels.inversion import repair, with_moves
from pliant.kernels.strain_frame import columns, corner_moves, gram, load_columns, load_frame, pair_up, remember
from pliant.kernels.strain_frame import combine, symmetric_columns, transposed_times
from pliant.kernels.strain_newton import advanced, keep, largest, newton_step, searched, strain_derivatives, times"""


@dataclass(frozen=True)
class StrainOptions:
    """What of GPBD's settings is compiled in."""

    newton_iterations: int
    line_search: bool
    tolerance: float  # largest entry of a Newton step after which an element is done


def strain_source(name: str, text: str, parameter_count: int, has_barrier: bool, options: StrainOptions):
    """text: the law's functions, from materials.calculus."""
    count = NUMBERS + parameter_count
    parameters = ", ".join(f"load(numbers_K, (p * {count} + {NUMBERS + i}) * WIDTH, zero())" for i in range(parameter_count))
    lines = [f"frame = load_frame(numbers_K, p * {count}, zero())", f"law = ({parameters},)"]
    if has_barrier:
        lines += ["before = r", "r, moves, is_sound = repair(r, frame)"]
    lines += [
        "F = columns(r, frame)",
        "C = gram(F)",
        "D = load_columns(own_K, p, zero())",
        "one = number(1.0, zero())",
        "pull = pair_up((transposed_times(F, D[0]), transposed_times(F, D[1]), transposed_times(F, D[2])), (one, one, one))",
        "z = (zero(), zero(), zero(), zero(), zero(), zero())",
        f"for _ in range({options.newton_iterations}):",
        "    g, H = strain_derivatives(F, C, z, pull, frame, law, derivatives_K, add_outer_6)",
        "    step = newton_step(g, H, solve_6, add_diagonal_6, least_eigenvalue_6)",
    ]
    if options.line_search:
        lines += [f"    step = searched(F, C, z, step, pull, frame, law, density_K, {has_barrier})"]
    lines += ["    z = advanced(z, step)"]
    if options.newton_iterations > 1:
        lines += [f"    if count(largest(step) < {options.tolerance!r}) == WIDTH:", "        break"]
    lines += ["z = times(frame[4], z)"]
    if has_barrier:
        lines += ["z = keep(is_sound, z)", "left += WIDTH - count(is_sound)"]
    lines += [
        "z0, z1, z2 = symmetric_columns(z)",
        "d = corner_moves(r, (combine(F, z0), combine(F, z1), combine(F, z2)), frame)",
        "remember(own_K, p, D, d, frame)",
    ]
    if has_barrier:
        lines += ["r = before", "d = with_moves(frame[4], moves, d)"]
    tables = ("numbers_K", "own_K")
    return ConstraintSource(name, 4, _IMPORTS, tables, tuple(lines), law_functions(text), elimination_source(6))
