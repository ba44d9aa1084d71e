"""From what a user builds (Scene) to what solvers read (Model)."""

from pliant.model.attachments import Attachment
from pliant.model.blocks import (
    Attachments,
    Block,
    Bounds,
    CurvedSquares,
    Dampers,
    DeadLoads,
    Fibres,
    FoldFans,
    FoldPairs,
    Hinges,
    InvertibleSolids,
    Pairs,
    PlateSquares,
    Pressures,
    RestHeights,
    RodBends,
    Sheets,
    Solids,
    Springs,
    YarnTriangles,
)
from pliant.model.body import CARRIED, FREE, Body, Motion
from pliant.model.carried import CarriedPoints
from pliant.model.cloth import Cloth
from pliant.model.contact import Contact, ContactModel
from pliant.model.forces import Force
from pliant.model.joints import Joint, WorldPoints
from pliant.model.mesh_obstacle import MeshObstacleBody
from pliant.model.model import KinematicVertices, Model, build_model
from pliant.model.motions import MOTIONS, ComponentMotion, KeptMotion, RigidMotion, rigid_motion
from pliant.model.motors import Motor
from pliant.model.particles import ParticleModel, Particles
from pliant.model.rigid import RigidBody
from pliant.model.rigid_shapes import PRIMITIVES, Box, Capsule, Cylinder, Primitive, Sphere
from pliant.model.scene import BODIES, Scene
from pliant.model.schedules import Schedule
from pliant.model.seams import Band, Seam
from pliant.model.solid import Solid
from pliant.model.spring_net import SpringNet
from pliant.model.wind import Wind
from pliant.model.world_box import WorldBox
from pliant.model.yarn_sheet import YarnSheet

__all__ = [
    "BODIES",
    "CARRIED",
    "FREE",
    "MOTIONS",
    "PRIMITIVES",
    "Attachment",
    "Attachments",
    "Band",
    "Block",
    "Body",
    "Bounds",
    "Box",
    "Capsule",
    "CarriedPoints",
    "Cloth",
    "ComponentMotion",
    "Contact",
    "ContactModel",
    "CurvedSquares",
    "Cylinder",
    "Dampers",
    "DeadLoads",
    "Fibres",
    "FoldFans",
    "FoldPairs",
    "Force",
    "Hinges",
    "InvertibleSolids",
    "Joint",
    "KeptMotion",
    "KinematicVertices",
    "MeshObstacleBody",
    "Model",
    "Motion",
    "Motor",
    "Pairs",
    "ParticleModel",
    "Particles",
    "PlateSquares",
    "Pressures",
    "Primitive",
    "RestHeights",
    "RigidBody",
    "RigidMotion",
    "RodBends",
    "Scene",
    "Schedule",
    "Seam",
    "Sheets",
    "Solid",
    "Solids",
    "Sphere",
    "SpringNet",
    "Springs",
    "Wind",
    "WorldBox",
    "WorldPoints",
    "YarnSheet",
    "YarnTriangles",
    "build_model",
    "rigid_motion",
]
