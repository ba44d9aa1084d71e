"""Fine surfaces in coarse tets: affine motion is followed exactly."""

import numpy as np
import pytest

import pliant as pl

MESH = pl.shapes.box(size=(1, 1, 1), cells=(2, 2, 2))
BALL = pl.shapes.ball(radius=0.4).surface()


def shifted():
    centre = MESH.points.mean(axis=0)
    return pl.TriMesh(BALL.points + centre, BALL.triangles)


def test_a_surface_follows_an_affine_motion():
    solid = pl.Scene().add_solid(MESH, pl.StableNeoHookean(mu=1e4, lam=1e4))
    skin = shifted()
    embedded = solid.embed(skin)
    assert np.abs(embedded.positions - skin.points).max() < 1e-12
    assert embedded.weights.min() > -1e-9  # every vertex is in its tet
    A, t = np.array([[1.1, 0.2, 0.0], [0.0, 0.9, 0.1], [0.3, 0.0, 1.2]]), np.array([1.0, -2.0, 0.5])
    solid.set_positions(MESH.points @ A.T + t)
    assert np.abs(embedded.positions - (skin.points @ A.T + t)).max() < 1e-12
    # normals turn with the cofactor of A
    at_rest = pl.Scene().add_solid(MESH, pl.StableNeoHookean(mu=1e4, lam=1e4)).embed(skin).normals
    turned = at_rest @ np.linalg.inv(A)
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    assert np.abs(np.linalg.norm(embedded.normals, axis=1) - 1).max() < 1e-12
    assert np.einsum("na,na->n", embedded.normals, turned).min() > 0.98


def test_what_sticks_out_follows_the_nearest_tet_and_what_is_far_is_refused():
    solid = pl.Scene().add_solid(MESH, pl.StableNeoHookean(mu=1e4, lam=1e4), name="block")
    skin = shifted()
    out = skin.transformed(translation=(0.15, 0, 0))
    assert np.abs(solid.embed(out).positions - out.points).max() < 1e-12
    far = skin.transformed(translation=(5, 0, 0))
    with pytest.raises(pl.SceneError, match=r"block\.embed: vertex \d+ at .* lies far outside"):
        solid.embed(far)
    with pytest.raises(pl.SceneError, match="give a TriMesh"):
        solid.embed(MESH)


def test_a_checkpoint_keeps_it(tmp_path):
    """Where it was, with the same bits; a damaged file is refused by the name of the array."""
    scene = pl.Scene()
    solid = scene.add_solid(MESH, pl.StableNeoHookean(mu=1e4, lam=1e4), name="block")
    embedded = solid.embed(shifted())
    sim = pl.Simulation(scene, pl.VBD(iterations=1), threads=1)
    sim.step()
    sim.save(tmp_path / "kept.npz")
    (skin,) = pl.Simulation.resume(tmp_path / "kept.npz").scene.bodies[0].skins
    np.testing.assert_array_equal(skin.positions, embedded.positions)
    np.testing.assert_array_equal(skin.triangles, embedded.triangles)
    with np.load(tmp_path / "kept.npz") as kept:
        arrays = dict(kept)
    arrays["skin0.points"] = arrays["skin0.points"] + 50
    np.savez(tmp_path / "far.npz", **arrays)
    with pytest.raises(pl.FileError, match=r"arrays skin0\.points and skin0\.elements: block\.embed: vertex"):
        pl.Simulation.resume(tmp_path / "far.npz")
