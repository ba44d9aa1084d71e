"""Every public name says what it is."""

import inspect
import sys
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.model import obstacles
from pliant.model.mesh_obstacle import MeshObstacleBody

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
try:
    from manual import api, units
    from manual.shared import SHARED
finally:
    sys.path.pop(0)

#: The formula of a law is its documentation; SolidLaw says what it takes and gives.
FORMULA = "energy_density"
RETURNED = {kind.__name__: kind for kinds in api.RETURNED.values() for kind in kinds}
OBSTACLES = {kind.__name__: kind for kind in (*obstacles.Shape.__subclasses__(), MeshObstacleBody)}


def public():
    """Public names, and the methods and properties of public classes, with what they stand for."""
    for name in (name for name in pl.__all__ if not name.startswith("_")):
        yield name, getattr(pl, name)
    for name in ("motions", "shapes"):
        module = getattr(pl, name)
        names = [own for own, value in vars(module).items() if not own.startswith("_") and callable(value)]
        yield from ((f"{name}.{own}", getattr(module, own)) for own in names)


def members():
    """Methods and properties of public classes, and of those that scenes return."""
    classes = {name: value for name, value in public() if inspect.isclass(value)} | OBSTACLES | RETURNED
    for name, kind in classes.items():
        for own, value in inspect.getmembers(kind):
            is_code = isinstance(value, (property, cached_property)) or inspect.isroutine(value)
            if not own.startswith("_") and own != FORMULA and is_code:
                yield f"{name}.{own}", value


def ours():
    everything = dict(public()) | dict(members())
    return {k: v for k, v in everything.items() if str(getattr(v, "__module__", "pliant")).startswith("pliant")}


@pytest.mark.parametrize("kind", [public, members])
def test_public_names_have_docstrings(kind):
    missing = [
        name
        for name, value in kind()
        if not inspect.getdoc(value) and getattr(value, "__module__", "pliant").startswith("pliant")
    ]
    assert missing == []


def test_public_names_are_those_that_are_exported():
    assert sorted(set(pl.__all__)) == sorted(pl.__all__)
    for name in pl.__all__:
        assert hasattr(pl, name), name


def test_parameters_are_described():
    """In the text of the function, by comments of fields, or among those that mean the same everywhere."""
    missing = {name: [p for p in api.undescribed(value) if p not in SHARED] for name, value in ours().items()}
    found = {name: rest for name, rest in missing.items() if rest}
    assert found == {}, "say in the docstring what they are, with units, or add them to tools/manual/shared.py"


def test_quantities_have_units():
    missing = {name: units.without_unit(value) for name, value in ours().items()}
    found = {name: rest for name, rest in missing.items() if rest}
    assert found == {}, "say in the docstring in which unit, as [m], or what number they are (a factor, indices ...)"
    quantities = sum(units.quantities(value) != [] for value in ours().values())
    assert quantities > 200


def test_what_properties_and_functions_return_has_a_unit():
    missing = [name for name, value in ours().items() if units.returns_without_unit(value)]
    assert missing == [], "give the unit in the docstring, as [m], or what number it is (a factor, indices ...)"
    numeric = [value for value in ours().values() if isinstance(value, property)]
    assert len(numeric) > 100
    assert units.returns_without_unit(Part.size)
    assert not units.returns_without_unit(Part.length)


class Part:
    @property
    def size(self) -> float:
        """How large it is."""

    @property
    def length(self) -> float:
        """How long it is [m]."""


def silent(span: float):
    """Its text says nothing of what it takes."""


def named(span: float):
    """Go along a span."""


def beside(span: float, pause: float):
    """Go on.

    span: how far it goes. pause: before it goes [s].
    """


def right(span: float, share: np.ndarray | None, count: int, call: Callable[[float], float]):
    """Go on.

    span: how far it goes [m].
    share: (n,) parts of it.
    """


class Whole:
    """A part of something else."""

    def __init__(self, something: float):
        self.something = something


@pytest.mark.parametrize(
    ("function", "undescribed", "without_unit"),
    [
        (silent, ["span"], ["span"]),
        (named, [], ["span"]),
        (beside, [], ["span"]),
        (right, ["count", "call"], []),
        (Whole, [], ["something"]),
    ],
)
def test_the_checks_find_what_is_missing(function, undescribed, without_unit):
    assert api.undescribed(function) == undescribed
    assert units.without_unit(function) == without_unit
