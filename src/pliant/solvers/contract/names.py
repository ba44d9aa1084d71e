"""Solvers as words: for command lines, tables and legends."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from typing import Any

from pliant.errors import SolverError


def solver_from_text(text: str, solvers: Mapping[str, Any]) -> Any:
    """A solver from words such as "vbd", "newton:linear=cg" or "vbd+chebyshev:rho=0.9" (a part that wraps comes last).

    Upper and lower case are the same. solvers: classes by name.
    """
    known = {name.lower(): kind for name, kind in solvers.items()}
    solver = None
    for part in text.split("+"):
        name, *options = part.strip().split(":")
        kind = known.get(name.strip().lower())
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
    return solver


def _option(text: str, option: str) -> tuple[str, Any]:
    name, equals, value = option.partition("=")
    if not equals:
        raise SolverError(f"{text!r}: {option!r} is no option: write name=value.")
    try:
        return name.strip(), ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name.strip(), value.strip()


def solver_name(solver: Any) -> str:
    """Its class and the options that are not the usual ones, without the number of iterations."""
    usual = {f.name: f.default for f in fields(solver) if f.default is not MISSING}
    options = [
        f"{name}={getattr(solver, name)}"
        for name, value in usual.items()
        if name != "iterations" and getattr(solver, name) != value
    ]
    own = type(solver).__name__ + (f"({', '.join(options)})" if options else "")
    inner = getattr(solver, "solver", None)
    return own if inner is None else f"{solver_name(inner)} + {own}"


def with_iterations(solver: Any, n: int) -> Any:
    """The same solver with n iterations a step."""
    inner = getattr(solver, "solver", None)
    return replace(solver, iterations=n) if inner is None else replace(solver, solver=with_iterations(inner, n))
