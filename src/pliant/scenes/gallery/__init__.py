"""Scenes that come with the package: one .toml file each, and a picture of the same name."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Entry:
    """What the gallery says of a scene."""

    name: str
    title: str
    description: str
    run_seconds: float  # measured, on one core of a server

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.toml"

    @property
    def thumbnail(self) -> Path:
        return FOLDER / f"{self.name}.png"


def entries() -> list[Entry]:
    """All scenes, by name."""
    return [_entry(path) for path in sorted(FOLDER.glob("*.toml"))]


def _entry(path: Path) -> Entry:
    about = tomllib.loads(path.read_text(encoding="utf-8"))
    return Entry(path.stem, about["title"], about["description"], about["run_seconds"])
