"""Pliant: fast, honest simulation of deformable bodies.

    import pliant as pl

Names are imported when first used, so that `import pliant` is instant.
"""

from __future__ import annotations

import logging
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pliant.errors import (
    DeviceError,
    FileError,
    MaterialError,
    MeshError,
    PliantError,
    SceneError,
    SimulationError,
    SolverError,
)
from pliant.garbage import uncollected
from pliant.help_links import LinkFormatter

__version__ = "0.2.0"

if TYPE_CHECKING:
    from pliant.comparison import compare, compare_motion, load_phases, save_phases, tune_chebyshev
    from pliant.device.opencl import OpenCL
    from pliant.energies import IncrementalPotential
    from pliant.geometry import TetMesh, TriMesh, shapes
    from pliant.geometry.animation import Animation
    from pliant.geometry.garment import Garment
    from pliant.geometry.uv import warp_from_uv
    from pliant.io.animations import load_animation
    from pliant.io.garments import load_garment
    from pliant.io.meshes import load_mesh, save_mesh
    from pliant.io.results import open_result
    from pliant.io.usd_meshes import UsdBody, load_usd
    from pliant.io.uv import load_uv
    from pliant.materials import (
        ARAP,
        CompressibleNeoHookean,
        Corotated,
        FixedCorotated,
        Fung,
        Invertible,
        MooneyRivlin,
        NeoHookean,
        StableNeoHookean,
        StVenantKirchhoff,
        YarnCloth,
    )
    from pliant.materials.plane_stress import plane_stress
    from pliant.materials.user_law import material
    from pliant.model import (
        Attachment,
        Body,
        Box,
        Capsule,
        Contact,
        Cylinder,
        Joint,
        Motor,
        Particles,
        Scene,
        Schedule,
        Sphere,
        Wind,
        WorldBox,
        motions,
    )
    from pliant.relaxations import (
        ConjugateResiduals,
        GaussSeidel,
        ImprovedGaussSeidel,
        ImprovedJacobi,
        Jacobi,
        MinimumResidual,
    )
    from pliant.scenes.files import load_scene, load_simulation, save_scene
    from pliant.simulate import Simulation
    from pliant.solvers import (
        AVBD,
        GPBD,
        LBFGS,
        VBD,
        XPBD,
        Anderson,
        Auto,
        Backtracking,
        BlockJacobi,
        Capabilities,
        Chebyshev,
        GradientDescent,
        HeavyBall,
        LaplacianQuasiNewton,
        MomentumSolver,
        Multilevel,
        Nesterov,
        Newton,
        NonlinearCG,
        PositionBased,
        ProjectiveDynamics,
        SequentialPositions,
        Solver,
        SolveReport,
        Stop,
        SweepResult,
        VelocityTimeStepping,
        Work,
        register_solver,
        solve,
    )
    from pliant.state import State
    from pliant.statics import Equilibrium, StaticReport, equilibrium

