"""Solvers by name: for files, command lines and menus."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from pliant.arguments import is_one_of
from pliant.errors import SolverError
from pliant.relaxations import RELAXATIONS, Relaxation
from pliant.solvers.contract.solver import Solver

S = TypeVar("S", bound=Solver[Any])

SOLVERS: dict[str, type[Solver[Any]]] = {}


def register_solver(kind: type[S]) -> type[S]:
    """Make a class of solvers known by its name, so that checkpoints, scene files and command lines can name it.

        @pl.register_solver
        @dataclass(frozen=True)
        class MySolver(pl.Solver): ...

    pl.Simulation, pl.solve and pl.compare take an object of any subclass of pl.Solver, registered or not.
    """
    if not (isinstance(kind, type) and is_dataclass(kind) and issubclass(kind, Solver)):
        raise SolverError(f"register_solver: {kind!r} is not a frozen dataclass derived from pl.Solver.")
    name = kind.__name__
    needed = [f.name for f in fields(kind) if f.name != "solver" and not _has_default(f)]
    if needed:
        raise SolverError(f"register_solver: {name} has no default for {needed[0]!r}: every option needs one.")
    known = SOLVERS.setdefault(name, kind)
    if known is not kind:
        raise SolverError(f"register_solver: {known.__module__} has a solver {name} already: choose another name.")
    return kind


def _has_default(field: Any) -> bool:
    if isinstance(field.default, property):  # inherited from Solver by a field of the same name without a default
        return False
    return field.default is not MISSING or field.default_factory is not MISSING


def describe_solver(solver: Solver[Any]) -> dict[str, Any]:
    """A solver as its name and its options, with a wrapped solver inside its accelerator, as JSON and TOML hold it."""
    if SOLVERS.get(type(solver).__name__) is not type(solver):
        raise SolverError(
            f"the solver {type(solver).__name__} is not registered, so that a file could not name it: "
            "use pl.register_solver."
        )
    return {"name": type(solver).__name__, **{name: _plain(value) for name, value in solver.options().items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, Solver):
        return describe_solver(value)
    if isinstance(value, Relaxation):
        return {"name": type(value).__name__, **value.options()}
    return value.item() if isinstance(value, np.generic) else value


def rebuild_solver(about: dict[str, Any]) -> Any:
    """The solver that `describe_solver` described, or a relaxation of one."""
    if about["name"] in RELAXATIONS:
        options = {name: value for name, value in about.items() if name != "name"}
        return RELAXATIONS[about["name"]](**options)
    if not is_one_of(about["name"], SOLVERS):
        raise SolverError(f"there is no solver {about['name']!r}: register it first (pl.register_solver).")
    options = {name: rebuild_solver(value) if isinstance(value, dict) else value for name, value in about.items()}
    del options["name"]
    kind: Any = SOLVERS[about["name"]]
    return kind(**options)
