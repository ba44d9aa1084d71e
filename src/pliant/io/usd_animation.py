"""Animations from USD: points with time samples, skeletons, and transforms that move meshes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError
from pliant.geometry import TriMesh
from pliant.geometry.animation import Animation
from pliant.io.sampling import refined
from pliant.io.usd_meshes import mesh_at, mesh_prims, open_stage


def usd_animation(path: Path, frame_rate: float, repeat: bool) -> Animation:
    """All meshes of a stage as one that moves; z up, in metres."""
    stage = open_stage(path)
    prims = mesh_prims(stage)
    _bake_skeletons(path, stage, prims)
    rate = stage.GetTimeCodesPerSecond()
    samples = [time for prim in prims for time in (*_point_samples(prim), *_transform_samples(prim))]
    times = np.unique(samples) if samples else np.zeros(1)
    if any(_transform_samples(prim) for prim in prims):
        times = refined(times / rate, frame_rate) * rate
    parts = [frames for prim in prims if (frames := _frames(stage, prim, path, times)) is not None]
    if not parts:
        raise FileError(f"{path}: it holds no visible mesh with faces; Pliant reads Mesh prims.")
    starts = np.cumsum([0, *(frames.shape[1] for _, frames in parts)])
    triangles = np.concatenate([own + first for (own, _), first in zip(parts, starts, strict=False)])
    return Animation(triangles, np.concatenate([own for _, own in parts], axis=1), (times - times[0]) / rate, repeat)


def _frames(stage: Any, prim: Any, path: Path, times: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Triangles (m, 3) and positions (f, n, 3) [m] of a prim; None if it has no faces."""
    meshes = [mesh_at(stage, prim, path, float(time)) for time in times]
    surfaces = [mesh if isinstance(mesh, TriMesh | None) else mesh.surface() for mesh in meshes]
    first = next((surface for surface in surfaces if surface is not None), None)
    if first is None:
        return None
    for time, surface in zip(times, surfaces, strict=True):
        if surface is None or not _are_alike(surface, first):
            counts = [(0, 0) if own is None else (own.n_vertices, own.n_triangles) for own in (surface, first)]
            raise FileError(
                f"{path}: {prim.GetPath()} has {counts[0][0]} vertices and {counts[0][1]} triangles at time code "
                f"{time:g}, not {counts[1][0]} and {counts[1][1]} as at the first, or in another order: all frames of "
                "an animation need the same triangles."
            )
    return first.triangles, np.array([surface.points for surface in surfaces if surface is not None])


def _are_alike(one: TriMesh, other: TriMesh) -> bool:
    return one.n_vertices == other.n_vertices and np.array_equal(one.triangles, other.triangles)


def _point_samples(prim: Any) -> list[float]:
    from pxr import UsdGeom

    mesh = UsdGeom.Mesh(prim)
    attributes = [mesh.GetPointsAttr()]
    if prim.IsA(UsdGeom.Mesh):
        attributes += [mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr()]
    return [time for attribute in attributes for time in attribute.GetTimeSamples()]


def _transform_samples(prim: Any) -> list[float]:
    """Of a prim and those above it."""
    from pxr import UsdGeom

    found: list[float] = []
    while prim and not prim.IsPseudoRoot():
        found += UsdGeom.Xformable(prim).GetTimeSamples() if prim.IsA(UsdGeom.Xformable) else []
        prim = prim.GetParent()
    return found


def _bake_skeletons(path: Path, stage: Any, prims: list[Any]) -> None:
    """Let points that a skeleton moves have time samples, those of its own; the file stays as it is."""
    from pxr import UsdSkel

    skinned = [prim for prim in prims if UsdSkel.BindingAPI(prim).GetInheritedSkeleton()]
    if not skinned:
        return
    layer = stage.GetSessionLayer()
    layer.timeCodesPerSecond = stage.GetTimeCodesPerSecond()
    stage.SetEditTarget(layer)
    if not UsdSkel.BakeSkinning(stage.Traverse()):
        raise FileError(
            f"{path}: the skeleton of {skinned[0].GetPath()} cannot be baked into its points; write time samples of "
            "the points, or a .glb file."
        )
