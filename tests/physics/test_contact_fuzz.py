"""Whatever a scene is made of: a simulation with contact never crashes, hangs or loses a number."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl

LAW = pl.StableNeoHookean.from_young(1e4, 0.3)


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(1, 12),
    grid=st.sampled_from([0, 3]),
    speed=st.sampled_from([0.0, 1.0, 100.0]),
)
def test_soups_of_triangles_as_cloth(seed: int, m: int, grid: int, speed: float) -> None:
    """Separate triangles that overlap; on a grid, vertices of several coincide. All numbers stay finite."""
    rng = np.random.default_rng(seed)
    points = rng.random((m, 3, 3)) if grid == 0 else rng.integers(0, grid, (m, 3, 3)) / grid
    sides = points[:, 1:] - points[:, :1]
    points = points[np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) > 1e-3]
    if not len(points):
        return
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact(stiffness=100.0, thickness=0.02)
    mesh = pl.TriMesh(points.reshape(-1, 3), np.arange(3 * len(points)).reshape(-1, 3))
    cloth = scene.add_cloth(mesh, LAW, density=0.2)
    cloth.set_velocities(speed * rng.normal(size=(mesh.n_vertices, 3)))
    sim = pl.Simulation(scene, pl.VBD(iterations=5, line_search=True), threads=1)
    for _ in range(4):
        report = sim.step()
        assert np.isfinite(sim.positions).all()
        assert np.isfinite(list(sim.energies().values())).all()
        assert report.contact.deepest >= 0


def test_a_triangle_without_area_is_refused() -> None:
    """With the number of the triangle."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 0, 0]])
    with pytest.raises(pl.PliantError, match="the first is triangle 1"):
        pl.Scene().add_cloth(pl.TriMesh(points, [[0, 1, 2], [0, 1, 3]]), LAW, density=0.2)
