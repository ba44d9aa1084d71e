"""The pages of the Python reference as a reader sees them."""

import re
import sys
from pathlib import Path

import pytest

import pliant as pl

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
try:
    from manual import api
    from manual.internal import INTERNAL
finally:
    sys.path.pop(0)

PAGES = api.pages()
ENTRIES = {
    entry.partition("\n")[0]: entry
    for page in PAGES.values()
    for entry in re.split(r"(?m)^#{2,3} (?=[\w.]+$)", page)[1:]
}


@pytest.mark.parametrize("title", PAGES)
def test_signatures_are_written_as_people_write_them(title):
    """No types spelled out by Python, no marks of dataclasses, no names of rooms within Pliant."""
    for fence in re.findall(r"```python\n(.*?)```", PAGES[title], re.DOTALL):
        assert not re.search(r"Union\[|_typing|<factory>|\bpliant\.(?!motions)\w+\.|NoneType", fence), fence


def test_every_parameter_has_one_item_at_most():
    for name, entry in ENTRIES.items():
        items = [word for names in re.findall(r"(?m)^- \*\*([\w, ]+)\*\*: ", entry) for word in names.split(", ")]
        assert len(items) == len(set(items)), f"{name}: {items}"


def test_code_in_docstrings_is_code_on_the_page():
    assert (
        '```python\nwith sim.record("run.npz"):\n    for frame in sim.frames(120): ...\n```'
        in ENTRIES["Simulation.record"]
    )
    assert "```python\npl.Motor(speed=10.0, max_torque=2.0)" in ENTRIES["pl.Motor"]


def test_entries_are_for_users():
    """What users call has an entry with a heading of its own, which search finds; what Pliant calls has none."""
    assert {"Simulation.record", "Simulation.step", "Scene.add_joint", "TetMesh.volumes", "Shape.set_pose"} <= set(
        ENTRIES
    )
    assert not {"Simulation.be_followed", "Shape.row", "PliantError.add_note", "SweepResult.count"} & set(ENTRIES)


@pytest.mark.parametrize("owner", [name for name in INTERNAL if not name.startswith("pliant.")])
def test_what_is_left_out_exists(owner):
    """A list of names that nothing has would hide a later member without notice."""
    bodies = api.RETURNED["Scenes and bodies"]
    kinds = [kind for name in pl.__all__ if isinstance(kind := getattr(pl, name), type)]
    kinds += [*bodies, *(value for _, value in api._callables(pl.motions) if isinstance(value, type))]
    owned = [base for kind in kinds for base in kind.__mro__ if base.__name__ == owner]
    assert owned, owner
    derived = [kind for kind in kinds if owned[0] in kind.__mro__]
    assert [own for own in INTERNAL[owner] if not any(hasattr(kind, own) for kind in derived)] == []
