"""`.usdc`, `.usda`, `.usd`: Blender, Houdini, Omniverse. A mesh a body: points and normals by time, and a material.

Springs are curves of two points each, so that a point comes as often as it has springs.

z is up and a unit is a metre. The time code of a frame is its time times the frame rate.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pliant.errors import FileError, PliantError
from pliant.io.results.places import replacing
from pliant.io.results.result import Frame, Layout, Result
from pliant.io.results.surfaces import Part, extent, layout_of_parts, vertex_normals

try:
    from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, Vt
except ImportError:
    raise PliantError('USD files need the package usd-core: pip install "pliant[usd]".') from None

CURVE_WIDTH = 0.01  # of the scene's size
SAVE_BYTES = 64e6  # so much is held before it goes to the file


def export(result: Result, path: Path) -> None:
    """Write the surfaces of all frames of a result, in single precision."""
    layout, kept = result.layout.surface()
    with replacing(path) as beside:
        stage = Usd.Stage.CreateNew(str(beside))
        bodies = _add_bodies(stage, layout)
        _describe_time(stage, layout, result.times)
        held = 0.0
        for k, time in enumerate(result.times.tolist()):
            points, code = result.positions(k)[kept], time * layout.frame_rate
            for body in bodies:
                body.add_sample(points, code)
            held += 24 * len(points)
            if held > SAVE_BYTES:
                stage.GetRootLayer().Save()
                held = 0
        stage.GetRootLayer().Save()
        del stage, bodies


class UsdResult(Result):
    """Reads the meshes and curves of a stage whose points change and whose faces do not; faces of four and more are
    split.
    """

    def __init__(self, path: Path):
        try:
            self._stage = Usd.Stage.Open(str(path))
        except Exception as error:  # pxr has no public class for it
            raise FileError(f"{path}: usd-core cannot read it ({str(error).strip()}).") from None
        kinds = (UsdGeom.Mesh, UsdGeom.BasisCurves)
        self._meshes = [kind(prim) for prim in self._stage.Traverse() for kind in kinds if prim.IsA(kind)]
        if not self._meshes:
            raise FileError(f"{path}: it holds no mesh.")
        self._codes = sorted({code for mesh in self._meshes for code in mesh.GetPointsAttr().GetTimeSamples()}) or [0.0]
        rate = self._stage.GetTimeCodesPerSecond()
        self.times = np.array(self._codes) / rate
        names = [mesh.GetPrim().GetName() for mesh in self._meshes]
        self.layout = layout_of_parts([self._part(mesh) for mesh in self._meshes], names, rate)

    def frame(self, k: int) -> Frame:
        code = self._codes[k]
        points = [np.asarray(mesh.GetPointsAttr().Get(code), float) for mesh in self._meshes]
        return Frame(float(self.times[k]), np.concatenate(points))

    def _part(self, mesh: UsdGeom.Mesh | UsdGeom.BasisCurves) -> Part:
        n_points = len(mesh.GetPointsAttr().Get(self._codes[0]))
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


class _Surface(NamedTuple):
    """A body's mesh, its triangles and its range of points."""

    mesh: UsdGeom.Mesh
    corners: np.ndarray
    first: int
    last: int

    def add_sample(self, points: np.ndarray, code: float) -> None:
        own = points[self.first : self.last]
        _set_points(self.mesh, own.astype(np.float32), code)
        normals = vertex_normals(own, self.corners).astype(np.float32)
        self.mesh.GetNormalsAttr().Set(Vt.Vec3fArray.FromNumpy(normals), code)


class _Springs(NamedTuple):
    """A body's curves and the points at their ends."""

    curves: UsdGeom.BasisCurves
    edges: np.ndarray

    def add_sample(self, points: np.ndarray, code: float) -> None:
        ends = points[self.edges.ravel()].astype(np.float32)
        _set_points(self.curves, ends, code)
        if not self.curves.GetWidthsAttr().HasAuthoredValue():
            self.curves.CreateWidthsAttr([CURVE_WIDTH * float(np.ptp(points, axis=0).max())])
            self.curves.SetWidthsInterpolation(UsdGeom.Tokens.constant)


def _add_bodies(stage: Usd.Stage, layout: Layout) -> list[_Surface | _Springs]:
    """A mesh for each body that has a surface, curves for each that has springs."""
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    root = UsdGeom.Xform.Define(stage, "/result")
    stage.SetDefaultPrim(root.GetPrim())
    bodies: list[_Surface | _Springs] = []
    for number, (first, last) in enumerate(pairwise(layout.body_start.tolist())):
        corners = layout.triangles[layout.triangle_bodies == number] - first
        name = _prim_name(layout.body_names[number], number)
        edges = layout.edges[layout.edge_bodies == number]
        if len(edges):
            curves = UsdGeom.BasisCurves.Define(stage, f"/result/{name}")
            curves.CreateTypeAttr(UsdGeom.Tokens.linear)
            curves.CreateCurveVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(edges), 2, np.int32)))
            _add_material(stage, curves, name, layout.colours[number])
            bodies.append(_Springs(curves, edges))
        if not len(corners):
            continue
        mesh = UsdGeom.Mesh.Define(stage, f"/result/{name}")
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        mesh.CreateDoubleSidedAttr(True)
        mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(corners), 3, np.int32)))
        mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(corners.astype(np.int32).ravel()))
        mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
        _add_material(stage, mesh, name, layout.colours[number])
        bodies.append(_Surface(mesh, corners, first, last))
    return bodies


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


def _set_points(body: UsdGeom.PointBased, points: np.ndarray, code: float) -> None:
    body.GetPointsAttr().Set(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(points)), code)
    body.GetExtentAttr().Set(Vt.Vec3fArray.FromNumpy(extent(points)), code)


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
