"""`.usdc`, `.usd`: Blender, Houdini, Omniverse. A mesh a body: points and normals by time, and a material.

Springs are curves of two points each, so that a point comes as often as it has springs. Spheres are Points with their
widths, which are 0 until they are there. A rigid body's points stay, in its own axes, and its mesh is moved and turned
by transforms (translate and orient) by time.

z is up and a unit is a metre. The time code of a frame is its time times the frame rate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pliant.errors import FileError, PliantError
from pliant.io.results.places import replacing
from pliant.io.results.result import Frame, Layout, Result
from pliant.io.results.rigid_surfaces import RigidSurface, rigid_surfaces
from pliant.io.results.surfaces import Part, extent, layout_of_parts, vertex_normals

try:
    from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, Vt
except ImportError:
    raise PliantError('USD files need the package usd-core: pip install "pliant[usd]".') from None

CURVE_WIDTH = 0.01  # of the scene's size
POSE = ["xformOp:translate", "xformOp:orient"]  # of rigid bodies
SAVE_BYTES = 64e6  # so much is held before it goes to the file


def export(result: Result, path: Path) -> None:
    """Write the surfaces of all frames of a result, in single precision."""
    with replacing(path) as beside:
        stage = Usd.Stage.CreateNew(str(beside))
        bodies, held = describe(stage, result), 0
        for code, time, points in coded_frames(result):
            for body in bodies:
                for name, values in body.sample(points, time).items():
                    body.prim.GetAttribute(name).Set(array_type(values).FromNumpy(values), code)
            held += 24 * len(points)
            if held > SAVE_BYTES:
                stage.GetRootLayer().Save()
                held = 0
        stage.GetRootLayer().Save()
        del stage, bodies


def array_type(values: np.ndarray) -> type[Vt.Vec3fArray] | type[Vt.FloatArray]:
    """What USD keeps values (k, 3) or (k,) in."""
    return Vt.Vec3fArray if values.ndim == 2 else Vt.FloatArray


def coded_frames(result: Result) -> Iterator[tuple[float, float, np.ndarray]]:
    """The time code, the time [s] and the points (n, 3) of the surface of each frame."""
    layout, kept = result.layout.surface()
    for k, time in enumerate(result.times.tolist()):
        yield time * layout.frame_rate, time, result.positions(k)[kept]


def describe(stage: Usd.Stage, result: Result) -> list[Drawn]:
    """Put all that does not change with time on a stage; the bodies that do change."""
    layout, kept = result.layout.surface()
    _describe_time(stage, layout, result.times)
    size = float(np.ptp(result.positions(0), axis=0).max()) if len(result) else 1.0
    rigid = {surface.number: surface for surface in rigid_surfaces(result, layout, kept)}
    return _add_bodies(stage, layout, CURVE_WIDTH * size, rigid, result.times * layout.frame_rate)


class UsdResult(Result):
    """Reads the meshes and curves of a stage whose points change and whose faces do not; faces of four and more are
    split.
    """

    def __init__(self, path: Path):
        self.path = path
        try:
            self._stage = Usd.Stage.Open(str(path))
        except Exception as error:  # pxr has no public class for it
            raise FileError(f"{path}: usd-core cannot read it ({str(error).strip()}).") from None
        kinds = (UsdGeom.Mesh, UsdGeom.BasisCurves, UsdGeom.Points)
        self._meshes = [kind(prim) for prim in self._stage.Traverse() for kind in kinds if prim.IsA(kind)]
        if not self._meshes:
            raise FileError(f"{path}: it holds no mesh.")
        self._codes = sorted({code for mesh in self._meshes for code in _time_samples(mesh)}) or [0.0]
        rate = self._stage.GetTimeCodesPerSecond()
        self.times = np.array(self._codes) / rate
        names = [mesh.GetPrim().GetName() for mesh in self._meshes]
        self.layout = layout_of_parts([self._part(mesh) for mesh in self._meshes], names, rate)
        rigid = [k for k, mesh in enumerate(self._meshes) if [op.GetOpName() for op in _ops(mesh)] == POSE]
        self.layout = replace(self.layout, rigid=tuple(rigid))
        self._read_spheres()

    def _read_spheres(self) -> None:
        """Radii of points, and when they are there: from the first time on at which their width is not 0."""
        radii, births = np.zeros(self.layout.n_points), np.zeros(self.layout.n_points)
        for mesh, first in zip(self._meshes, self.layout.body_start, strict=False):
            if isinstance(mesh, UsdGeom.Points):
                widths = np.stack([np.asarray(mesh.GetWidthsAttr().Get(code), float) for code in self._codes])
                own = slice(first, first + widths.shape[1])
                radii[own] = 0.5 * widths.max(axis=0)
                births[own] = np.where(widths[0] > 0, 0.0, self.times[np.argmax(widths > 0, axis=0)])
        if radii.any():
            self.layout = replace(self.layout, radii=radii, births=births)

    def _frame(self, k: int) -> Frame:
        code = self._codes[k]
        cache = UsdGeom.XformCache(code)
        points = []
        for mesh in self._meshes:
            own = np.asarray(mesh.GetPointsAttr().Get(code), float)
            matrix = np.array(cache.GetLocalToWorldTransform(mesh.GetPrim()))  # of row vectors
            points.append(own @ matrix[:3, :3] + matrix[3, :3])
        poses = [_pose(self._meshes[number], code) for number in self.layout.rigid]
        return Frame(float(self.times[k]), np.concatenate(points), poses=np.reshape(poses, (-1, 7)))

    def _part(self, mesh: UsdGeom.Mesh | UsdGeom.BasisCurves | UsdGeom.Points) -> Part:
        n_points = len(mesh.GetPointsAttr().Get(self._codes[0]))
        if isinstance(mesh, UsdGeom.Points):
            return Part(n_points, np.empty((0, 3)), np.empty((0, 4)))
        if isinstance(mesh, UsdGeom.BasisCurves):
            counts = np.array(mesh.GetCurveVertexCountsAttr().Get())
            ends = np.cumsum(counts)[:-1] - 1
            edges = np.delete(np.column_stack([np.arange(n_points - 1), np.arange(1, n_points)]), ends, axis=0)
            return Part(n_points, np.empty((0, 3)), np.empty((0, 4)), edges)
        counts = np.array(mesh.GetFaceVertexCountsAttr().Get())
        corners = np.array(mesh.GetFaceVertexIndicesAttr().Get())
        starts = np.cumsum(counts) - counts
        fans = [(s, s + k, s + k + 1) for s, n in zip(starts, counts, strict=True) for k in range(1, n - 1)]
        return Part(n_points, corners[np.array(fans)], np.empty((0, 4)))


def _ops(mesh: UsdGeom.Xformable) -> list[UsdGeom.XformOp]:
    return list(mesh.GetOrderedXformOps())


def _time_samples(mesh: UsdGeom.PointBased) -> list[float]:
    """Time codes at which its points, or it as a whole, are given."""
    return [*mesh.GetPointsAttr().GetTimeSamples(), *(code for op in _ops(mesh) for code in op.GetTimeSamples())]


def _pose(mesh: UsdGeom.Mesh, code: float) -> list[float]:
    """Position and orientation wxyz."""
    place, turn = (op.Get(code) for op in _ops(mesh))
    return [*place, turn.GetReal(), *turn.GetImaginary()]


class Surface(NamedTuple):
    """A body's mesh, its triangles and its range of points."""

    prim: Usd.Prim
    corners: np.ndarray
    first: int
    last: int

    def sample(self, points: np.ndarray, time: float) -> dict[str, np.ndarray]:
        """Values (k, 3) or (k,) in single precision of each attribute that changes with time [s]."""
        own = points[self.first : self.last]
        return {**_place(own), "normals": vertex_normals(own, self.corners).astype(np.float32)}


