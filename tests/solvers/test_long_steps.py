"""Steps in which elastic forces undo nearly all that loads would do: statics by time stepping."""

import numpy as np
import pytest

import pliant as pl

LOAD = 1e-4  # [N] per metre of the loaded edge


def cook(cells: int) -> tuple[pl.Scene, pl.Body, np.ndarray]:
    """Cook's membrane without gravity, and the middle of its loaded edge."""
    unit = pl.shapes.box((1.0, 1.0, 1.0), (cells, cells, 1))
    s, t, z = (unit.points + 0.5).T
    points = np.stack([48 * s, 44 * s + t * (44 - 28 * s), z * 48 / cells], axis=1)
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(pl.TetMesh(points, unit.tets), pl.StableNeoHookean.from_young(1.0, 1 / 3), density=1.0)
    body.pin(s < 1e-9)
    right = s > 1 - 1e-9
    share = np.where(right, np.where((t < 1e-9) | (t > 1 - 1e-9), 0.5, 1.0), 0.0)
    forces = np.outer(share / share.sum(), [0, LOAD * 48 / cells, 0])
    body.add_force(lambda x, v, time: forces)
    return scene, body, right & np.isclose(t, 0.5)


def rise(sim: pl.Simulation, body: pl.Body, middle: np.ndarray) -> float:
    before = body.positions
    assert sim.step().converged
    return float((body.positions - before)[middle, 1].mean() / LOAD)


@pytest.mark.parametrize("seconds", [100.0, 1e3, 1e5])
def test_one_long_step_ends_where_newtons_method_does(seconds):
    """Inertia would take the membrane 2 to 2e6 times as far as it goes, of which 0.5 % is more than its whole way."""
    ends = []
    for solver in (None, pl.Newton(iterations=30)):
        scene, body, middle = cook(8)
        sim = pl.Simulation(scene, solver, frame_rate=1 / seconds, substeps=1, threads=1)
        ends.append(rise(sim, body, middle))
    assert ends[0] == pytest.approx(ends[1], rel=0.02)


def test_a_step_of_statics_is_an_equilibrium():
    scene, body, middle = cook(8)
    sim = pl.Simulation(scene, frame_rate=1e-5, substeps=1, threads=1)
    found = rise(sim, body, middle)
    assert found == pytest.approx(pl.equilibrium(scene).displacements[middle, 1].mean() / LOAD, rel=5e-3)
