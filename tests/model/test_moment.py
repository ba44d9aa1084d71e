"""Moments on vertices: forces without resultant whose moment is what was asked for."""

import numpy as np
import pytest

import pliant as pl

MESH = pl.shapes.box((0.3, 0.2, 0.1), (3, 2, 1))


def forces_of(moment, x, time=0.0):
    scene = pl.Scene()
    body = scene.add_solid(MESH, pl.StableNeoHookean(1e4, 1e4))
    end = MESH.points[:, 0] > 0.149
    body.add_moment(end, moment)
    return body.forces[0](x, np.zeros_like(x), time), end


def test_forces_have_the_moment_and_no_resultant_wherever_the_vertices_are():
    rng = np.random.default_rng(2)
    M = np.array([0.3, -2.0, 0.7])
    for x in (MESH.points, MESH.points + 0.05 * rng.standard_normal(MESH.points.shape) + 4.0):
        f, end = forces_of(M, x)
        np.testing.assert_allclose(f.sum(axis=0), 0.0, atol=1e-12)
        np.testing.assert_allclose(np.cross(x, f).sum(axis=0), M, atol=1e-11)
        assert not f[~end].any()


def test_a_moment_may_depend_on_time():
    f, _ = forces_of(lambda t: (0.0, 3.0 * t, 0.0), MESH.points, time=2.0)
    np.testing.assert_allclose(np.cross(MESH.points, f).sum(axis=0), [0, 6.0, 0], atol=1e-12)


def test_vertices_on_a_line_have_no_lever_about_it():
    body = pl.Scene().add_solid(MESH, pl.StableNeoHookean(1e4, 1e4))
    line = (MESH.points[:, 0] > 0.149) & (MESH.points[:, 2] > 0.049)
    body.add_moment(line, (0.0, 0.0, 1.0))
    with pytest.raises(pl.PliantError, match=r"solid0.add_moment: the 3 vertices lie on one line"):
        body.add_moment(line, (0.0, 1.0, 0.0))
    with pytest.raises(pl.PliantError, match=r"99"):
        body.add_moment([99], (0.0, 1.0, 0.0))
