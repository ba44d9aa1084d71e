"""Where experiments with rigid bodies write numbers and pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pliant as pl

FOLDER = Path(__file__).with_name("results")


def save(name: str, found: dict[str, Any]) -> None:
    """Write numbers to results/NAME.json and print them."""
    rounded = {key: float(f"{value:.3g}") if isinstance(value, float) else value for key, value in found.items()}
    (FOLDER / f"{name}.json").write_text(json.dumps(rounded, indent=2) + "\n")
    print(name, rounded)


def picture(name: str) -> Path:
    """Where a strip of moments goes."""
    return FOLDER / f"{name}.png"


def frames(sim: pl.Simulation, count: int, strip: Path | None, every: int = 1) -> Iterator[Any]:
    """Frames of a simulation, drawn as a strip of moments if a path is given."""
    with sim.record(strip, every=every) if strip is not None else nullcontext():
        yield from sim.frames(count)
