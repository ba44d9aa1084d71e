"""Panels, seams and bands in scene files and checkpoints."""

import numpy as np
import pytest

import pliant as pl

PANELS = """
[[bodies]]
kind = "cloth"
name = "front"
shape = { kind = "cloth", size = [0.2, 0.2], cells = [4, 4] }
material = { law = "StVenantKirchhoff", mu = 100.0, lam = 0.0 }
[[bodies]]
kind = "cloth"
name = "back"
shape = { kind = "cloth", size = [0.2, 0.2], cells = [4, 6] }
transform = { translation = [0.0, 0.0, 0.1] }
material = { law = "StVenantKirchhoff", mu = 100.0, lam = 0.0 }
"""
SEWN = """
[[seams]]
a = { body = "front", where = { kind = "face", side = "+x" } }
b = { body = "back", where = { kind = "face", side = "+x" } }
stiffness = 700.0
seconds = 0.25
[[seams]]
a = { body = "front", loop = 0 }
b = { body = "back", loop = 0 }
[[bands]]
body = "front"
where = { kind = "face", side = "-y" }
ratio = 0.7
stiffness = 3.0
"""
SQUARE = """
v 0 0 0
v 0.1 0 0
v 0.1 0 0.1
v 0 0 0.1
v 0.2 0 0
v 0.2 0 0.1
vt 0 0
vt 100 0
vt 100 100
vt 0 100
vt 200 0
vt 300 0
vt 300 100
vt 200 100
f 1/1 2/2 3/3
f 1/1 3/3 4/4
f 2/5 5/6 6/7
f 2/5 6/7 3/8
"""
UV = """
[[bodies]]
kind = "cloth"
name = "panels"
mesh = "square.obj"
rest = "uv"
uv_scale = 1e-3
transform = { translation = [0.0, 0.0, 1.0] }
material = { law = "StVenantKirchhoff", mu = 100.0, lam = 0.0 }
"""


def load(tmp_path, text):
    (tmp_path / "scene.toml").write_text(text)
    (tmp_path / "square.obj").write_text(SQUARE)
    return pl.load_scene(tmp_path / "scene.toml")


def assert_same(scene, other):
    for one, two in zip(scene.seams, other.seams, strict=True):
        np.testing.assert_array_equal(one.chain_a, two.chain_a)
        np.testing.assert_array_equal(one.chain_b, two.chain_b)
        names = [one.body_a.name, one.body_b.name, one.stiffness, one.seconds]
        assert [two.body_a.name, two.body_b.name, two.stiffness, two.seconds] == names
    for one, two in zip(scene.bands, other.bands, strict=True):
        np.testing.assert_array_equal(one.chain, two.chain)
        numbers = [one.body.name, one.ratio, one.stiffness, one.seconds]
        assert [two.body.name, two.ratio, two.stiffness, two.seconds] == numbers


def test_seams_and_bands_are_read_and_written(tmp_path):
    scene = load(tmp_path, PANELS + SEWN)
    side, around = scene.seams
    assert (side.stiffness, side.seconds, len(side.chain_a), len(side.chain_b)) == (700.0, 0.25, 5, 7)
    assert (len(around.chain_a), len(around.chain_b)) == (17, 21)
    (band,) = scene.bands
    assert (band.ratio, band.stiffness, band.seconds, len(band.chain)) == (0.7, 3.0, 0.5, 5)
    pl.save_scene(scene, tmp_path / "again.toml")
    assert_same(scene, pl.load_scene(tmp_path / "again.toml"))


def test_panels_of_uvs_are_read_and_written(tmp_path):
    scene = load(tmp_path, UV)
    (body,) = scene.bodies
    assert body.n_vertices == 8
    assert body.mesh.points[:, :2].max(axis=0) == pytest.approx([0.3, 0.1])
    np.testing.assert_allclose(body.initial_positions.max(axis=0), [0.2, 0, 1.1])
    (seam,) = scene.seams
    np.testing.assert_array_equal(body.initial_positions[seam.chain_a], body.initial_positions[seam.chain_b])
    pl.save_scene(scene, tmp_path / "again.toml")
    again = pl.load_scene(tmp_path / "again.toml")
    assert_same(scene, again)
    np.testing.assert_array_equal(again.bodies[0].initial_positions, body.initial_positions)
    np.testing.assert_array_equal(again.bodies[0].mesh.points, body.mesh.points)


def test_a_checkpoint_keeps_them(tmp_path):
    scene = load(tmp_path, PANELS + SEWN)
    sim = pl.Simulation(scene, solver=pl.Newton(iterations=1))
    sim.save(tmp_path / "run.npz")
    assert_same(scene, pl.Simulation.resume(tmp_path / "run.npz").scene)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (PANELS + SEWN.replace("loop = 0", "loop = 3"), ("seams", "loop is 3", "front has 1 loops")),
        (PANELS + SEWN.replace('"front", loop = 0', '"side", loop = 0'), ("no body 'side'", "front, back")),
        (PANELS + SEWN.replace("ratio = 0.7", "ratio = -1"), ("bands", "ratio", "-1")),
        (
            PANELS + SEWN.replace("loop = 0 }\nb", "loop = 0, vertices = [0, 1] }\nb"),
            ("one of loop, where and vertices",),
        ),
        (UV.replace("square.obj", "square.npz"), (".obj file with UV coordinates",)),
        (UV.replace("square.obj", "round.obj"), ("no such file", "square.obj")),
    ],
)
def test_bad_tables_are_told(tmp_path, text, parts):
    (tmp_path / "square.npz").write_bytes(b"")
    with pytest.raises(pl.PliantError) as error:
        load(tmp_path, text)
    for part in parts:
        assert part in str(error.value)
