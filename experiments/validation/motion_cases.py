"""Textbook motions with the default settings: the number is that of substeps of a frame of 1/60 s."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.geometry import rotations

G = 9.81
BOX = (0.3, 0.1, 0.02)  # [m] of the body that tumbles


def on_a_slope(degrees: float, friction: float) -> pl.Scene:
    """A level plane under gravity that is tilted: x is downhill."""
    angle = np.radians(degrees)
    scene = pl.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=friction)
    return scene


def sliding(substeps: int) -> float:
    """Acceleration [m/s^2] of a box on a slope of 30 degrees, friction 0.3, between 0.5 s and 1 s."""
    scene = on_a_slope(30, 0.3)
    body = scene.add_rigid(pl.Box((0.4, 0.4, 0.2)), position=(0, 0, 0.1))
    return gained_speed(scene, body, substeps)


def rolling(substeps: int) -> float:
    """Acceleration [m/s^2] of a ball on a slope of 20 degrees, friction 0.5, between 0.5 s and 1 s."""
    scene = on_a_slope(20, 0.5)
    return gained_speed(scene, scene.add_rigid(pl.Sphere(0.1), position=(0, 0, 0.1)), substeps)


def gained_speed(scene: pl.Scene, body, substeps: int) -> float:
    sim = pl.Simulation(scene, substeps=substeps)
    speeds = []
    for _ in range(2):
        for _ in range(30):
            sim.advance()
        speeds.append(body.velocity[0])
    return float(speeds[1] - speeds[0]) / 0.5


def collision(substeps: int) -> float:
    """Speed [m/s] of a ball at rest after another of the same mass has hit it with 1 m/s, restitution 1."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact(friction=0.0)
    scene.add_rigid(pl.Sphere(0.1), position=(-0.25, 0, 0), velocity=(1, 0, 0), restitution=1.0)
    other = scene.add_rigid(pl.Sphere(0.1), position=(0, 0, 0), restitution=1.0)
    sim = pl.Simulation(scene, substeps=substeps)
    for _ in range(15):
        sim.advance()
    return float(other.velocity[0])


def flip_time(integrator: str) -> Callable[[int], float]:
    """Time [s] until a box spun about its middle axis, with 1 percent of that about the others, has turned over."""

    def time(substeps: int) -> float:
        scene = pl.Scene(gravity=(0, 0, 0))
        body = scene.add_rigid(pl.Box(BOX), angular_velocity=(0.05, 5.0, 0.05))
        sim = pl.Simulation(scene, substeps=substeps, integrator=integrator)
        before = 5.0
        while sim.time < 10:
            sim.step()
            spin = float((rotations.matrices(np.asarray(body.orientation)).T @ body.angular_velocity)[1])
            if spin < 0:
                return float(sim.time - spin / (spin - before) * (1 / (60 * substeps)))
            before = spin
        return np.inf

    return time


def flip_truth() -> float:
    """Euler's equations for the same box."""
    a, b, c = np.square(BOX)
    inertia = np.array([b + c, a + c, a + b])

    def rate(t, w):
        return np.cross(inertia * w, w) / inertia

    def turned(t, w):
        return w[1]

    found = solve_ivp(rate, (0, 10), (0.05, 5.0, 0.05), events=turned, rtol=1e-11, atol=1e-13)
    return float(found.t_events[0][0])
