"""TetMesh and TriMesh: points and elements that are known to be sound, because they were checked when made.

Nothing is repaired or dropped silently: a mesh either is built exactly as given or raises one MeshError.
"""

import contextlib
import logging
import tempfile
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.arguments import as_numbers
from pliant.errors import MeshError, PliantError
from pliant.geometry import quality, surface, validation

logger = logging.getLogger("pliant")

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def drop_isolated_vertices(points: ArrayLike, elements: ArrayLike) -> tuple[FloatArray, IntArray, IntArray]:
    """Remove the vertices that no element uses.

    points (n, 3) [m], elements (m, k) indices. Returns the remaining points, the renumbered elements, and
    `kept`, the old index of each remaining vertex, so that other data can follow: `temperature[kept]`.
    """
    old_points = validation.checked_points("drop_isolated_vertices", points)
    indices = np.asarray(elements)
    if indices.ndim != 2 or indices.dtype.kind not in "iu" or indices.size == 0:
        raise MeshError(
            f"drop_isolated_vertices got elements of type {indices.dtype} and shape {indices.shape}; "
            "pass a non-empty (m, k) array of whole vertex indices."
        )
    if indices.min() < 0 or indices.max() >= len(old_points):
        raise MeshError(
            f"drop_isolated_vertices got vertex indices from {indices.min()} to {indices.max()}, but there "
            f"are {len(old_points)} vertices. Correct the indices first."
        )
    new_elements, kept = surface.compact(indices.astype(np.int64), len(old_points))
    return old_points[kept], new_elements, kept


class _Mesh(ABC):
    """What both kinds of mesh share. Attributes are set once, in the constructor."""

    points: FloatArray

    @property
    @abstractmethod
    def elements(self) -> IntArray:
        """(m, k) vertex indices of the elements."""

    @abstractmethod
    def _moved_to(self, points: FloatArray) -> Self:
        """The same elements at other points."""

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: build a new mesh instead of setting {name!r}.")

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, because pickled arrays come back writeable.
        return type(self), (self.points, self.elements)

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.points)

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest coordinates, two (3,) arrays [m]."""
        return self.points.min(axis=0), self.points.max(axis=0)

    @cached_property
    def edges(self) -> IntArray:
        """Every edge once (k, 2), smaller vertex first, sorted."""
        return _frozen(surface.unique_edges(self.elements, self.n_vertices))

    def transformed(
        self,
        scale: ArrayLike = 1.0,
        rotation: ArrayLike | None = None,
        translation: ArrayLike = (0.0, 0.0, 0.0),
    ) -> Self:
        """A new mesh with points R (s * x) + t: first scaled, then rotated, then moved.

        scale is positive, one number or one an axis; rotation is a (3, 3) rotation matrix; translation is
        (3,) [m].
        """
        name = type(self).__name__
        factor = as_numbers(scale)
        if factor is None or factor.shape not in ((), (3,)) or not np.all(np.isfinite(factor)) or np.any(factor <= 0):
            raise MeshError(f"{name}.transformed got scale={scale!r}; pass one positive number or three.")
        shift = as_numbers(translation)
        if shift is None or shift.shape != (3,) or not np.all(np.isfinite(shift)):
            raise MeshError(f"{name}.transformed got translation={translation!r}; pass three finite lengths [m].")
        turn = np.eye(3) if rotation is None else as_numbers(rotation)
        if turn is None or not _is_rotation(turn):
            given = type(rotation).__name__ if turn is None else f"numbers of shape {turn.shape}"
            raise MeshError(
                f"{name}.transformed got {given} that are not a rotation; pass a (3, 3) matrix with orthonormal rows "
                "and determinant 1."
            )
        return self._moved_to((self.points * factor) @ turn.T + shift)


def _is_rotation(matrix: np.ndarray) -> bool:
    is_square = matrix.shape == (3, 3) and bool(np.isfinite(matrix).all())
    return is_square and np.allclose(matrix @ matrix.T, np.eye(3), atol=1e-6) and bool(np.linalg.det(matrix) > 0)


class TetMesh(_Mesh):
    """A solid as tetrahedra.

    points (n, 3) [m]; tets (m, 4) vertex indices, positively oriented: (b - a) x (c - a) . (d - a) > 0.
    orient=True swaps two vertices of every inverted tet instead of refusing it. Arrays are read-only copies.
    """

    tets: IntArray

    def __init__(self, points: ArrayLike, tets: ArrayLike, orient: bool = False) -> None:
        checked = validation.checked_points("TetMesh", points)
        indices = validation.checked_elements("TetMesh", "tet", tets, 4, len(checked))
        indices = validation.checked_orientation("TetMesh", checked, indices, orient)
        self.__dict__.update(points=checked, tets=indices)

    def __repr__(self) -> str:
        return f"TetMesh({self.n_vertices} vertices, {self.n_tets} tets)"

    @property
    def elements(self) -> IntArray:
        return self.tets

    def _moved_to(self, points: FloatArray) -> Self:
        return type(self)(points, self.tets)

    @property
    def n_tets(self) -> int:
        """Number of tetrahedra."""
        return len(self.tets)

    @cached_property
    def volumes(self) -> FloatArray:
        """Volume of each tet (m,) [m^3], all positive."""
        return _frozen(quality.tet_volumes(self.points, self.tets))

    @property
    def volume(self) -> float:
        """Total volume [m^3]."""
        return float(self.volumes.sum())

    @cached_property
    def surface_triangles(self) -> IntArray:
        """Boundary triangles (k, 3), outward oriented, as indices into this mesh's points."""
        return _frozen(surface.boundary_triangles(self.tets, self.n_vertices))

    @cached_property
    def surface_vertices(self) -> IntArray:
        """Vertices on the boundary (k,), ascending: vertex i of `surface()` is surface_vertices[i]."""
        return _frozen(surface.compact(self.surface_triangles, self.n_vertices)[1])

    def surface(self) -> "TriMesh":
        """The boundary as a mesh of its own, its vertices numbered as in `surface_vertices`."""
        triangles, kept = surface.compact(self.surface_triangles, self.n_vertices)
        return TriMesh(self.points[kept], triangles)


