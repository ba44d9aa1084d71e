"""Where an experiment leaves its picture and its numbers."""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib.figure import Figure
from PIL import Image

FOLDER = Path(__file__).parent / "results"
COLOURS = 128
LARGEST = 300_000  # bytes of a picture


def save(name: str, figure: Figure, numbers: dict, folder: Path = FOLDER) -> None:
    """Write NAME.png, with few colours to keep it small, and NAME.json into the folder of results."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(_rounded(numbers), indent=1) + "\n")
    picture = folder / f"{name}.png"
    figure.savefig(picture, dpi=110, facecolor="white")
    Image.open(picture).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(picture, optimize=True)
    if picture.stat().st_size > LARGEST:
        raise RuntimeError(f"{picture} has {picture.stat().st_size} bytes, more than {LARGEST}: make it smaller.")
    print(f"Wrote {picture} and {name}.json.")


def _rounded(value):
    """Floats with four digits, everywhere inside."""
    if isinstance(value, dict):
        return {str(key): _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value if isinstance(value, int | str | bool | None) else float(f"{float(value):.4g}")
