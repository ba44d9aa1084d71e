"""Scenes that used to end pierced, from jittered starts: with the guarantee no step ends with an intersection."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl

ipctk = pytest.importorskip("ipctk")
pytestmark = pytest.mark.slow
LAW = pl.StableNeoHookean(mu=2000.0, lam=2000.0)
SOFT = pl.StableNeoHookean.from_young(1e5, 0.3)
JITTER = 1e-4  # [m]


def scene_without_gravity() -> pl.Scene:
    return pl.Scene(gravity=(0, 0, 0), contact=pl.Contact(guarantee=True))


def shifted(mesh, rng: np.random.Generator, translation=(0.0, 0.0, 0.0), rotation=None):
    moved = mesh if rotation is None else mesh.transformed(rotation=rotation)
    return moved.transformed(translation=np.asarray(translation) + rng.uniform(-JITTER, JITTER, 3))


def two_cloths_over_a_sphere(rng: np.random.Generator) -> pl.Scene:
    scene = pl.Scene(contact=pl.Contact(guarantee=True))
    for k in range(2):
        scene.add_cloth(shifted(pl.shapes.cloth((1, 1), (12, 12)), rng, (0, 0, 0.32 + 0.03 * k)), LAW)
    scene.add_sphere((0, 0, 0), 0.3)
    scene.add_plane((0, 0, -0.4))
    return scene


def twisted_towel(rng: np.random.Generator) -> pl.Scene:
    """Wrung by a turn and a half at each end."""
    scene = scene_without_gravity()
    cloth = scene.add_cloth(shifted(pl.shapes.cloth((1, 0.3), (20, 6)), rng), LAW)
    points = cloth.initial_positions.copy()
    for side in (1.0, -1.0):
        end = np.flatnonzero(side * points[:, 0] < -0.49)
        centre = points[end].mean(axis=0)

        def wrung(t: float, side=side, own=points[end], centre=centre) -> np.ndarray:
            part = min(t, 1.0)
            turn = Rotation.from_rotvec((3 * np.pi * side * part, 0, 0)).as_matrix()
            return (own - centre) @ turn.T + centre + (0.1 * side * part, 0, 0)

        cloth.move(end, wrung)
    return scene


def linked_rings(rng: np.random.Generator) -> pl.Scene:
    scene = scene_without_gravity()
    ring, upright = pl.shapes.torus(0.1, 0.025, 2, 16), ((1, 0, 0), (0, 0, -1), (0, 1, 0))
    for speed, mesh in ((-3.0, shifted(ring, rng)), (3.0, shifted(ring, rng, (0.1, 0, 0), upright))):
        scene.add_solid(mesh, SOFT).set_velocities((speed, 0, 0))
    return scene


def pile_of_cubes(rng: np.random.Generator) -> pl.Scene:
    scene = pl.Scene(contact=pl.Contact(guarantee=True))
    cube = pl.shapes.box((0.1, 0.1, 0.1), (2, 2, 2))
    for place in np.ndindex(2, 2, 2):
        scene.add_solid(shifted(cube, rng, 0.11 * np.array(place) + (0, 0, 0.06)), SOFT)
    scene.add_plane()
    return scene


def ropes_at_a_cloth(rng: np.random.Generator) -> pl.Scene:
    scene = scene_without_gravity()
    scene.add_cloth(shifted(pl.shapes.cloth((1, 1), (10, 10)), rng), LAW)
    for speed, height in ((20.0, 0.1), (40.0, 0.2)):
        turn = Rotation.from_euler("z", 20 * speed + 1e3 * rng.uniform(-JITTER, JITTER)).as_matrix()
        points, edges = pl.shapes.rope(((-0.4, 0.03, height), (0.4, 0.02, height + 0.02)), 24)
        scene.add_springs(points @ turn.T, edges, 1e3, 0.002).set_velocities((0, 0, -speed))
    return scene


def cloth_on_posts(rng: np.random.Generator) -> pl.Scene:
    """Obstacles that are much smaller than the cells."""
    scene = pl.Scene(contact=pl.Contact(guarantee=True))
    scene.add_cloth(shifted(pl.shapes.cloth((1, 1), (8, 8)), rng, (0.03, 0.02, 0.08)), LAW)
    scene.add_sphere((0, 0, 0), 0.02)
    scene.add_capsule((0.2, 0.2, -0.5), (0.2, 0.2, 0.05), 0.01)
    scene.add_box((-0.2, -0.2, 0), (0.03, 0.03, 0.03))
    scene.add_cylinder((-0.2, 0.2, -0.3), (-0.2, 0.2, 0.02), 0.02)
    return scene


SUITE = [
    (two_cloths_over_a_sphere, 240),
    (twisted_towel, 330),
    (linked_rings, 60),
    (pile_of_cubes, 100),
    (ropes_at_a_cloth, 20),
    (cloth_on_posts, 120),
]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("make", "steps"), SUITE, ids=[make.__name__ for make, _ in SUITE])
def test_no_step_ends_with_an_intersection(
    make: Callable[[np.random.Generator], pl.Scene], steps: int, seed: int
) -> None:
    """Two iterations of vertex block descent in every other run: the guarantee does not depend on the solver."""
    sim = pl.Simulation(make(np.random.default_rng(seed)), pl.VBD(20 if seed % 2 == 0 else 2))
    surface = sim._detector.colliders.surface
    mesh = ipctk.CollisionMesh(sim.model.positions, surface.edges, surface.triangles)
    for _ in range(steps):
        sim.step()
        assert not ipctk.has_intersections(mesh, sim.state.x)


def test_linked_rings_stay_linked() -> None:
    """After they have pulled at each other, the middle line of one still goes through the other once: their linking
    number is 1.
    """
    sim = pl.Simulation(linked_rings(np.random.default_rng(0)), pl.VBD(2))
    for _ in range(90):
        sim.step()
    n = sim.model.n_vertices // 2
    lines = [sim.state.x[first : first + n].reshape(16, -1, 3).mean(axis=1) for first in (0, n)]
    assert abs(abs(linking_number(*lines)) - 1) < 0.05


def linking_number(one: np.ndarray, other: np.ndarray) -> float:
    """Gauss's integral over two closed polygons, by midpoints of finely divided sides."""
    fine = [
        np.concatenate(
            [
                a + np.linspace(0, 1, 20, endpoint=False)[:, None] * (b - a)
                for a, b in zip(line, np.roll(line, -1, axis=0), strict=True)
            ]
        )
        for line in (one, other)
    ]
    (p, dp), (q, dq) = (((a + np.roll(a, -1, axis=0)) / 2, np.roll(a, -1, axis=0) - a) for a in fine)
    way = p[:, None] - q[None]
    triple = np.einsum("ijk,ijk->ij", way, np.cross(dp[:, None], dq[None]))
    return float((triple / np.linalg.norm(way, axis=2) ** 3).sum() / (4 * np.pi))
