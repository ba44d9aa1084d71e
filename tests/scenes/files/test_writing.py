"""Scenes written and read again run with the same bits."""

import numpy as np
import pytest

import pliant as pl
from pliant.model.motions import Keyframes, Slide, Turn
from pliant.scenes.gallery import entries


def whole_scene():
    """Every kind of body and hold, starts that are not at rest, and numbers without a short decimal form."""
    scene = pl.Scene(gravity=(0.1, 1 / 3, -9.81))
    mesh = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
    solid = scene.add_solid(mesh, pl.MooneyRivlin.from_young(1e5 / 3, 0.4, share=1 / 7), 1000 / 7, 1e-4 / 3, name="a b")
    solid.pin([0, 1], until=0.1 / 3)
    solid.pin([2])
    solid.move([3, 5, 4], Turn(mesh.points[[3, 5, 4]], (1, 2, 3), (0.1, 0, 0), turns=1 / 3, seconds=0.7), until=0.05)
    solid.move([6], Slide(mesh.points[[6]], (1 / 3, 0, 0), begin=0.01))
    solid.move([7], Keyframes(mesh.points[[7]], (0.0, 0.1), ((0, 0, 0), (0, 0, 1 / 30)), smooth=True, repeat=True))
    solid.constrain_to_line([8, 10], (1, 2, 3))
    solid.constrain_to_plane([9], (1, 1, 1))
    solid.set_velocities((1 / 3, 0, 0))
    solid.gravity, solid.air_damping, solid.colour = (0, 0, 1 / 3), 1 / 3, (0.1, 0.2, 1 / 3)
    sheet = scene.add_cloth(pl.shapes.cloth(cells=4), pl.NeoHookean(100 / 3, 10.0), bending=1e-3 / 3, warp=7.0)
    x = sheet.initial_positions.copy()
    x[:, 2] += 0.1 * x[:, 0] ** 2
    sheet.set_positions(x)
    points, edges = pl.shapes.chain(1.0, 5)
    scene.add_springs(points, edges, np.linspace(1e2, 1e3 / 3, len(edges)), 0.1 / 3, one_sided=True)
    return scene


def own_law():
    @pl.material
    def softer(I, II, J, mu):
        return mu / 2 * (I - 3) - mu * (J - 1) + mu * (J - 1) ** 2

    return softer(1e4)


def touching_scene():
    """A block that falls on every kind of obstacle at once."""
    scene = pl.Scene()
    mesh = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
    block = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.4), name="block")
    block.set_velocities((0.1, 0, -1))
    block.friction = 1 / 3
    scene.add_plane((0, 0, -0.1), (0.1, 0, 1), friction=1 / 7)
    scene.add_sphere((0.1, 0, -0.2), 0.1)
    scene.add_box((-0.1, 0, -0.2), (0.1, 0.1, 0.2))
    scene.add_container((0, 0, 1), (3, 3, 2.2))
    scene.add_capsule((0, -1, -0.15), (0, 1, -0.15), 0.05)
    scene.add_cylinder((0.15, -1, -0.15), (0.15, 1, -0.15), 0.05, motion=Slide.rigid(velocity=(0, 0, 1 / 7)))
    scene.add_sphere((0, 0, -0.3), 0.15, motion=Turn.rigid(axis=(1, 1, 0), centre=(0, 0, 1 / 3), turns=0.1))
    scene.wind = pl.Wind(pl.Schedule((0, 0.1), ((1 / 3, 0, 0), (0, 1, 0)), repeat=True), lift=0.1)
    scene.world_box = pl.WorldBox(upper=(None, None, 1 / 3), stiffness=1e4)
    block.viscosity, block.pressure = 1 / 3, pl.Schedule((0, 1), (10 / 3, 20))
    block.ignore_contact([0, 3])
    steps = pl.shapes.cloth((1, 1), 2).transformed(translation=(0, 0, -0.12))
    up = Keyframes.rigid(times=(0, 0.1, 0.2), offsets=((0, 0, 0), (0, 0, 0.01), (0, 0, 0)), repeat=True)
    scene.add_mesh_obstacle(steps, friction=1 / 7, motion=up, name="steps")
    other = scene.add_solid(mesh.transformed(translation=(0, 0.1, 0.3)), pl.StableNeoHookean(1e4, 1e4), name="other")
    scene.ignore_contact(block, other)
    scene.attach(block, [1, 2], other, [3, 4], 1e3 / 3)
    scene.attach(block, [[0, 1, 4]], other, [[2, 3]], 1e2, [[0.2, 0.3, 0.5]], [[1 / 3, 2 / 3]])
    scene.contact = pl.Contact(stiffness=1e5 / 3, friction=1 / 3, damping=1e-4, detect_every=2)
    return scene