_HOMES = {
    "comparison": ("compare", "compare_motion", "load_phases", "save_phases", "tune_chebyshev"),
    "geometry.animation": ("Animation",),
    "geometry.garment": ("Garment",),
    "geometry.uv": ("warp_from_uv",),
    "io.animations": ("load_animation",),
    "io.garments": ("load_garment",),
    "io.uv": ("load_uv",),
    "device.opencl": ("OpenCL",),
    "geometry": ("TetMesh", "TriMesh", "shapes"),
    "io.meshes": ("load_mesh", "save_mesh"),
    "io.results": ("open_result",),
    "io.usd_meshes": ("UsdBody", "load_usd"),
    "materials": (
        "ARAP",
        "CompressibleNeoHookean",
        "Corotated",
        "FixedCorotated",
        "Fung",
        "Invertible",
        "MooneyRivlin",
        "NeoHookean",
        "StVenantKirchhoff",
        "StableNeoHookean",
        "YarnCloth",
    ),
    "materials.plane_stress": ("plane_stress",),
    "materials.user_law": ("material",),
    "model": (
        "Attachment",
        "Body",
        "Box",
        "Capsule",
        "Contact",
        "Cylinder",
        "Joint",
        "Motor",
        "Particles",
        "Scene",
        "Schedule",
        "Sphere",
        "Wind",
        "WorldBox",
        "motions",
    ),
    "energies": ("IncrementalPotential",),
    "relaxations": (
        "ConjugateResiduals",
        "GaussSeidel",
        "ImprovedGaussSeidel",
        "ImprovedJacobi",
        "Jacobi",
        "MinimumResidual",
    ),
    "scenes.files": ("load_scene", "load_simulation", "save_scene"),
    "simulate": ("Simulation",),
    "solvers": (
        "AVBD",
        "GPBD",
        "LBFGS",
        "VBD",
        "XPBD",
        "Anderson",
        "Auto",
        "Backtracking",
        "BlockJacobi",
        "Capabilities",
        "Chebyshev",
        "GradientDescent",
        "HeavyBall",
        "LaplacianQuasiNewton",
        "MomentumSolver",
        "Multilevel",
        "Nesterov",
        "Newton",
        "NonlinearCG",
        "PositionBased",
        "ProjectiveDynamics",
        "SequentialPositions",
        "Solver",
        "SolveReport",
        "Stop",
        "SweepResult",
        "VelocityTimeStepping",
        "Work",
        "register_solver",
        "solve",
    ),
    "state": ("State",),
    "statics": ("Equilibrium", "StaticReport", "equilibrium"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ARAP",
    "AVBD",
    "GPBD",
    "LBFGS",
    "VBD",
    "XPBD",
    "Anderson",
    "Animation",
    "Attachment",
    "Auto",
    "Backtracking",
    "BlockJacobi",
    "Body",
    "Box",
    "Capabilities",
    "Capsule",
    "Chebyshev",
    "CompressibleNeoHookean",
    "ConjugateResiduals",
    "Contact",
    "Corotated",
    "Cylinder",
    "DeviceError",
    "Equilibrium",
    "FileError",
    "FixedCorotated",
    "Fung",
    "Garment",
    "GaussSeidel",
    "GradientDescent",
    "HeavyBall",
    "ImprovedGaussSeidel",
    "ImprovedJacobi",
    "IncrementalPotential",
    "Invertible",
    "Jacobi",
    "Joint",
    "LaplacianQuasiNewton",
    "MaterialError",
    "MeshError",
    "MinimumResidual",
    "MomentumSolver",
    "MooneyRivlin",
    "Motor",
    "Multilevel",
    "NeoHookean",
    "Nesterov",
    "Newton",
    "NonlinearCG",
    "OpenCL",
    "Particles",
    "PliantError",
    "PositionBased",
    "ProjectiveDynamics",
    "Scene",
    "SceneError",
    "Schedule",
    "SequentialPositions",
    "Simulation",
    "SimulationError",
    "SolveReport",
    "Solver",
    "SolverError",
    "Sphere",
    "StVenantKirchhoff",
    "StableNeoHookean",
    "State",
    "StaticReport",
    "Stop",
    "SweepResult",
    "TetMesh",
    "TriMesh",
    "UsdBody",
    "VelocityTimeStepping",
    "Wind",
    "Work",
    "WorldBox",
    "YarnCloth",
    "__version__",
    "compare",
    "compare_motion",
    "equilibrium",
    "load_animation",
    "load_garment",
    "load_mesh",
    "load_phases",
    "load_scene",
    "load_simulation",
    "load_usd",
    "load_uv",
    "material",
    "motions",
    "open_result",
    "plane_stress",
    "register_solver",
    "save_mesh",
    "save_phases",
    "save_scene",
    "shapes",
    "solve",
    "tune_chebyshev",
    "warp_from_uv",
]

# What takes long is said: compiling, falling back, stopping. Quiet it with
# logging.getLogger("pliant").setLevel("ERROR").
_logger = logging.getLogger("pliant")
if not _logger.handlers:
    _handler = logging.StreamHandler()
    _handler.setFormatter(LinkFormatter("pliant: %(message)s"))
    _logger.addHandler(_handler)
    _logger.setLevel(logging.INFO)


_RENAMED = {"Course": "Schedule"}  # names of the release before, for one release


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        warnings.warn(f"pl.{name} is now pl.{_RENAMED[name]}.", DeprecationWarning, stacklevel=2)
        name = _RENAMED[name]
    if name not in _HOME_OF:
        raise AttributeError(f"module 'pliant' has no attribute {name!r}")
    with uncollected():
        value = getattr(import_module(f"pliant.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
