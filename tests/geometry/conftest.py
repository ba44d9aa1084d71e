"""Shared test data of the geometry tests."""

from collections.abc import Callable
from pathlib import Path

import meshio
import pytest

from pliant.geometry import TetMesh


@pytest.fixture
def data_folder() -> Path:
    """Folder of the shared test meshes; skips when absent, because they are no part of the package."""
    folder = Path(__file__).parents[2].parent / "shared" / "data" / "meshes"
    if not folder.is_dir():
        pytest.skip(f"no test data at {folder}")
    return folder


@pytest.fixture
def data_meshes(data_folder: Path) -> Callable[[str], TetMesh]:
    """A function that loads a tet mesh of the shared test data by name."""

    def load(name: str) -> TetMesh:
        mesh = meshio.read(data_folder / f"{name}.vtu")
        return TetMesh(mesh.points, mesh.cells_dict["tetra"])

    return load
