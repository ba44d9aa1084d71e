"""Surfaces embedded in solids on the page: drawn in the place of the solid's own, where the tets carry them."""

import socket

import numpy as np
import pytest

import pliant as pl
from pliant.viewer.session import Session

pytest.importorskip("viser")


def test_the_page_shows_embedded_surfaces(tmp_path):
    from pliant.viewer.page import Page

    mesh = pl.shapes.box(size=(1, 1, 1), cells=(2, 2, 2))
    ball = pl.shapes.ball(radius=0.4).surface()
    scene = pl.Scene()
    law = pl.StableNeoHookean(mu=1e4, lam=1e4)
    skin = scene.add_solid(mesh, law).embed(pl.TriMesh(ball.points + mesh.points.mean(axis=0), ball.triangles))
    scene.add_solid(mesh.transformed(translation=(2, 0, 0)), law)
    session = Session(pl.Simulation(scene, solver=pl.Newton(iterations=2), threads=1))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    try:
        with Page(session, "skins", tmp_path, port=port) as page:
            ((handle, _, _),) = page._skins
            assert len(page._shown) == 1
            session.step()
            page.show(session.settled())
            np.testing.assert_allclose(handle.vertices, skin.positions, atol=1e-6)
    finally:
        session.close()
