"""Ready-made shapes: solids as TetMesh, cloth as TriMesh, a chain as points and edges. Lengths in metres."""

from pliant.geometry.shapes.blocks import beam, box
from pliant.geometry.shapes.rounds import ball, cylinder, torus
from pliant.geometry.shapes.sheets import chain, cloth

__all__ = ["ball", "beam", "box", "chain", "cloth", "cylinder", "torus"]
