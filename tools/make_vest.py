"""Write the gallery's vest: an .obj file of two panels with UV coordinates in metres.

python tools/make_vest.py [SPACING]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from pliant.geometry.vest import vest_panels
from pliant.scenes.gallery import FOLDER


def write(path: Path, spacing: float) -> None:
    mesh, corners = vest_panels(1.7, spacing)
    uv, number = np.unique(np.round(corners.reshape(-1, 2), 5), axis=0, return_inverse=True)
    lines = ["# a vest for the walking mannequin, arms=0.3; UV coordinates in metres (tools/make_vest.py)"]
    lines += [f"v {x:.5f} {y:.5f} {z:.5f}" for x, y, z in mesh.points]
    lines += [f"vt {u:.5f} {v:.5f}" for u, v in uv]
    faces = zip(mesh.triangles + 1, number.reshape(-1, 3) + 1, strict=True)
    lines += ["f " + " ".join(f"{a}/{b}" for a, b in zip(*face, strict=True)) for face in faces]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(FOLDER / "vest.obj", float(sys.argv[1]) if len(sys.argv) > 1 else 0.035)
