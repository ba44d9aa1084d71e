"""The papers' meshes. They are not part of the repository: they lie in ../shared/data/meshes beside it."""

from __future__ import annotations

import sys
from pathlib import Path

import pliant as pl

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "meshes"


def has(name: str) -> bool:
    """Whether the mesh is here, e.g. "armadillo-15k"."""
    return (FOLDER / f"{name}.vtu").exists()


def load(name: str) -> pl.TetMesh:
    """The mesh, as it is in its file; ends the script with a sentence when there is none."""
    if not has(name):
        print(f"Skipped: the mesh {name}.vtu is not in {FOLDER}.")
        sys.exit(0)
    return pl.load_mesh(FOLDER / f"{name}.vtu")
