"""The number of threads may change from one parallel run to the next: the bits stay."""

from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.kernels import threads as threads_module
from pliant.kernels.thread_choice import ThreadChoice
from pliant.kernels.threads import Team
from pliant.solvers import Execution

STEPS = 12


def stack(solver, threads: int | None = None) -> pl.Simulation:
    """Two cubes falling on each other and on the ground, turned, with damping; contacts are detected within a step."""
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=1e4, friction=0.4, detect_every=3)
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.4)
    mesh = pl.shapes.box((0.2, 0.2, 0.2), (4, 4, 4))
    for k in range(2):
        material = pl.StableNeoHookean.from_young(4e4, 0.4)
        place = np.array([0.03 * k, 0.02 * k, 0.105 + 0.204 * k])
        body = scene.add_solid(pl.TetMesh(mesh.points + place, mesh.tets), material, 1000.0)
        body.set_velocities(np.tile([0.3 * k, 0.0, -1.0], (mesh.n_vertices, 1)))
    return pl.Simulation(scene, solver, frame_rate=120, substeps=1, threads=threads)


@pytest.fixture
def restless(monkeypatch) -> list[int]:
    """Every team has four threads, of which a random number runs, also what is little work; the numbers used."""
    random, used = np.random.default_rng(5), []

    def choose(self: ThreadChoice) -> int:
        used.append(int(random.integers(1, 5)))
        return used[-1]

    monkeypatch.setattr(Execution, "team", lambda self, *work: Team(self.threads or 4, adaptive=not self.threads))
    monkeypatch.setattr(ThreadChoice, "count", property(choose))
    monkeypatch.setattr(threads_module, "WORTH_WAKING", 0.0)
    return used


SOLVERS = [
    pl.VBD(iterations=8),
    pl.Chebyshev(pl.VBD(iterations=8), 0.8),
    pl.BlockJacobi(iterations=8),
    pl.LBFGS(iterations=4),
    pl.Newton(iterations=2, linear="cg"),
    pl.XPBD(iterations=8),
]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_a_number_of_threads_that_changes_all_the_time(solver, restless: list[int]) -> None:
    """The same positions, velocities and reports as on one thread, step after step."""
    one, many = stack(solver, threads=1), stack(solver)
    for _ in range(STEPS):
        alone, together = one.step(), many.step()
        np.testing.assert_array_equal(one.state.x, many.state.x)
        np.testing.assert_array_equal(one.state.v, many.state.v)
        assert alone.singular_blocks == together.singular_blocks
        assert alone.contact.touching == together.contact.touching
    assert alone.contact.touching > 0
    assert set(restless) == {1, 2, 3, 4}


@pytest.mark.parametrize("solver", SOLVERS[:2], ids=lambda solver: type(solver).__name__)
def test_resume_on_other_numbers_of_threads(solver, restless: list[int], tmp_path: Path) -> None:
    """Saved in the middle and resumed, once with numbers that change and once on one thread."""
    whole = stack(solver)
    for _ in range(STEPS):
        whole.step()
    half = stack(solver)
    for _ in range(STEPS // 2):
        half.step()
    half.save(tmp_path / "half.npz")
    for threads in (None, 1):
        resumed = pl.Simulation.resume(tmp_path / "half.npz", threads=threads)
        for _ in range(STEPS - STEPS // 2):
            resumed.step()
        np.testing.assert_array_equal(whole.state.x, resumed.state.x)
        np.testing.assert_array_equal(whole.state.v, resumed.state.v)
    assert len(set(restless)) == 4


def test_singular_blocks_of_threads_that_no_longer_run(restless: list[int]) -> None:
    """What a thread counted in an earlier step is forgotten when it does not run any more."""
    simulation = stack(pl.VBD(iterations=2))
    simulation._work.singular[:] = 7
    assert simulation.step().singular_blocks == 0


def test_a_given_number_is_used_exactly() -> None:
    for threads in (1, 3):
        team = Execution("single", threads).team(10, 1000)
        assert (team.threads, team.is_adaptive) == (threads, False)
    assert Execution("single").team(10, 1000).threads == 1
