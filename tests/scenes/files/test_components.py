"""Pins and motions of single components, and prescribed volumes, in scene files."""

import numpy as np
import pytest

import pliant as pl
from pliant.model import build_model
from pliant.model.motions import Keyframes, Slide

MESH = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))


def same_holds(scene, copy):
    one, other = build_model(scene), build_model(copy)
    for name in ("subspace", "directions", "positions"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert len(one.kinematic) == len(other.kinematic)
    for kinematic, kept in zip(one.kinematic, other.kinematic, strict=True):
        x, y = one.positions + 1.0, other.positions + 1.0
        kinematic.put(x, 0.37)
        kept.put(y, 0.37)
        np.testing.assert_array_equal(x, y)
    when = [sorted((release.time, *release.vertices.tolist()) for release in model.releases) for model in (one, other)]
    assert when[0] == when[1]


def test_components_come_back_with_the_same_bits(tmp_path):
    """A face led along x whose edges are pinned in z or y, and corners in both; pins that end; pins that stay."""
    scene = pl.Scene()
    body = scene.add_solid(MESH, pl.StableNeoHookean.from_young(1e5, 0.3))
    x, y, z = body.initial_positions.T
    right, left = np.isclose(x, x.max()), np.isclose(x, x.min())
    body.pin(right & np.isclose(z, z.min()), components="z")
    body.pin(right & np.isclose(y, y.min()), components="y")
    motion = Slide(body.initial_positions[right], velocity=(0.1, 5.0, 5.0))
    body.move(right, motion, components="x", until=2.0)
    top = np.flatnonzero(left & np.isclose(z, z.max()))
    body.move(top, Keyframes(body.initial_positions[top], (0.0, 1.0), ((0, 0, 0), (0, 0, 0.1))), components="zy")
    body.pin(left & np.isclose(z, z.min()), components="xz", until=0.5)
    body.pin(left & np.isclose(z, 0), components="x")
    pl.save_scene(scene, tmp_path / "kept.toml")
    copy = pl.load_scene(tmp_path / "kept.toml")
    same_holds(scene, copy)
    first = (tmp_path / "kept.toml").read_text()
    pl.save_scene(copy, tmp_path / "kept.toml")
    assert (tmp_path / "kept.toml").read_text() == first


STRETCHED = """
gravity = [0, 0, 0]
[[bodies]]
kind = "solid"
shape = { kind = "box", size = [0.4, 0.2, 0.2], cells = [2, 1, 1] }
material = { law = "StableNeoHookean", youngs_modulus = 1e5, poissons_ratio = 0.25 }
[[bodies.holds]]
kind = "pin"
where = { kind = "face", side = "-x" }
components = "x"
[[bodies.holds]]
kind = "pin"
where = { kind = "face", side = "-y" }
components = "y"
[[bodies.holds]]
kind = "pin"
where = { kind = "face", side = "-z" }
components = "z"
[[bodies.holds]]
kind = "slide"
velocity = [0.0004, 0, 0]
where = { kind = "face", side = "+x" }
components = "x"
"""


def test_a_bar_of_a_file_contracts_as_poisson_says(tmp_path):
    """Led by 0.1 % along x, its sides are free: -nu times that across, to second order in the strain."""
    path = tmp_path / "bar.toml"
    path.write_text(STRETCHED)
    scene = pl.load_scene(path)
    found = pl.equilibrium(scene)
    across = np.ptp(found.positions[:, 1]) / 0.2 - 1
    assert across == pytest.approx(-0.25e-3, rel=5e-3)
    assert np.ptp(found.positions[:, 0]) == pytest.approx(0.4004, rel=1e-12)


@pytest.mark.parametrize(("wrong", "words"), [('"w"', "components"), ('"zx"', "components"), ("3", "components")])
def test_wrong_components_are_told(tmp_path, wrong, words):
    path = tmp_path / "bar.toml"
    path.write_text(STRETCHED.replace('components = "z"', f"components = {wrong}"))
    with pytest.raises(pl.PliantError, match=words):
        pl.load_scene(path)


def test_volumes_come_back(tmp_path):
    scene = pl.Scene()
    ball = pl.shapes.ball(0.2, 2)
    scene.add_cloth(ball.surface(), pl.StVenantKirchhoff(1e3, 1e3), bending=0.0, name="bag").volume = 1 / 30
    scene.add_solid(ball, pl.StableNeoHookean(1e3, 1e4), name="ball").volume = pl.Schedule((0, 1), (0.03, 1 / 30))
    pl.save_scene(scene, tmp_path / "kept.toml")
    bag, solid = pl.load_scene(tmp_path / "kept.toml").bodies
    assert bag.volume == 1 / 30
    assert solid.volume(1.0) == 1 / 30
    assert solid.cavity_volume is None
