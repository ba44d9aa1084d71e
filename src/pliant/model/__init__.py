"""From what a user builds (Scene) to what solvers read (Model)."""

from pliant.model.attachments import Attachment
from pliant.model.blocks import Attachments, Block, Bounds, Dampers, Pairs, Pressures, Solids
from pliant.model.body import Body, Motion
from pliant.model.model import LedVertices, Model, build_model
from pliant.model.scene import Scene
from pliant.model.solid import Solid
from pliant.model.wind import Wind
from pliant.model.world_box import WorldBox

__all__ = [
    "Attachment",
    "Attachments",
    "Block",
    "Body",
    "Bounds",
    "Dampers",
    "LedVertices",
    "Model",
    "Motion",
    "Pairs",
    "Pressures",
    "Scene",
    "Solid",
    "Solids",
    "Wind",
    "WorldBox",
    "build_model",
]
