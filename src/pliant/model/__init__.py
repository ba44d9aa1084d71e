"""From what a user builds (Scene) to what solvers read (Model)."""

from pliant.model.model import LedVertices, Model, Solids, build_model
from pliant.model.scene import Body, Motion, Scene

__all__ = ["Body", "LedVertices", "Model", "Motion", "Scene", "Solids", "build_model"]
