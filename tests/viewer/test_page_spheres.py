"""Spheres on the page: copies of one mesh, of which places and sizes are sent."""

import socket

import numpy as np
import pytest

import pliant as pl
from pliant.viewer.session import Session

pytest.importorskip("viser")


def test_places_and_sizes_follow_the_simulation(tmp_path):
    from pliant.viewer.page import Page

    scene = pl.Scene()
    scene.add_particles([[0, 0, 0.2], [0.1, 0, 0.3]], radius=[0.02, 0.03])
    scene.add_emitter((0.5, 0, 0.5), rate=1.0, velocity=(1, 0, 0), until=0.5, start=0.01)
    session = Session(pl.Simulation(scene, threads=1))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    try:
        with Page(session, "spheres", tmp_path, port=port) as page:
            handles = [handle for handle, _, name in page._shown if name == "batched_positions"]
            np.testing.assert_allclose(handles[0].batched_scales, [0.02, 0.03])
            np.testing.assert_allclose(handles[1].batched_scales, [0.0])
            session.step()
            page.show(session.settled())
            x = session.latest.positions
            np.testing.assert_allclose(handles[0].batched_positions, x[:2], atol=1e-6)
            np.testing.assert_allclose(handles[1].batched_scales, [0.01])
    finally:
        session.close()