def test_contact_comes_back_with_the_same_bits(tmp_path):
    """From a scene file, and from a checkpoint of every kind of obstacle."""
    sim = pl.Simulation(touching_scene(), pl.VBD(iterations=4), substeps=2)
    pl.save_scene(sim, tmp_path / "kept.toml")
    again = pl.load_simulation(tmp_path / "kept.toml")
    for _ in range(3):
        sim.advance()
        again.advance()
    assert sim.n_contacts > 0
    np.testing.assert_array_equal(again.state.x, sim.state.x)
    sim.save(tmp_path / "kept.npz")
    resumed = pl.Simulation.resume(tmp_path / "kept.npz")
    for _ in range(3):
        sim.advance()
        resumed.advance()
    np.testing.assert_array_equal(resumed.state.x, sim.state.x)


def test_a_scene_comes_back_with_the_same_bits(tmp_path):
    sim = pl.Simulation(whole_scene(), pl.Chebyshev(pl.VBD(iterations=3), rho=0.7), frame_rate=100 / 3, substeps=2)
    pl.save_scene(sim, tmp_path / "kept.toml")
    again = pl.load_simulation(tmp_path / "kept.toml")
    assert (again.solver, again.h) == (sim.solver, sim.h)
    for _ in range(4):
        sim.advance()
        again.advance()
    for name in ("x", "v", "v_previous"):
        np.testing.assert_array_equal(getattr(again.state, name), getattr(sim.state, name))
    for body, kept in zip(sim.scene.bodies, again.scene.bodies, strict=True):
        assert (kept.name, kept.colour) == (body.name, body.colour)
    first = (tmp_path / "kept.toml").read_text()
    pl.save_scene(again, tmp_path / "kept.toml")
    assert (tmp_path / "kept.toml").read_text() == first


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_gallery_scenes_are_written_back(entry, tmp_path):
    """The same model: positions, masses, holds and moduli to the last bit."""
    scene = pl.load_scene(entry.path)
    pl.save_scene(scene, tmp_path / "copy.toml")
    copy = pl.load_scene(tmp_path / "copy.toml")
    from pliant.model import build_model

    one, other = build_model(scene), build_model(copy)
    for name in ("positions", "velocities", "mass", "gravity", "air_damping", "damping", "subspace", "directions"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for kinematic, kept in zip(one.kinematic, other.kinematic, strict=True):
        np.testing.assert_array_equal(kinematic.positions(0.37), kept.positions(0.37))
    for block, kept in zip(one.blocks, other.blocks, strict=True):
        np.testing.assert_array_equal(block.elements, kept.elements)
    assert [release.time for release in one.releases] == [release.time for release in other.releases]


def test_laws_that_let_go_come_back(tmp_path):
    scene = pl.Scene()
    law = pl.Invertible(pl.NeoHookean(1e4 / 3, 1e4), lower=0.1, upper=1 / 3, stiffness=1e4)
    scene.add_solid(pl.shapes.box(cells=1), law)
    scene.add_solid(pl.shapes.box(cells=1), pl.Invertible(pl.ARAP(1e4)))
    pl.save_scene(scene, tmp_path / "kept.toml")
    laws = [body.material for body in pl.load_scene(tmp_path / "kept.toml").bodies]
    assert laws == [law, pl.Invertible(pl.ARAP(1e4))]


def test_functions_and_strange_names_are_refused(tmp_path):
    for spoil, words in (
        (lambda body: body.move([0], lambda t: [[0, 0, t]]), "moved by a Python function"),
        (lambda body: body.add_force(lambda x, v, t: 0 * x), "Python function as a force"),
        (lambda body: setattr(body, "name", "a/b"), "cannot be part of a file's"),
        (lambda body: setattr(body, "pressure", lambda t: t), "solid0.pressure is a Python function"),
        (lambda body: setattr(body, "material", own_law()), "has the law"),
    ):
        scene = pl.Scene()
        spoil(scene.add_solid(pl.shapes.box(cells=1), pl.StableNeoHookean(1.0, 1.0)))
        with pytest.raises(pl.FileError, match=words):
            pl.save_scene(scene, tmp_path / "x.toml")
        assert not list(tmp_path.iterdir())
