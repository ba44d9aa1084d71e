"""Wind on surfaces (Chaudhary et al., Section 5.4: lift and drag as outside forces on the triangles).

A triangle of area A and unit normal n, whose corners move with the mean velocity v, meets the air with u = w - v, w the
velocity of the wind.  With n on the lee side (n . u >= 0) and e = u / |u|,

    drag = 1/2 rho C_D A (n . u) u
    lift = 1/2 rho C_L A (n . u) |u| (n - (n . e) e)

so that drag is along the flow and lift across it, in the plane of flow and normal; lift vanishes where the triangle
faces the wind or lies along it.  Each corner gets a third.  Forces are those at the start of the step.

Deviation: the paper gives no formula; these are the usual ones of a flat plate with the normal's own part n - (n . e) e
as the direction of lift, which has no jump where the plate faces the wind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from pliant.lanes.entry import entry
from pliant.model import checks
from pliant.model.body import Body

WindVelocity = ArrayLike | Callable[[float], ArrayLike]  # [m/s], or time [s] -> [m/s]


class Wind:
    """Moving air around all surfaces of a scene: sheets feel it on both sides, solids where they face it.

    velocity: (3,) [m/s], or a function of the time [s] that gives it; drag, lift: coefficients C_D and C_L;
    air_density: [kg/m^3].
    """

    def __init__(self, velocity: WindVelocity, drag: float = 1.0, lift: float = 0.0, air_density: float = 1.2):
        if not callable(velocity):
            velocity = checks.vectors(velocity, None, "Wind: velocity", "m/s")
        self.velocity: np.ndarray | Callable[[float], ArrayLike] = velocity
        self.drag = checks.number(drag, "Wind: drag", "1")
        self.lift = checks.number(lift, "Wind: lift", "1")
        self.air_density = checks.number(air_density, "Wind: air_density", "kg/m^3")

    def velocity_at(self, time: float) -> np.ndarray:
        """(3,) [m/s] at a time [s]; what a function returns is checked."""
        if not callable(self.velocity):
            return self.velocity
        time = checks.real(time, "Wind.velocity_at: time", "s")
        return checks.vectors(self.velocity(time), None, f"Wind: velocity at t = {time:g} s", "m/s")


@dataclass(frozen=True)
class WindForce:
    """The wind on a scene's triangles."""

    wind: Wind
    triangles: np.ndarray  # (m, 3)
    has_inside: np.ndarray  # (m,) whether only the front is outside

    def add_to(self, forces: np.ndarray, x: np.ndarray, v: np.ndarray, time: float) -> None:
        wind = self.wind
        half = 0.5 * wind.air_density
        velocity = wind.velocity_at(time)
        _add_wind(forces, x, v, self.triangles, self.has_inside, velocity, half * wind.drag, half * wind.lift)


def wind_force(wind: Wind, placed: Sequence[tuple[Body, int]]) -> WindForce:
    """The wind on bodies; with each the scene's number of its vertex 0."""
    triangles = [body.surface + first for body, first in placed]
    has_inside = [np.full(len(body.surface), body.has_inside) for body, _ in placed]
    return WindForce(wind, np.concatenate(triangles), np.concatenate(has_inside))


@entry(nogil=True, error_model="numpy")
def _add_wind(forces, x, v, triangles, has_inside, wind, drag, lift):
    """Add the forces (n, 3) [N] of all triangles; drag and lift: 1/2 rho C [kg/m^3]."""
    for t in range(len(triangles)):
        i, j, k = triangles[t]
        ax, ay, az = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        bx, by, bz = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
        nx, ny, nz = 0.5 * (ay * bz - az * by), 0.5 * (az * bx - ax * bz), 0.5 * (ax * by - ay * bx)  # A n
        ux = wind[0] - (v[i, 0] + v[j, 0] + v[k, 0]) / 3
        uy = wind[1] - (v[i, 1] + v[j, 1] + v[k, 1]) / 3
        uz = wind[2] - (v[i, 2] + v[j, 2] + v[k, 2]) / 3
        flow = nx * ux + ny * uy + nz * uz  # A n . u
        area, speed = sqrt(nx * nx + ny * ny + nz * nz), sqrt(ux * ux + uy * uy + uz * uz)
        if area * speed == 0.0 or (has_inside[t] and flow > 0.0):
            continue
        # times u, and times the normal of length 1 that goes with the flow
        along = abs(flow) * (drag - lift * abs(flow) / (area * speed)) / 3
        across = flow * lift * speed / area / 3
        for corner in (i, j, k):
            forces[corner, 0] += along * ux + across * nx
            forces[corner, 1] += along * uy + across * ny
            forces[corner, 2] += along * uz + across * nz
