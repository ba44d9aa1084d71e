"""Importing the room stays light."""

import subprocess
import sys
from pathlib import Path

import pliant.geometry

# A bare `pliant` stands in for the package, so that this test sees the room alone and not its neighbours.
CODE = """
import sys, types
bare = types.ModuleType("pliant")
bare.__path__ = [sys.argv[1]]
sys.modules["pliant"] = bare
import pliant.geometry
print([name for name in ("numba", "scipy", "meshio", "pytetwild") if name in sys.modules])
"""


def test_geometry_imports_no_heavy_package() -> None:
    package = Path(pliant.geometry.__file__).parents[1]
    command = [sys.executable, "-c", CODE, str(package)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_every_public_name_exists() -> None:
    for name in pliant.geometry.__all__:
        assert getattr(pliant.geometry, name) is not None
