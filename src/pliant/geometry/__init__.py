"""Meshes as arrays: shapes, surface, adjacency, colouring, reordering, quality. No physics.

The compiled parts (adjacency, colouring) load Numba, so they are imported when first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pliant.geometry import shapes
from pliant.geometry.fans import FoldFans, fold_fans
from pliant.geometry.folds import boundary_edges, hinges, rod_bends
from pliant.geometry.mesh import TetMesh, TriMesh, drop_isolated_vertices
from pliant.geometry.ordering import spatial_order
from pliant.geometry.quality import dihedral_angles, radius_ratios, tet_volumes, triangle_areas
from pliant.geometry.surface import boundary_triangles, compact, is_closed_surface, unique_edges

if TYPE_CHECKING:
    from pliant.geometry.adjacency import vertex_graph
    from pliant.geometry.colouring import colour_elements, colour_vertices

_COMPILED = {
    "vertex_graph": "pliant.geometry.adjacency",
    "colour_elements": "pliant.geometry.colouring",
    "colour_vertices": "pliant.geometry.colouring",
}

__all__ = [
    "FoldFans",
    "TetMesh",
    "TriMesh",
    "boundary_edges",
    "boundary_triangles",
    "colour_elements",
    "colour_vertices",
    "compact",
    "dihedral_angles",
    "drop_isolated_vertices",
    "fold_fans",
    "hinges",
    "is_closed_surface",
    "radius_ratios",
    "rod_bends",
    "shapes",
    "spatial_order",
    "tet_volumes",
    "triangle_areas",
    "unique_edges",
    "vertex_graph",
]


def __getattr__(name: str) -> Any:
    """Import a compiled function when it is first used."""
    if name in _COMPILED:
        return getattr(import_module(_COMPILED[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