class TriMesh(_Mesh):
    """A surface as triangles: cloth, an obstacle, or the boundary of a solid. May have holes and branches.

    points (n, 3) [m]; triangles (m, 3) vertex indices, counter-clockwise seen from outside. Read-only copies.
    """

    triangles: IntArray

    def __init__(self, points: ArrayLike, triangles: ArrayLike) -> None:
        checked = validation.checked_points("TriMesh", points)
        indices = validation.checked_elements("TriMesh", "triangle", triangles, 3, len(checked))
        indices = validation.checked_areas("TriMesh", checked, indices)
        self.__dict__.update(points=checked, triangles=indices)

    def __repr__(self) -> str:
        return f"TriMesh({self.n_vertices} vertices, {self.n_triangles} triangles)"

    @property
    def elements(self) -> IntArray:
        return self.triangles

    def _moved_to(self, points: FloatArray) -> Self:
        return type(self)(points, self.triangles)

    @property
    def n_triangles(self) -> int:
        """Number of triangles."""
        return len(self.triangles)

    @cached_property
    def areas(self) -> FloatArray:
        """Area of each triangle (m,) [m^2], all positive."""
        return _frozen(quality.triangle_areas(self.points, self.triangles))

    @property
    def area(self) -> float:
        """Total area [m^2]."""
        return float(self.areas.sum())

    @cached_property
    def is_closed(self) -> bool:
        """Whether the surface is closed, manifold along its edges and consistently oriented."""
        return surface.is_closed_surface(self.triangles, self.n_vertices)

    def boundary_loops(self) -> list[IntArray]:
        """The boundary, loop by loop, the longest first: vertex indices in order, the first repeated at the end."""
        from pliant.geometry.boundary import boundary_loops  # which takes a TriMesh

        return boundary_loops(self)

    def tetrahedralize(self, edge_length: float | None = None) -> TetMesh:
        """Fill the surface with tets, by fTetWild (extra `mesh`).

        edge_length is the wanted length of edges [m]; by default a twentieth of the bounding box's diagonal.
        The boundary moves by up to a thousandth of that diagonal. Small gaps and self-intersections of the
        surface are tolerated; one that encloses nothing is an error.
        """
        try:
            import pytetwild
        except ImportError as error:
            raise PliantError(
                f'TriMesh.tetrahedralize needs the packages of the extra `mesh` ({error}): pip install "pliant[mesh]".'
            ) from error
        if edge_length is not None and not (np.isfinite(edge_length) and edge_length > 0):
            raise MeshError(f"TriMesh.tetrahedralize got edge_length={edge_length!r}; pass a positive length [m].")
        # fTetWild leaves a file in the working directory, so it gets one that is thrown away.
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            points, tets = pytetwild.tetrahedralize(
                self.points.copy(), self.triangles.astype(np.int32), edge_length_abs=edge_length, quiet=True
            )
        if len(tets) == 0:
            raise MeshError(f"{self!r} cannot be filled with tets: {self._why_empty(edge_length)}")
        holes = self._open_edges()
        if holes:
            logger.warning(
                "%r has %d open edges; what closes them is a guess. Close its holes first.",
                self,
                holes,
                extra={"entry": "open-edges"},
            )
        used_points, used_tets, _ = drop_isolated_vertices(points, tets)
        return TetMesh(used_points, used_tets, orient=True)

    def _open_edges(self) -> int:
        """How many edges belong to one triangle only."""
        sides = np.sort(self.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        _, counts = np.unique(sides, axis=0, return_counts=True)
        return int((counts == 1).sum())

    def _why_empty(self, edge_length: float | None) -> str:
        """Why a tetrahedralisation may have found nothing inside, and what to do."""
        holes = self._open_edges()
        if holes:
            return f"it has {holes} open edges and encloses nothing. Close its holes and orient its triangles outward."
        a, b, c = np.moveaxis(self.points[self.triangles] - self.points.mean(axis=0), 1, 0)
        volume = float(np.einsum("ka,ka->k", a, np.cross(b, c)).sum() / 6)
        if volume < 0:
            return "it is closed, but its triangles face inward. Orient them outward."
        area = float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)
        size = float(np.linalg.norm(np.ptp(self.points, axis=0)))
        wall = 2 * volume / area if area else 0.0
        return (
            f"it is closed, but only about {wall:.3g} m thick, and the surface may move by {size / 1000:.3g} m. Make "
            f"it thicker, simulate it as a cloth, or give an edge_length near its thickness (now "
            f"{edge_length if edge_length is not None else size / 20:.3g} m)."
        )


def _frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array
