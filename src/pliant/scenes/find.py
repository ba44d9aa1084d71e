"""Scenes by name: what the command line calls SCENE."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

from pliant.errors import SceneError
from pliant.model import Scene


def find_scene(name: str) -> Callable[[], Scene]:
    """A function that makes the scene: one of pliant.scenes by its name, or scene() of a .py file."""
    from pliant import scenes

    if name.endswith(".py"):
        path = Path(name)
        if not path.exists():
            raise SceneError(f"{name}: there is no such file.")
        make = runpy.run_path(str(path)).get("scene")
        if not callable(make):
            raise SceneError(f"{name}: it has no function scene() that returns a pl.Scene.")
        return make
    make = getattr(scenes, name, None) if name in GALLERY else None
    if make is None:
        raise SceneError(f"there is no scene {name!r}: give a .py file with scene(), or one of {', '.join(GALLERY)}.")
    return make


GALLERY = ("cube", "hanging_beam", "twisted_beam")