class Springs(NamedTuple):
    """A body's curves and the points at their ends."""

    prim: Usd.Prim
    edges: np.ndarray

    def sample(self, points: np.ndarray, time: float) -> dict[str, np.ndarray]:
        return _place(points[self.edges.ravel()])


class Spheres(NamedTuple):
    """A body's points, which of all points they are, and the layout, which knows their radii."""

    prim: Usd.Prim
    rows: np.ndarray
    layout: Layout

    def sample(self, points: np.ndarray, time: float) -> dict[str, np.ndarray]:
        widths = {"widths": (2 * self.layout.radii_at(time)[self.rows]).astype(np.float32)}
        return {**_place(points[self.rows]), **(widths if self.layout.births[self.rows].any() else {})}


Drawn = Surface | Springs | Spheres


def _place(points: np.ndarray) -> dict[str, np.ndarray]:
    points = np.ascontiguousarray(points, np.float32)
    return {"points": points, "extent": extent(points)}


def _add_bodies(
    stage: Usd.Stage, layout: Layout, curve_width: float, rigid: dict[int, RigidSurface], codes: np.ndarray
) -> list[Drawn]:
    """A mesh for each body that has a surface, curves for each that has springs, points for each that has spheres;
    those whose points change are given back. rigid: by number of the body; codes: time codes of the frames.
    """
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    root = UsdGeom.Xform.Define(stage, "/result")
    stage.SetDefaultPrim(root.GetPrim())
    bodies: list[Drawn] = []
    for number, (first, last) in enumerate(pairwise(layout.body_start.tolist())):
        name, colour = _prim_name(layout.body_names[number], number), layout.colours[number]
        edges = layout.edges[layout.edge_bodies == number]
        corners = layout.triangles[layout.triangle_bodies == number] - first
        if len(edges):
            curves = _add_curves(stage, name, len(edges), curve_width)
            _add_material(stage, curves, name, colour)
            bodies.append(Springs(curves.GetPrim(), edges))
        if len(corners):
            mesh = _add_mesh(stage, name, corners)
            _add_material(stage, mesh, name, colour)
            if number in rigid:
                _add_poses(mesh, rigid[number], codes)
            else:
                bodies.append(Surface(mesh.GetPrim(), corners, first, last))
        rows = layout.spheres[(layout.spheres >= first) & (layout.spheres < last)]
        if len(rows):
            points = UsdGeom.Points.Define(stage, f"/result/{name}")
            points.CreateWidthsAttr(Vt.FloatArray.FromNumpy((2 * layout.radii[rows]).astype(np.float32)))
            points.SetWidthsInterpolation(UsdGeom.Tokens.vertex)
            _add_material(stage, points, name, colour)
            bodies.append(Spheres(points.GetPrim(), rows, layout))
    return bodies


