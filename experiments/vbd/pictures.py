"""Pictures of a deforming mesh, rendered without a window."""

from __future__ import annotations

import os

import numpy as np

import pliant as pl

os.environ.setdefault("VTK_LOGGING_LEVEL", "OFF")


def render(
    mesh: pl.TetMesh,
    positions: np.ndarray,
    look_along: tuple[float, float, float],
    up: tuple[float, float, float],
    centre: np.ndarray,
    height: float,
    size: tuple[int, int] = (420, 420),
    scalars: np.ndarray | None = None,
) -> np.ndarray:
    """Image (rows, columns, 3) of the surface at positions (n, 3), seen along a direction without perspective.

    centre (3,) [m] is in the middle of the image, `height` [m] from its lower edge to its upper.
    scalars (n,) in 0..1 colour the surface from blue to red; grey without.
    """
    import pyvista as pv
    import vtk

    vtk.vtkLogger.SetStderrVerbosity(vtk.vtkLogger.VERBOSITY_OFF)
    pv.OFF_SCREEN = True
    surface = pv.PolyData.from_regular_faces(np.asarray(positions, float), mesh.surface_triangles)
    plotter = pv.Plotter(off_screen=True, window_size=size)
    if scalars is None:
        plotter.add_mesh(surface, color="#c9b79c", smooth_shading=False)
    else:
        plotter.add_mesh(surface, scalars=scalars, cmap="coolwarm", clim=(0, 1), show_scalar_bar=False)
    direction = np.asarray(look_along, float)
    plotter.camera_position = [tuple(centre - 10 * height * direction), tuple(centre), up]
    plotter.enable_parallel_projection()
    plotter.camera.parallel_scale = height / 2
    plotter.camera.clipping_range = (0.1 * height, 100 * height)
    image = plotter.screenshot(return_img=True)
    plotter.close()
    return image
