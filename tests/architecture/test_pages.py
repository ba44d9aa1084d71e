"""The code of all pages runs as it stands, page by page, and gives what theory says."""

import importlib.util
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.solvers import SOLVERS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/tutorials").glob("*.md"))]
BLOCK = re.compile(r"(?:<!-- needs: ([^\n]*?) -->\n)?```python\n(.*?)```", re.DOTALL)
CODE = re.compile(r"\bpl\.\w|\bimport |\bsim\.|^ +pliant |^ +\[\[|^ +\w+ = [\"{\[]")
#: Pages whose kernels nothing else compiles, or that run long.
SLOW = {
    "contact",
    "README",
    "start",
    "control",
    "grains",
    "tutorials/batch-runs",
    "tutorials/cloth",
    "tutorials/contact",
    "tutorials/grains",
    "tutorials/notebook",
    "tutorials/paraview-and-blender",
    "tutorials/rigid-and-soft",
    "how-to-add-an-element",
    "statics",
    "rigid-bodies",
    "yarn-cloth",
}
#: Pages whose scenes are made of pictures.
NEEDS = {"tutorials/notebook": "PIL"}


#: Files that pages read, as a user has them.
FILES = {"garments": ("vest.obj", "walk.npz"), "yarn-cloth": ("vest.obj",)}


def solid(names):
    assert names["lengthening"] == pytest.approx(names["theory"], rel=0.03)
    assert names["period"] == pytest.approx(4 * 0.5 * np.sqrt(1000 / 2e5), rel=0.04)


def contact(names):
    assert names["way"] == pytest.approx(names["theory"], rel=0.02)
    assert -names["slope"].contact_force[2] == pytest.approx(9.81, rel=0.2)  # it still bounces a little


def cloth(names):
    assert -names["sim"].positions[:, 2].min() == pytest.approx(1.0, abs=0.15)


def rigid(names):
    assert names["ball"].contact_force[2] == pytest.approx(names["weight"], rel=0.05)


def grains(names):
    assert names["distances"].min() > 0.99 * 0.02
    assert np.abs(names["x"][:, :2]).max() < 0.05 - 0.99 * 0.01


def batch(names):
    """The tip of a heavier-bending beam hangs deeper; small bending is in proportion to 1 / E."""
    tips = names["tips"]
    assert tips[1e6] < tips[2e6] < tips[4e6]


def control(names):
    assert names["belt"].position == pytest.approx([0.1, 0.0, 0.0], abs=1e-12)


CHECKS = {"tutorials/solid": solid, "tutorials/contact": contact, "tutorials/cloth": cloth,
          "tutorials/rigid-and-soft": rigid, "tutorials/grains": grains, "tutorials/batch-runs": batch,
          "control": control}  # fmt: skip


def name_of(page):
    """Its path in docs/, without the ending."""
    return page.relative_to(ROOT).with_suffix("").as_posix().removeprefix("docs/")


def pages():
    for page in PAGES:
        if "```python" in page.read_text():
            marks = [pytest.mark.slow] if name_of(page) in SLOW else []
            yield pytest.param(page, id=name_of(page), marks=marks)


def write(path):
    """A file that a page reads: the gallery's vest, or the figure that wears it."""
    if path.name == "vest.obj":
        path.write_bytes((ROOT / "src/pliant/scenes/gallery/vest.obj").read_bytes())
    else:
        figure = pl.Animation.walking_mannequin(arms=0.3)
        np.savez(path, frames=figure.frames, triangles=figure.triangles, times=figure.times)


@pytest.fixture(autouse=True)
def _as_it_was():
    """A solver that a page registers is known to that page alone."""
    before = dict(SOLVERS)
    yield
    SOLVERS.clear()
    SOLVERS.update(before)


@pytest.mark.parametrize("page", list(pages()))
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    if name_of(page) in NEEDS:
        pytest.importorskip(NEEDS[name_of(page)])
    monkeypatch.chdir(tmp_path)
    for file in FILES.get(name_of(page), ()):
        write(tmp_path / file)
    names = {}
    for k, (needed, code) in enumerate(BLOCK.findall(page.read_text())):
        if all(importlib.util.find_spec(name) for name in needed.split(", ") if name):
            block = tmp_path / f"block{k}.py"
            block.write_text(code)
            names = runpy.run_path(str(block), init_globals=names, run_name="page")
    CHECKS.get(name_of(page), lambda names: None)(names)


def test_no_code_stands_outside_of_the_blocks_that_are_run():
    """Indented blocks are for formulas: Python, scene files and commands in them would be run by nobody."""
    for page in PAGES:
        rest = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
        indented = [line for line in rest.splitlines() if re.match(r"    +\S", line)]
        code = [line for line in indented if CODE.search(line)]
        assert code == [], f"{page.name}: put it into a block of python, toml or text"
        kinds = set(re.findall(r"(?m)^```(\w*)\n", page.read_text())) - {""}
        assert kinds <= {"python", "toml", "text", "console"}, f"{page.name}: {kinds}"
