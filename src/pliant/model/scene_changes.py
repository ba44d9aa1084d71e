"""Changes of a scene that come too late: a simulation is built once, and what is set afterwards takes no part in it."""

from __future__ import annotations

import logging
from typing import Any

from pliant.model.known_names import KnownNames

logger = logging.getLogger("pliant")

#: What pictures alone read.
SHOWN = ("colour",)


class Changeable(KnownNames):
    """A scene or a body, which remembers its last change."""

    _last_change = (0, "")
    _count = 0  # of changes, of all scenes

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if self._is_built and not name.startswith("_") and name not in SHOWN:
            self._note_change(f"{name} was set")

    def _note_change(self, what: str) -> None:
        Changeable._count += 1
        self._last_change = (Changeable._count, f"{vars(self).get('name', 'scene')}.{what}")


class SceneWatch:
    """Of one simulation: warns once when its scene has changed since it was built and a step is to be taken."""

    def __init__(self, scene: Any):
        self._scene = scene
        self._has_warned = False
        self.accept()

    def accept(self) -> None:
        """Take all changes up to now as known to the simulation."""
        self._seen, _ = self._newest()
        self._count, self._parts = Changeable._count, self._counts()

    def warn(self) -> None:
        """Before a step."""
        parts = self._counts()
        if self._has_warned or (self._count == Changeable._count and parts == self._parts):
            return
        self._count = Changeable._count
        number, what = self._newest()
        if number <= self._seen and parts == self._parts:
            return
        self._has_warned = True
        what = what if number > self._seen else self._words(parts)
        logger.warning(
            f"{what} after this simulation was built, which has no effect on it. Build another simulation, or change "
            "this one by methods of its own, such as sim.set_gravity().",
            extra={"entry": "scene-changed"},
        )

    def _newest(self) -> tuple[int, str]:
        return max(part._last_change for part in (self._scene, *self._scene.bodies))

    def _counts(self) -> dict[str, int]:
        scene = self._scene
        parts = {"bodies": scene.bodies, "obstacles": scene.shapes, "attachments": scene.attachments}
        parts |= {"joints": scene.joints, "seams": scene.seams, "bands": scene.bands}
        return {name: len(part) for name, part in parts.items()}

    def _words(self, parts: dict[str, int]) -> str:
        name = next(name for name, count in parts.items() if count != self._parts[name])
        return f"the number of the scene's {name} changed from {self._parts[name]} to {parts[name]}"
