"""Emitters: particles that come during a run."""

import numpy as np
import pytest

import pliant as pl

G = 9.81


def fountain(rate=300.0, until=0.5, size=0.03, speed=2.0, **options):
    scene = pl.Scene()
    grains = scene.add_emitter(
        (0, 0, 0.5), rate, (0, 0, -speed), until, radius=0.01, size=size, friction=0.5, **options
    )
    scene.add_plane(friction=0.5)
    return scene, grains


def test_particles_come_at_their_times_and_fall_freely():
    """Number k comes k / rate after the start, and is then where free fall from the mouth leads, to the order of h."""
    scene = pl.Scene()
    grains = scene.add_emitter((0, 0, 1.0), 40.0, (1.0, 0, 0), until=0.5, start=0.1)
    sim = pl.Simulation(scene, precision="double")
    assert grains.n_vertices == 16
    np.testing.assert_allclose(grains.births, 0.1 + np.arange(16) / 40)
    for _ in range(18):
        sim.advance()
    age = np.maximum(sim.time - grains.births, 0.0)[:, None]
    expected = (0, 0, 1.0) + age * (1.0, 0, 0) + 0.5 * age**2 * (0, 0, -G)
    np.testing.assert_allclose(grains.positions, expected, atol=age.max() * G / 300)
    waiting = grains.births > sim.time
    assert waiting.sum() == 7
    assert not sim.velocities[waiting].any()


@pytest.mark.slow
def test_what_comes_does_not_overlap_and_energy_is_what_was_brought_in():
    scene, grains = fountain()
    sim = pl.Simulation(scene, precision="double")
    energies = []
    for _ in range(30):
        sim.advance()
        there = np.flatnonzero(grains.births <= sim.time)
        x = grains.positions[there]
        distances = np.linalg.norm(x[:, None] - x[None], axis=2) + np.eye(len(x))
        assert distances.min() > 2 * 0.01 * 0.95
        energies.append(sim.energies()["total"])
        brought = grains.masses[: len(there)].sum() * (G * 0.5 + 0.5 * 2.0**2)
        assert energies[-1] <= brought * (1 + 1e-9)
    assert energies[3] == pytest.approx(grains.masses[0] * 20 * (G * 0.5 + 2.0), rel=0.06)  # still in flight


@pytest.mark.slow
def test_a_checkpoint_continues_with_the_same_bits(tmp_path):
    straight = pl.Simulation(fountain()[0])
    for _ in range(11):
        straight.advance()
    straight.save(tmp_path / "run.npz")
    resumed = pl.Simulation.resume(tmp_path / "run.npz")
    for _ in range(9):
        straight.advance()
        resumed.advance()
    assert np.array_equal(resumed.positions, straight.positions)
    assert np.array_equal(resumed.velocities, straight.velocities)


def test_scene_files_have_emitters(tmp_path):
    """As a table, and as what pl.save_scene writes of one."""
    (tmp_path / "a.toml").write_text(
        """
[[bodies]]
kind = "emitter"
position = [0, 0, 0.5]
rate = 300
velocity = [0, 0, -2.0]
until = 0.5
size = 0.03
friction = 0.5
name = "particles0"

[[obstacles]]
kind = "plane"
friction = 0.5
"""
    )
    one, other = pl.load_simulation(tmp_path / "a.toml"), pl.Simulation(fountain()[0])
    pl.save_scene(other, tmp_path / "b.toml")
    third = pl.load_simulation(tmp_path / "b.toml")
    for _ in range(20):
        one.step(), other.step(), third.step()
    assert np.array_equal(one.positions, other.positions)
    assert np.array_equal(third.positions, other.positions)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rate": 0.0}, r"particles0: rate is 0.0"),
        ({"until": -1.0}, r"particles0: until is -1 s, and it starts at 0 s"),
        ({"rate": 1e9}, r"it would release 5e\+08 particles"),
        ({"size": 0.0}, r"at a rate of 300 1/s particle 1 finds no room in the mouth"),
        ({"until": np.nan}, r"particles0: until is nan"),
    ],
)
def test_bad_emitters(options, words):
    with pytest.raises(pl.SceneError, match=words):
        fountain(**options)
