"""Build the Blender add-on, dist/pliant_blender.zip: `make blender`."""

from __future__ import annotations

import argparse
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "tools" / "blender" / "pliant_blender"


def build(folder: Path) -> Path:
    """The zip in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "pliant_blender.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((*SOURCE.glob("*.py"), *SOURCE.glob("*.toml"))):
            archive.write(path, f"pliant_blender/{path.name}")
    return target


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build the Blender add-on.")
    parser.add_argument("--folder", type=Path, default=ROOT / "dist")
    print(build(parser.parse_args().folder))
