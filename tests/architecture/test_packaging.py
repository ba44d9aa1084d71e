"""What the package says of itself is right, and the same everywhere."""

import re
import runpy
import tomllib
from pathlib import Path

import pliant

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
#: Extras for those who work on Pliant, not with it.
OWN = {"all", "docs", "package", "test", "quality"}


def test_one_version_everywhere():
    cited = re.search(r"(?m)^version: (.*)$", (ROOT / "CITATION.cff").read_text())[1]
    newest = re.search(r"(?m)^## (\S+)", (ROOT / "CHANGELOG.md").read_text())[1]
    assert PROJECT["version"] == cited == newest == pliant.__version__


def test_addresses_are_those_of_the_papers_that_are_cited():
    """The project has no public address of its own, and invents none."""
    cited = re.findall(r"(?m)^ +doi: (\S+)$", (ROOT / "CITATION.cff").read_text())
    assert sorted(PROJECT["urls"].values()) == sorted(f"https://doi.org/{doi}" for doi in cited)
    assert len(cited) == 4


def test_the_licence_is_an_spdx_expression_with_its_file():
    assert PROJECT["license"] == "MIT"
    assert all((ROOT / name).exists() for name in PROJECT["license-files"])


def test_every_extra_for_users_is_in_all_and_is_imported_somewhere():
    """An extra that no code asks for, as `cuda` once was, promises what is not there."""
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    assert set(re.search(r"\[(.*)\]", everything)[1].split(",")) == set(extras) - OWN
    names = {"pillow": "PIL", "usd-core": "pxr", "imageio-ffmpeg": "imageio_ffmpeg"}
    not_imported = {"pocl-binary-distribution", "pyvista"}  # a driver; what pytetwild needs
    sources = "\n".join(path.read_text() for folder in ("src", "examples") for path in (ROOT / folder).rglob("*.py"))
    for extra in set(extras) - OWN:
        packages = {re.match(r"[\w-]+", requirement)[0] for requirement in extras[extra]} - not_imported
        for package in packages:
            name = names.get(package, package)
            assert re.search(rf"(import|from) {name}\b|\"{name}\"", sources), f"extra {extra}: nothing imports {name}"


def test_pythons_are_those_of_the_classifiers():
    assert PROJECT["requires-python"] == ">=3.11"
    tried = re.findall(r"Programming Language :: Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert tried == ["3.11", "3.12", "3.13"]
    assert (ROOT / "src/pliant/py.typed").exists()


def test_the_description_on_package_indexes_has_no_path_into_the_repository():
    description = runpy.run_path(str(ROOT / "tools/build_wheel.py"))["description"]
    readme = (ROOT / "README.md").read_text()
    text = description(readme)
    assert re.findall(r"\]\((?!https?:|#)[^)]*\)", text) == []
    assert "docs/images" not in text
    assert text.startswith("# Pliant\n")
    kept = [line for line in readme.splitlines() if "](" not in line and not line.startswith("*`make demo`")]
    assert len(kept) > 80
    assert [line for line in kept if line not in text.splitlines()] == []
    assert description("a [page](docs/a.md) and [one](https://b.c)") == "a page and [one](https://b.c)"
