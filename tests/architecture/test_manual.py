"""The manual is whole: every warning and error has its section, every public name a page, every command and file is
right.
"""

import ast
import re
import shlex
import sys
from pathlib import Path

import pytest
import typer

import pliant as pl
from pliant import convergence
from pliant.cli.main import app
from pliant.help_links import PAGE, link
from pliant.scenes import files

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/tutorials").glob("*.md"))]


def sections():
    return set(re.findall(r"(?m)^#+ .*\{ #([\w-]+) \}$", (ROOT / PAGE).read_text()))


def warnings_of(path):
    """Calls of logger.warning in a file: line, and the section that each names."""
    for node in ast.walk(ast.parse(path.read_text())):
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "warning"
        if is_call and isinstance(node.func.value, ast.Name) and node.func.value.id == "logger":
            extra = next((word.value for word in node.keywords if word.arg == "extra"), None)
            yield node.lineno, ast.literal_eval(extra).get("entry") if extra is not None else None


def test_every_warning_names_a_section_of_the_troubleshooting_page():
    found = [(path, *one) for path in sorted((ROOT / "src").rglob("*.py")) for one in warnings_of(path)]
    assert len(found) >= 9
    without = [f"{path.relative_to(ROOT)}:{line}: {entry}" for path, line, entry in found if entry not in sections()]
    assert without == [], f'pass extra={{"entry": "name"}} and write a section "{{ #name }}" in {PAGE}'


def constants(tree, kind):
    """Texts that a function yields or returns, those of tuples by their last entry."""
    for node in ast.walk(tree):
        value = node.value if isinstance(node, kind) else None
        value = value.elts[-1] if isinstance(value, ast.Tuple) else value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value.value


def test_every_note_names_a_section_of_the_troubleshooting_page():
    notes = list(constants(ast.parse((ROOT / "src/pliant/notes_of_building.py").read_text()), ast.Yield))
    assert len(notes) >= 4
    assert set(notes) <= sections()


def test_every_cause_of_steps_that_do_not_converge_is_on_the_troubleshooting_page():
    """As the warning words it, up to its first comma."""
    assert len(convergence.CAUSES) == 4
    page = (ROOT / PAGE).read_text()
    assert [cause for cause in convergence.CAUSES if f"| {cause.split(',')[0]}" not in page] == []


def test_every_error_names_a_section_of_its_own():
    kinds = [value for value in vars(pl.errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert {kind.entry for kind in kinds} <= sections()
    assert len({kind.entry for kind in kinds}) == len(kinds)
    assert link(pl.SceneError.entry) == "docs/troubleshooting.md#scene-errors"


def test_every_public_name_is_on_a_page_of_the_reference():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from manual import api
    finally:
        sys.path.pop(0)
    assert api.unplaced() == [], "add them to PAGES of tools/manual/api.py"


def blocks(kind):
    for page in PAGES:
        for k, text in enumerate(re.findall(rf"```{kind}\n(.*?)```", page.read_text(), re.DOTALL)):
            yield pytest.param(page, text, id=f"{page.stem}-{k}")


@pytest.mark.parametrize(("page", "text"), list(blocks("toml")))
def test_scene_files_on_pages_are_valid(page, text, tmp_path):
    path = tmp_path / "scene.toml"
    path.write_text(text)
    files.check(files.read_source(path))


def commands():
    for page in PAGES:
        for block in re.findall(r"```(?:text|console)?\n(.*?)```", page.read_text(), re.DOTALL):
            for line in block.splitlines():
                if line.startswith("pliant "):
                    yield pytest.param(line.partition(" #")[0], id=f"{page.stem}: {line[:50]}")


@pytest.mark.parametrize("line", list(commands()))
def test_commands_on_pages_exist_with_their_options(line):
    name, *arguments = shlex.split(line.split(">")[0])[1:]
    command = typer.main.get_command(app).commands[name]
    command.make_context(name, arguments)  # refuses what it does not know


def test_links_between_pages_lead_somewhere():
    generated = {"architecture.md", "changelog.md", "contributing.md"}
    for page in PAGES[1:]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)", page.read_text()):
            place = (page.parent / target).resolve()
            made = target in generated or "reference/" in target
            assert made or place.exists(), f"{page.name}: {target}"
