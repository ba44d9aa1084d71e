"""Solvers as words: for command lines, tables and legends."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

from pliant.errors import SolverError
from pliant.solvers.contract.solver import Solver, check_solver


def solver_from_text(text: str, solvers: Mapping[str, type[Solver[Any]]]) -> Solver[Any]:
    """A solver from words such as "vbd", "newton:linear=cg" or "vbd+chebyshev:rho=0.9" (an accelerator comes last).

    Upper and lower case are the same. solvers: classes by name.
    """
    known = {name.lower(): kind for name, kind in solvers.items()}
    solver: Solver[Any] | None = None
    for part in text.split("+"):
        name, *options = part.strip().split(":")
        kind: Any = known.get(name.strip().lower())
        if kind is None:
            raise SolverError(f"there is no solver {name.strip()!r}: choose among {', '.join(solvers)}.")
        values = dict(_option(text, option) for option in options)
        wraps = any(f.name == "solver" for f in fields(kind))
        if wraps != (solver is not None):
            problem = "wraps another: write SOLVER+" if wraps else "wraps none: write"
            raise SolverError(f"{text!r}: {kind.__name__} {problem}{kind.__name__}.")
        unknown = set(values) - {f.name for f in fields(kind)}
        if unknown:
            raise SolverError(f"{text!r}: {kind.__name__} has no option {sorted(unknown)[0]!r}.")
        solver = kind(solver, **values) if wraps else kind(**values)
    assert solver is not None
    return solver


def _option(text: str, option: str) -> tuple[str, Any]:
    name, equals, value = option.partition("=")
    if not equals:
        raise SolverError(f"{text!r}: {option!r} is not an option: write name=value.")
    try:
        return name.strip(), ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name.strip(), value.strip()


def named_solvers(solvers: Sequence[Solver[Any]] | Mapping[str, Solver[Any]], what: str) -> dict[str, Solver[Any]]:
    """Solvers by name, from a mapping or a list of them."""
    if not isinstance(solvers, Mapping | Sequence) or isinstance(solvers, str | bytes):
        raise SolverError(f"{what}: solvers are {solvers!r}: give a list of solvers, such as [pl.VBD(), pl.Newton()].")
    for key, solver in solvers.items() if isinstance(solvers, Mapping) else enumerate(solvers):
        check_solver(solver, f"{what}: {key}" if isinstance(key, str) else f"{what}: solver {key}")
    return dict(solvers) if isinstance(solvers, Mapping) else {solver_name(solver): solver for solver in solvers}


def solver_name(solver: Solver[Any]) -> str:
    """Its class and the options that are not the usual ones, without the number of iterations."""
    usual = {f.name: f.default for f in fields(solver) if f.default is not MISSING}  # type: ignore[arg-type]
    chosen = solver.options()
    shown = [f"{name}={chosen[name]}" for name in usual if name != "iterations" and chosen[name] != usual[name]]
    own = type(solver).__name__ + (f"({', '.join(shown)})" if shown else "")
    return own if solver.wrapped is None else f"{solver_name(solver.wrapped)} + {own}"
