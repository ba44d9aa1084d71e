"""Many particles have numbers of their own in a ConstraintProblem: who looks from outside sees those of the scene."""

import numpy as np
import pytest

import pliant as pl
from pliant.constraints import numbering
from pliant.constraints.numbering import numbering_of

R = 0.01


def heap(spin=False):
    """Spheres in touch, at random velocities and with numbers at random."""
    random = np.random.default_rng(1)
    points = random.permutation(pl.shapes.packed_spheres((0.1, 0.1, 0.3), radius=R, spacing=1.02))
    scene = pl.Scene()
    grains = scene.add_particles(points, radius=R, friction=0.4, spin=spin)
    grains.set_velocities(0.3 * random.normal(size=points.shape))
    scene.add_container((0, 0, 0), (0.11, 0.11, 0.32), friction=0.4)
    return scene


def run(spin, steps, threads=1, **options):
    sim = pl.Simulation(heap(spin), pl.VelocityTimeStepping(**options), frame_rate=300, substeps=1, threads=threads)
    for _ in range(steps):
        sim.step()
    return sim


def test_neighbours_in_space_are_neighbours_in_memory(monkeypatch):
    monkeypatch.setattr(numbering, "FEWEST", 1)
    model = pl.Simulation(heap()).model
    own = numbering_of(model)
    assert np.array_equal(own.numbers[own.vertices], np.arange(model.n_vertices))
    ways = [np.linalg.norm(np.diff(x, axis=0), axis=1).mean() for x in (model.positions, model.positions[own.vertices])]
    assert ways[1] < 0.5 * ways[0]


@pytest.mark.parametrize("spin", [False, True])
def test_a_step_is_the_same_to_rounding(monkeypatch, spin):
    """Gauss-Seidel goes through constraints in another order, so that Jacobi's method alone is compared."""
    options = {"relaxation": pl.Jacobi(), "settling": 0}
    plain = run(spin, 3, **options)
    monkeypatch.setattr(numbering, "FEWEST", 1)
    renumbered = run(spin, 3, **options)
    assert not np.array_equal(renumbered._work.numbering.vertices, plain._work.numbering.vertices)
    np.testing.assert_allclose(renumbered.positions, plain.positions, atol=2e-7)
    np.testing.assert_allclose(renumbered.velocities, plain.velocities, atol=1e-4)
    if spin:
        np.testing.assert_allclose(renumbered.state.spins, plain.state.spins, atol=1e-2)
    for sim in (renumbered, plain):
        forces = sim.contacts.vertex_forces
        np.testing.assert_allclose(forces.sum(axis=0), -sim.contacts.obstacle_forces.sum(axis=0), atol=1e-4)
    np.testing.assert_allclose(renumbered.contacts.vertex_forces, plain.contacts.vertex_forces, atol=1e-2)
    pairs = [{frozenset(pair) for pair in sim.contacts.ids[:, 1:3].tolist()} for sim in (renumbered, plain)]
    assert pairs[0] == pairs[1]


def test_the_same_bits_on_threads_and_after_resume(monkeypatch, tmp_path):
    monkeypatch.setattr(numbering, "FEWEST", 1)
    whole, first = run(False, 9), run(False, 5, threads=2)
    first.save(tmp_path / "half.npz")
    second = pl.Simulation.resume(tmp_path / "half.npz", threads=1)
    assert second._work.kept.first.tolist() == first._work.kept.first.tolist()
    for _ in range(4):
        second.step()
    assert np.array_equal(second.positions, whole.positions)
    assert np.array_equal(second.velocities, whole.velocities)
