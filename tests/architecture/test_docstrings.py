"""Every public name says what it is."""

import inspect
import sys
from pathlib import Path

import pytest

import pliant as pl
from pliant.model import obstacles
from pliant.model.mesh_obstacle import MeshObstacleBody

#: The formula of a law is its documentation; SolidLaw says what it takes and gives.
FORMULA = "energy_density"
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
    classes = {name: value for name, value in public() if inspect.isclass(value)} | OBSTACLES
    for name, kind in classes.items():
        for own, value in inspect.getmembers(kind):
            is_code = isinstance(value, property) or inspect.isroutine(value)
            if not own.startswith("_") and own != FORMULA and is_code:
                yield f"{name}.{own}", value


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
    sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
    try:
        from manual.api import undescribed
        from manual.shared import SHARED
    finally:
        sys.path.pop(0)
    called = {"Scene", "Simulation", "Body", "TetMesh", "TriMesh", "Equilibrium", "IncrementalPotential", *OBSTACLES}
    everything = dict(public()) | {name: value for name, value in members() if name.partition(".")[0] in called}
    ours = {k: v for k, v in everything.items() if str(getattr(v, "__module__", "pliant")).startswith("pliant")}
    missing = {name: [p for p in undescribed(value) if p not in SHARED] for name, value in ours.items()}
    found = {name: rest for name, rest in missing.items() if rest}
    assert found == {}, "say in the docstring what they are, with units, or add them to tools/manual/shared.py"
