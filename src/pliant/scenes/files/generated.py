"""Tables made from what the package has: its shapes, laws and solvers. A new one is in the schema because it exists."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Annotated, Any, Literal, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, create_model, model_validator

from pliant.geometry import TetMesh, TriMesh, shapes
from pliant.materials import SOLID_LAWS, Invertible, LameLaw, SolidLaw
from pliant.materials.law import Parameter
from pliant.relaxations import RELAXATIONS
from pliant.scenes.files.fields import Number, Table, Vector, one_of, refuse
from pliant.scenes.files.lines import Key
from pliant.scenes.files.source import Source
from pliant.solvers import SOLVERS

YOUNG = ("youngs_modulus", "poissons_ratio")


def table_of(tag: str, name: str, make: Callable[..., Any], **others: Any) -> type[Table]:
    """A table with a key for every argument of `make`; key `tag` has the value `name`."""
    has_hints = inspect.isroutine(make) or is_dataclass(make)
    hints = get_type_hints(make if has_hints else make.__init__)  # type: ignore[misc]
    arguments: dict[str, Any] = {tag: (Literal[name], Field())}
    for argument in inspect.signature(make).parameters.values():
        default = ... if argument.default is inspect.Parameter.empty else argument.default
        hint = hints[argument.name]
        in_files = {ArrayLike: list[Annotated[tuple, Vector("m")]], Parameter: float}
        arguments[argument.name] = (next((kind for one, kind in in_files.items() if hint == one), hint), default)
    return create_model(
        f"{name}Table", __base__=Table, __module__=__name__, __doc__=_first_line(make), **{**arguments, **others}
    )


def _first_line(make: Callable[..., Any]) -> str:
    return (inspect.getdoc(make) or "").split("\n")[0]


def options(table: Table, tag: str) -> dict[str, Any]:
    """The values of a table as arguments, those left out excepted."""
    return {
        name: value for name in table.model_fields_set if (value := getattr(table, name)) is not None and name != tag
    }


# --- shapes ---------------------------------------------------------------------------------------------------------


def _shapes_by_result() -> dict[Any, dict[str, Callable[..., Any]]]:
    """The ready-made shapes by what they are: TetMesh, TriMesh, points, or None for points and edges."""
    found: dict[Any, dict[str, Callable[..., Any]]] = {TetMesh: {}, TriMesh: {}, NDArray[np.float64]: {}, None: {}}
    for name in shapes.__all__:
        make = getattr(shapes, name)
        result = get_type_hints(make)["return"]
        found[result if result in found else None][name] = make
    return found


_SHAPES = _shapes_by_result()
SOLID_SHAPES, SHEET_SHAPES, NET_SHAPES = _SHAPES[TetMesh], _SHAPES[TriMesh], _SHAPES[None]


def shape_tables(makers: dict[str, Callable[..., Any]]) -> Any:
    return one_of((table_of("kind", name, make) for name, make in makers.items()), "kind")


# --- laws -----------------------------------------------------------------------------------------------------------


class InvertibleTable(Table):
    """How a solid's law lets go where a tet is crushed or inverted: the arguments of pl.Invertible."""

    lower: Annotated[float, Number("1")] = 0.05
    upper: Annotated[float, Number("1", below=1)] = 0.15
    release: Annotated[float, Number("1", above=0, most=1)] = 0.05
    stiffness: Annotated[float | None, Number("Pa", above=0)] = None


class LameTable(Table):
    """A law with Lame's parameters: give mu and lam, or youngs_modulus and poissons_ratio.

    elements: an .npz file with arrays of such names, one number per element, in place of the numbers here.
    """

    mu: Annotated[float | None, Number("Pa", above=0)] = None
    lam: Annotated[float | None, Number("Pa")] = None
    youngs_modulus: Annotated[float | None, Number("Pa", above=0)] = None
    poissons_ratio: Annotated[float | None, Number("1", above=-1, below=0.5)] = None
    invertible: InvertibleTable | None = None
    elements: str | None = None

    @model_validator(mode="after")
    def _is_one_pair(self) -> LameTable:
        given = {name for name in ("mu", "lam", *YOUNG) if getattr(self, name) is not None}
        if given not in ({"mu", "lam"}, set(YOUNG)):
            raise refuse("give either mu and lam, or youngs_modulus and poissons_ratio")
        return self


def _law_table(law: type[SolidLaw]) -> type[Table]:
    if not issubclass(law, LameLaw):
        return table_of(
            "law", law.__name__, law, invertible=(InvertibleTable | None, None), elements=(str | None, None)
        )
    defaults = {p.name: p.default for p in inspect.signature(law).parameters.values() if p.name not in ("mu", "lam")}
    others: dict[str, Any] = {
        name: (
            Annotated[float, Number(law.units.get(name, "1"))],
            ... if default is inspect.Parameter.empty else default,
        )
        for name, default in defaults.items()
    }
    tag: Any = (Literal[law.__name__], Field())
    return create_model(f"{law.__name__}Table", __base__=LameTable, __doc__=_first_line(law), law=tag, **others)


AnyLaw = one_of((_law_table(law) for law in SOLID_LAWS.values()), "law")


def parameters_of(table: Any) -> tuple[str, ...]:
    """Names of a law's parameters that its table gives as numbers."""
    return tuple(sorted(options(table, "law").keys() - {"invertible", "elements"}))


def make_law(table: Any, varying: dict[str, np.ndarray] | None = None) -> SolidLaw | Invertible:
    """The law that a table names; varying: arrays (m,) in place of some of its numbers."""
    law, given = SOLID_LAWS[table.law], options(table, "law") | (varying or {})
    given.pop("elements", None)
    converted = given.pop("invertible", None)
    made = law.from_young(**given) if YOUNG[0] in given else law(**given)  # type: ignore[attr-defined]
    return made if converted is None else Invertible(made, **dict(converted))


# --- solvers --------------------------------------------------------------------------------------------------------


def _solver_tables() -> Any:
    """All solvers; one that wraps has a key `solver`, again one of them."""
    wrappers = {name for name, solver in SOLVERS.items() if "solver" in inspect.signature(solver).parameters}
    relaxations = one_of((table_of("name", name, kind) for name, kind in RELAXATIONS.items()), "name")
    tables = []
    for name, solver in SOLVERS.items():
        own: dict[str, Any] = {"solver": ("AnySolver", ...)} if name in wrappers else {}
        if "relaxation" in inspect.signature(solver).parameters:
            own["relaxation"] = (relaxations | None, None)
        tables.append(table_of("name", name, solver, **own))
    return one_of(tables, "name")


AnySolver = _solver_tables()


def make_solver(table: Any, source: Source, *path: Key) -> Any:
    """The solver that a table at a path of a file names, with what it wraps."""
    given = options(table, "name")
    wrapped = {k: make_solver(v, source, *path, k) for k, v in given.items() if isinstance(v, Table)}
    with source.at(*path):
        return {**RELAXATIONS, **SOLVERS}[table.name](**{**given, **wrapped})
