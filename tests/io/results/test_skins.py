"""Surfaces embedded in solids: results of all formats show them in the place of the tets' own, with fields."""

import numpy as np
import pytest

import pliant as pl
from pliant.io.results.formats import open_result

MESH = pl.shapes.box(size=(1, 1, 1), cells=(2, 2, 2))
SKIN = pl.shapes.ball(radius=0.4).surface()
SKIN = pl.TriMesh(SKIN.points + MESH.points.mean(axis=0), SKIN.triangles)


def falling():
    """A block with a skin beside one without; Newton's method solves free fall exactly."""
    scene = pl.Scene()
    law = pl.StableNeoHookean(mu=1e4, lam=1e4)
    body = scene.add_solid(MESH, law, name="block")
    skin = body.embed(SKIN)
    scene.add_solid(MESH.transformed(translation=(2, 0, 0)), law, name="plain")
    return pl.Simulation(scene, solver=pl.Newton(iterations=2), frame_rate=20, substeps=1, precision="double"), skin


@pytest.mark.parametrize("ending", [".npz", ".pvd", ".usda", ".glb"])
def test_results_show_the_skin(tmp_path, ending):
    if ending == ".usda":
        pytest.importorskip("pxr")
    sim, skin = falling()
    path = tmp_path / f"fall{ending}"
    with sim.record(path):
        for _ in sim.frames(2):
            pass
    plain = MESH.surface()
    if ending in (".npz", ".pvd"):
        with open_result(path) as result:
            x, triangles, layout = result.positions(2), result.triangles, result.layout
            own = triangles[layout.triangle_bodies == 0]
            energies = result.frame(0).cell_fields["energy_density"]
            assert len(energies) == len(triangles)
            assert np.isfinite(energies).all()
    else:
        animation = pl.load_animation(path)
        x, triangles = animation.frames[-1], animation.triangles
        own = triangles[: SKIN.n_triangles]
    assert len(triangles) == SKIN.n_triangles + plain.n_triangles
    np.testing.assert_allclose(x[own], skin.positions[SKIN.triangles], atol=2e-6)
    assert skin.positions[:, 2].mean() == pytest.approx(SKIN.points[:, 2].mean() - 9.81 * 0.05**2 * 3, abs=1e-6)


def test_volumes_have_tets_and_no_skin(tmp_path):
    sim, _ = falling()
    with sim.record(tmp_path / "fall.npz", volume=True):
        pass
    with open_result(tmp_path / "fall.npz") as result:
        assert len(result.tets) == 2 * MESH.n_tets
        assert result.layout.n_points == 2 * MESH.n_vertices


def test_scene_files_name_them(tmp_path):
    sim, _ = falling()
    pl.save_scene(sim.scene, tmp_path / "scene.toml")
    block, plain = pl.load_scene(tmp_path / "scene.toml").bodies
    (skin,) = block.skins
    np.testing.assert_array_equal(skin.mesh.points, SKIN.points)
    np.testing.assert_array_equal(skin.mesh.triangles, SKIN.triangles)
    assert not plain.skins
