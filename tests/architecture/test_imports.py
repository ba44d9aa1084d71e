"""Imports go one way, `import pliant` is light, and every public name is there and explained."""

import subprocess
import sys
from pathlib import Path

import pytest

import pliant

ROOT = Path(pliant.__file__).parents[2]
HEAVY = ("numba", "llvmlite", "scipy", "sympy", "meshio", "PIL", "pxr", "imageio_ffmpeg", "matplotlib", "rich")


def test_import_contracts_hold() -> None:
    """import-linter's layers and forbidden imports, as written in pyproject.toml."""
    pytest.importorskip("importlinter")
    if not (ROOT / "pyproject.toml").exists():
        pytest.skip("pliant is not imported from a checkout")
    code = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    command = [sys.executable, "-c", code, "--no-cache"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert " 0 broken" in result.stdout


def test_import_of_pliant_is_light() -> None:
    """`import pliant` loads none of the heavy packages: they come with the first name that needs them."""
    code = f"import sys, pliant; print([name for name in {HEAVY} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_scenes_are_opened_without_what_few_of_them_need() -> None:
    """Matrices, symbols and mesh files come with the first scene that has them, as do Numba's tables of NumPy."""
    rare = ("scipy.sparse", "scipy.linalg", "sympy", "meshio", "numba.np.arraymath")
    code = f"import sys, pliant.scenes.plans; print([name for name in {rare} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("name", [name for name in pliant.__all__ if name != "__version__"])
def test_public_names_exist_and_are_documented(name: str) -> None:
    """Each has a docstring of its own, not the one a dataclass makes of its fields."""
    value = getattr(pliant, name)
    doc = value.__doc__
    assert doc
    assert not doc.startswith(f"{name}(")
    if isinstance(value, type):
        assert doc != value.__mro__[1].__doc__


def test_unknown_name_is_an_attribute_error() -> None:
    """And `dir` shows what there is."""
    with pytest.raises(AttributeError, match="no attribute 'Simulatoin'"):
        pliant.Simulatoin  # noqa: B018
    assert dir(pliant) == sorted(pliant.__all__)
