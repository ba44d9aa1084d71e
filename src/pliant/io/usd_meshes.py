"""Meshes of USD stages (extra `usd`): where their transforms put them, in metres, z up.

Read are Mesh and TetMesh prims, instances included; not those that are invisible or only guides and proxies. Of
materials and bodies the attributes that USD's physics schemas have for rigid and deformable bodies are read where they
are, by the ends of their names, since their prefix differs (physics:, omniphysics:, physxDeformableBodyMaterial: ...).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError, PliantError
from pliant.geometry import TetMesh, TriMesh
from pliant.io.paths import as_path
from pliant.io.reading import reading

ENDINGS = (".usd", ".usda", ".usdc", ".usdz")
#: Numbers of a body by the ends of the names that schemas give them.
ATTRIBUTES = {
    "density": "density",
    "youngsModulus": "youngs_modulus",
    "poissonsRatio": "poissons_ratio",
    "dynamicFriction": "friction",
}
#: Y up to z up: a turn by 90 degrees about x.
FROM_Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


@dataclass(frozen=True)
class UsdBody:
    """A mesh of a stage, and what the stage says of its material; None where it says nothing."""

    name: str  # path of its prim
    mesh: TetMesh | TriMesh  # in the world's axes, z up [m]
    density: float | None = None  # [kg/m^3]
    youngs_modulus: float | None = None  # [Pa]
    poissons_ratio: float | None = None
    friction: float | None = None
    colour: tuple[float, ...] | None = None  # red, green, blue from 0 to 1


def load_usd(path: str | Path) -> list[UsdBody]:
    """The meshes of a USD file (.usd, .usda, .usdc, .usdz), each a TetMesh or a TriMesh, in the order of the stage.

    Lengths are converted to metres by the stage's metersPerUnit, densities and moduli by its kilogramsPerUnit too; a
    stage with y up is turned. Faces with more than three corners are split. Positions are those of the first time.
    """
    path = as_path(path, "load_usd")
    if not path.exists():
        raise FileError(f"{path}: there is no such file.")
    with reading(path):
        stage = open_stage(path)
        found = [body for prim in mesh_prims(stage) if (body := _body(stage, prim, path)) is not None]
    if not found:
        raise FileError(f"{path}: it holds no visible mesh with faces; Pliant reads Mesh and TetMesh prims.")
    return found


def load_usd_mesh(path: Path) -> TetMesh | TriMesh:
    """All meshes of a stage as one: of tets if all are."""
    meshes = [body.mesh for body in load_usd(path)]
    starts = np.cumsum([0, *(mesh.n_vertices for mesh in meshes)])
    points = np.concatenate([mesh.points for mesh in meshes])
    tets = [mesh.tets + first for mesh, first in zip(meshes, starts, strict=False) if isinstance(mesh, TetMesh)]
    if len(tets) == len(meshes):
        return TetMesh(points, np.concatenate(tets))
    if tets:
        raise FileError(f"{path}: it holds tets and surfaces; pl.load_usd gives them one by one.")
    triangles = [mesh.triangles + k for mesh, k in zip(meshes, starts, strict=False) if isinstance(mesh, TriMesh)]
    return TriMesh(points, np.concatenate(triangles))


def open_stage(path: Path) -> Any:
    """A file that usd-core reads."""
    try:
        from pxr import Usd
    except ImportError:
        raise PliantError('USD files need the package usd-core: pip install "pliant[usd]".') from None
    try:
        return Usd.Stage.Open(str(path))
    except Exception as error:  # pxr has no public class for it
        raise FileError(f"{path}: usd-core cannot read it ({str(error).strip().splitlines()[-1]}).") from None


def mesh_prims(stage: Any) -> list[Any]:
    """Prims that are meshes, visible and not merely guides."""
    from pxr import Usd, UsdGeom

    kinds = (UsdGeom.Mesh, UsdGeom.TetMesh)
    prims = Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies())
    return [prim for prim in prims if any(prim.IsA(kind) for kind in kinds) and _is_shown(UsdGeom.Imageable(prim))]


def _is_shown(prim: Any) -> bool:
    from pxr import UsdGeom

    purpose = prim.ComputePurpose()
    hidden = prim.ComputeVisibility() == UsdGeom.Tokens.invisible
    return not hidden and purpose in (UsdGeom.Tokens.default_, UsdGeom.Tokens.render)


def _body(stage: Any, prim: Any, path: Path) -> UsdBody | None:
    """None if it has no faces."""
    from pxr import UsdGeom

    mesh = mesh_at(stage, prim, path)
    if mesh is None:
        return None
    colour = UsdGeom.Gprim(prim).GetDisplayColorAttr().Get()
    shown = tuple(float(v) ** (1 / 2.2) for v in colour[0]) if colour else None
    return UsdBody(str(prim.GetPath()), mesh, **_material(stage, prim), colour=shown)


def mesh_at(stage: Any, prim: Any, path: Path, code: float | None = None) -> TetMesh | TriMesh | None:
    """A prim's mesh in the world's axes, z up [m], at a time code, or the first; None if it has no faces then."""
    from pxr import Usd, UsdGeom

    is_tets = prim.IsA(UsdGeom.TetMesh)
    geometry = UsdGeom.TetMesh(prim) if is_tets else UsdGeom.Mesh(prim)
    time = Usd.TimeCode.EarliestTime() if code is None else Usd.TimeCode(code)
    cells = _tets(geometry, time) if is_tets else _triangles(geometry, time, f"{path}: {prim.GetPath()}")
    local = np.asarray(geometry.GetPointsAttr().Get(time) or np.zeros((0, 3)), float).reshape(-1, 3)
    if not len(cells) or not len(local):
        return None
    to_world = np.array(geometry.ComputeLocalToWorldTransform(time))  # of row vectors
    points = (local @ to_world[:3, :3] + to_world[3, :3]) @ _to_z_up(stage).T * UsdGeom.GetStageMetersPerUnit(stage)
    is_mirrored = np.linalg.det(to_world[:3, :3]) < 0
    is_left = geometry.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded
    if is_mirrored != (is_left and not is_tets):
        cells = cells[:, [0, 2, 1, *range(3, cells.shape[1])]]
    return TetMesh(points, cells, orient=True) if is_tets else TriMesh(points, cells)


def _to_z_up(stage: Any) -> np.ndarray:
    from pxr import UsdGeom

    return FROM_Y_UP if UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.y else np.eye(3)


def _tets(geometry: Any, time: Any) -> np.ndarray:
    return np.asarray(geometry.GetTetVertexIndicesAttr().Get(time) or [], np.int64).reshape(-1, 4)


def _triangles(geometry: Any, time: Any, where: str) -> np.ndarray:
    """Faces as fans of triangles (k, 3)."""
    counts = np.asarray(geometry.GetFaceVertexCountsAttr().Get(time) or [], np.int64)
    corners = np.asarray(geometry.GetFaceVertexIndicesAttr().Get(time) or [], np.int64)
    if counts.sum() != len(corners) or (len(counts) and counts.min() < 3):
        found = f"{counts.sum()} corners by their counts, but {len(corners)} are given"
        raise FileError(f"{where}: its faces have {found}.")
    starts = np.cumsum(counts) - counts
    fans = [(s, s + k, s + k + 1) for s, n in zip(starts, counts, strict=True) for k in range(1, n - 1)]
    return corners[np.array(fans, np.int64).reshape(-1, 3)]


def _material(stage: Any, prim: Any) -> dict[str, float]:
    """Numbers of the physics schemas on a prim, what it is bound to and the prims above it; the nearest counts."""
    from pxr import UsdGeom, UsdPhysics, UsdShade

    kilograms, metres = UsdPhysics.GetStageKilogramsPerUnit(stage), UsdGeom.GetStageMetersPerUnit(stage)
    units = {"density": kilograms / metres**3, "youngs_modulus": kilograms / metres}
    found: dict[str, float] = {}
    above = prim
    while above and not above.IsPseudoRoot():
        binding = UsdShade.MaterialBindingAPI(above)
        bound = [binding.ComputeBoundMaterial(purpose)[0].GetPrim() for purpose in ("physics", "")]
        for source in (above, *bound):
            for attribute in source.GetAttributes() if source else ():
                name = ATTRIBUTES.get(attribute.GetName().rpartition(":")[2])
                value = attribute.Get() if name and ":" in attribute.GetName() else None
                if name and isinstance(value, int | float) and np.isfinite(value) and (value or name == "friction"):
                    found.setdefault(name, float(value) * units.get(name, 1.0))
        above = above.GetParent()
    return found
