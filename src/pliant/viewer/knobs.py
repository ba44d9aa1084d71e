"""What sliders change in a scene that runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.materials import LameLaw
from pliant.model import Body, Cloth, Scene, Solid, SpringNet
from pliant.solvers import SOLVERS, VBD, Solver
from pliant.solvers.machinery.accelerator import Accelerator

ALONG_X = np.array([1.0, 0.0, 0.0])


def usual_solver(name: str) -> Solver[Any]:
    """A solver by its name, with its usual options; an accelerator wraps vertex block descent."""
    kind: Any = SOLVERS[name]
    return kind(VBD()) if issubclass(kind, Accelerator) else kind()


def constant_wind(scene: Scene) -> tuple[np.ndarray, float] | None:
    """Direction (3,) and speed [m/s] of a wind that does not change: along x where none blows yet. None if the scene's
    wind changes by itself or there is no surface for it to blow on.
    """
    if not any(isinstance(body, Solid | Cloth) for body in scene.bodies):
        return None
    if scene.wind is None:
        return ALONG_X, 0.0
    if callable(scene.wind.velocity):
        return None
    speed = float(np.linalg.norm(scene.wind.velocity))
    return (scene.wind.velocity / speed if speed > 0 else ALONG_X), speed


class Stiffness:
    """Scales the moduli of all bodies together, from what the scene says; laws without mu and lam keep theirs."""

    def __init__(self, scene: Scene):
        self._bodies = [(body, self._moduli(body)) for body in scene.bodies if self._moduli(body) is not None]

    @property
    def is_there(self) -> bool:
        """Whether there is anything to scale."""
        return bool(self._bodies)

    def set(self, factor: float) -> None:
        """All bodies so many times as stiff as the scene says."""
        for body, moduli in self._bodies:
            if isinstance(body, SpringNet):
                body.stiffness = factor * moduli
            else:
                body.material = replace(moduli, mu=factor * moduli.mu, lam=factor * moduli.lam)  # type: ignore[attr-defined]

    @staticmethod
    def _moduli(body: Body) -> Any:
        if isinstance(body, SpringNet):
            return np.array(body.stiffness)
        if isinstance(body, Solid | Cloth) and isinstance(body.material, LameLaw):
            return body.material
        return None
