"""A sphere of sheet: how far pressure stretches it, and what pressure it has beyond the greatest it can hold."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, minimize_scalar

import pliant as pl
from pliant.geometry.surface import enclosed_volume


def inflation(stretch: float) -> float:
    """p R of a sphere of the sheet psi = mu/2 (2 l^2 - 2) - 2 mu ln l + 2 lam (ln l)^2, mu = 100, lam = 150 N/m."""
    return float((200 * (stretch - 1 / stretch) + 600 * np.log(stretch) / stretch) / stretch**2)


def balloon_stretch(cells: int) -> float:
    """Stretch of the sphere at half of the greatest pressure that it can hold."""
    mesh = pl.shapes.ball(radius=0.2, cells=cells).surface()
    scene = pl.Scene(gravity=(0, 0, 0))
    sheet = scene.add_cloth(mesh, pl.NeoHookean(100.0, 150.0), bending=0.0)
    sheet.pressure = 0.5 * inflation(limit_stretch()) / 0.2
    found = pl.equilibrium(scene)
    return float(np.linalg.norm(found.positions, axis=1).mean() / 0.2)


def balloon_pressure(cells: int) -> float:
    """Pressure [Pa] of the sphere at twice its radius, beyond the greatest pressure: its volume is prescribed."""
    mesh = pl.shapes.ball(radius=0.2, cells=cells).surface()
    scene = pl.Scene(gravity=(0, 0, 0))
    sheet = scene.add_cloth(mesh, pl.NeoHookean(100.0, 150.0), bending=0.0)
    sheet.volume = 8 * enclosed_volume(mesh.points, mesh.triangles)
    return pl.equilibrium(scene).pressure_of(sheet)


def limit_stretch() -> float:
    return float(minimize_scalar(lambda s: -inflation(s), bounds=(1.01, 3), method="bounded").x)


def balloon_truth() -> float:
    most = limit_stretch()
    return float(brentq(lambda s: inflation(s) - 0.5 * inflation(most), 1.0, most))
