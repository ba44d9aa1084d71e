"""Ready-made shapes: solids as TetMesh, cloth as TriMesh, chains, ropes and nets as points and edges. In metres."""

from pliant.geometry.shapes.blocks import beam, box
from pliant.geometry.shapes.nets import net
from pliant.geometry.shapes.packing import packed_spheres
from pliant.geometry.shapes.ropes import polygon, rope, wheel
from pliant.geometry.shapes.rounds import ball, cylinder, torus
from pliant.geometry.shapes.sheets import chain, cloth, funnel, skirt

__all__ = [
    "ball",
    "beam",
    "box",
    "chain",
    "cloth",
    "cylinder",
    "funnel",
    "net",
    "packed_spheres",
    "polygon",
    "rope",
    "skirt",
    "torus",
    "wheel",
]