def _add_curves(stage: Usd.Stage, name: str, count: int, width: float) -> UsdGeom.BasisCurves:
    curves = UsdGeom.BasisCurves.Define(stage, f"/result/{name}")
    curves.CreateTypeAttr(UsdGeom.Tokens.linear)
    curves.CreateCurveVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(count, 2, np.int32)))
    curves.CreateWidthsAttr([width])
    curves.SetWidthsInterpolation(UsdGeom.Tokens.constant)
    return curves


def _add_mesh(stage: Usd.Stage, name: str, corners: np.ndarray) -> UsdGeom.Mesh:
    mesh = UsdGeom.Mesh.Define(stage, f"/result/{name}")
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    mesh.CreateDoubleSidedAttr(True)
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(corners), 3, np.int32)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(corners.astype(np.int32).ravel()))
    mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
    return mesh


def _add_poses(mesh: UsdGeom.Mesh, surface: RigidSurface, codes: np.ndarray) -> None:
    """Points that stay, and transforms by time."""
    for name, values in {**_place(surface.points), "normals": surface.normals.astype(np.float32)}.items():
        mesh.GetPrim().GetAttribute(name).Set(Vt.Vec3fArray.FromNumpy(values))
    translate = mesh.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble)
    orient = mesh.AddOrientOp(UsdGeom.XformOp.PrecisionDouble)
    for code, place, (w, *xyz) in zip(
        codes.tolist(), surface.positions.tolist(), surface.orientations.tolist(), strict=True
    ):
        translate.Set(Gf.Vec3d(*place), code)
        orient.Set(Gf.Quatd(w, *xyz), code)


def _add_material(stage: Usd.Stage, mesh: UsdGeom.Gprim, name: str, colour: np.ndarray) -> None:
    linear = Gf.Vec3f(*(float(v) ** 2.2 for v in colour))
    mesh.CreateDisplayColorAttr([linear])
    material = UsdShade.Material.Define(stage, f"/result/materials/{name}")
    shader = UsdShade.Shader.Define(stage, f"/result/materials/{name}/surface")
    shader.CreateIdAttr("UsdPreviewSurface")
    shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set(linear)
    shader.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(0.6)
    material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
    UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(material)


def _describe_time(stage: Usd.Stage, layout: Layout, times: np.ndarray) -> None:
    stage.SetTimeCodesPerSecond(layout.frame_rate)
    stage.SetFramesPerSecond(layout.frame_rate)
    if len(times):
        stage.SetStartTimeCode(float(times[0]) * layout.frame_rate)
        stage.SetEndTimeCode(float(times[-1]) * layout.frame_rate)


def _prim_name(name: str, number: int) -> str:
    """A name that USD allows, different for every body."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    return plain if plain == name and not name[:1].isdigit() else f"body{number}_{plain}"
