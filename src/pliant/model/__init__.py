"""From what a user builds (Scene) to what solvers read (Model)."""

from pliant.model.blocks import Block, Pairs, Solids
from pliant.model.body import Body, Motion
from pliant.model.forces import Force
from pliant.model.model import LedVertices, Model, build_model
from pliant.model.motions import MOTIONS, KeptMotion
from pliant.model.scene import BODIES, Scene
from pliant.model.solid import Solid

__all__ = [
    "BODIES",
    "MOTIONS",
    "Block",
    "Body",
    "Force",
    "KeptMotion",
    "LedVertices",
    "Model",
    "Motion",
    "Pairs",
    "Scene",
    "Solid",
    "Solids",
    "build_model",
]
