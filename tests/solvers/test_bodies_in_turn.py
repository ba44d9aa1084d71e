"""Rigid bodies among soft ones are solved one after another (decision 0104)."""

import numpy as np
import pytest

import pliant as pl

H, SIZE = 1 / 300, 0.2


def falling_column(solver: pl.Solver, threads: int = 1) -> np.ndarray:
    """Places of five rigid cubes that fall on a floor and on each other, askew, after the step in which they meet; a
    soft cube lies beside them.
    """
    scene = pl.Scene(contact=pl.Contact(friction=0.5))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    cubes = [
        scene.add_rigid(
            pl.Box((SIZE, SIZE, SIZE)), position=(0.02 * k, 0, 0.101 + 0.201 * k), velocity=(0.5, 0.1, -3.0)
        )
        for k in range(5)
    ]
    soft = pl.shapes.box((SIZE, SIZE, SIZE), (2, 2, 2)).transformed(translation=(1.0, 0, 0.5 * SIZE + 1e-3))
    scene.add_solid(soft, pl.StableNeoHookean.from_young(1e5, 0.3))
    sim = pl.Simulation(scene, solver, frame_rate=1 / H, substeps=1, threads=threads, precision="double")
    sim.step()
    return np.array([cube.position for cube in cubes])


def test_cubes_that_hit_each_other_converge() -> None:
    """Planes between all cubes act in the step of the impact, which comes from below; 400 iterations leave a thousandth
    of what their weight does in the step.
    """
    converged = falling_column(pl.VBD(iterations=3000))
    left = {n: np.linalg.norm(falling_column(pl.VBD(iterations=n)) - converged, axis=1).max() for n in (4, 400)}
    assert left[4] > 1e-4  # all are slowed down
    assert left[400] < 1e-3 * 9.81 * H**2


@pytest.mark.parametrize("solver", [pl.VBD(iterations=20), pl.AVBD(iterations=20)], ids=["penalties", "multipliers"])
def test_any_number_of_threads_gives_the_same_bits(solver: pl.Solver) -> None:
    np.testing.assert_array_equal(falling_column(solver), falling_column(solver, threads=2))
