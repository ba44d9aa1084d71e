"""From what a user builds (Scene) to what solvers read (Model)."""

from pliant.model.blocks import Block, Fibres, Hinges, InvertibleSolids, Joints, Pairs, Sheets, Solids, Springs
from pliant.model.body import Body, Motion
from pliant.model.cloth import Cloth
from pliant.model.forces import Force
from pliant.model.model import LedVertices, Model, build_model
from pliant.model.scene import BODIES, Scene
from pliant.model.solid import Solid
from pliant.model.spring_net import SpringNet

__all__ = [
    "BODIES",
    "Block",
    "Body",
    "Cloth",
    "Fibres",
    "Force",
    "Hinges",
    "InvertibleSolids",
    "Joints",
    "LedVertices",
    "Model",
    "Motion",
    "Pairs",
    "Scene",
    "Sheets",
    "Solid",
    "Solids",
    "SpringNet",
    "Springs",
    "build_model",
]
