"""Fields of a simulation that runs: as results have them, and as a page shows them."""

import json
import socket
import struct

import numpy as np
import pytest

import pliant as pl
from pliant.io.results import open_result
from pliant.viewer.coloured_mesh import glb
from pliant.viewer.fields import ColourScale, distinct, on_points
from pliant.viewer.live_field import LiveField, offered
from pliant.viewer.session import Session


def simulation():
    scene = pl.Scene()
    mesh = pl.shapes.box((0.2, 0.2, 0.4), (2, 2, 4))
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(3e4, 0.4), name="block")
    body.pin(mesh.points[:, 2] < -0.19)
    scene.add_springs([[0.5, 0, 0], [0.6, 0, 0]], [[0, 1]], 100.0, mass=0.1)
    return pl.Simulation(scene, pl.VBD(iterations=5), threads=1)


def test_fields_are_those_of_results(tmp_path):
    sim = simulation()
    with sim.record(tmp_path / "run.npz", tensors=True):
        sim.advance()
    assert offered(sim) == ["speed", "displacement", "von_mises", "strain", "energy_density"]
    with open_result(tmp_path / "run.npz") as result:
        first, last = result.frame(0), result.frame(1)
        for name in ("speed", "von_mises", "strain", "energy_density"):
            picture = LiveField(name).newest(sim, is_last=True)
            np.testing.assert_allclose(picture.values, on_points(result.layout, last, name), rtol=1e-6)
            np.testing.assert_allclose(picture.points, last.points, atol=1e-7)
        moved = LiveField("displacement").newest(sim, is_last=True).values
        np.testing.assert_allclose(moved, np.linalg.norm(last.points - first.points, axis=1), atol=1e-7)
    assert np.isnan(LiveField("von_mises").newest(sim, is_last=True).values[-2:]).all()  # springs have no stress


def test_a_free_body_falls_at_one_speed():
    """v = g t on every point, to rounding."""
    scene = pl.Scene()
    scene.add_solid(pl.shapes.box((0.2, 0.2, 0.4), (2, 2, 4)), pl.StableNeoHookean.from_young(3e4, 0.4))
    sim = pl.Simulation(scene, pl.VBD(iterations=5), threads=1)
    sim.advance()
    np.testing.assert_allclose(LiveField("speed").newest(sim, is_last=True).values, 9.81 * sim.time, rtol=1e-3)


def test_scales_have_two_ends():
    assert distinct(0.0, 0.0) == (0.0, 1.0)
    assert distinct(np.inf, -np.inf) == (0.0, 1.0)
    assert distinct(1e-9, 5.0) == (0.0, 5.0)
    assert distinct(-2.0, 5.0) == (-2.0, 5.0)
    assert ColourScale("strain", 0.0, 0.08).texts() == (
        "strain, Frobenius norm",
        ["0", "0.02", "0.04", "0.06", "0.08"],
    )


def test_a_coloured_mesh_is_a_gltf_file_with_linear_colours(tmp_path):
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    colours = np.array([[0.0, 0.5, 1.0]] * 3)
    data = glb(points, np.array([[0, 1, 2]]), colours)
    assert len(data) == struct.unpack_from("<L", data, 8)[0]
    size = struct.unpack_from("<L", data, 12)[0]
    json.loads(data[20 : 20 + size])
    pygltflib = pytest.importorskip("pygltflib")
    (tmp_path / "mesh.glb").write_bytes(data)
    read = pygltflib.GLTF2().load(str(tmp_path / "mesh.glb"))
    binary = read.binary_blob()
    view = read.bufferViews[read.accessors[read.meshes[0].primitives[0].attributes.COLOR_0].bufferView]
    found = np.frombuffer(binary, "<f4", 9, view.byteOffset).reshape(3, 3)
    np.testing.assert_allclose(found, [[0.0, 0.21404, 1.0]] * 3, atol=1e-4)  # IEC 61966-2-1 of a half


def test_the_page_shows_a_field_and_goes_back(tmp_path):
    """Springs take the colours, the mesh gives way to a coloured one, and the legend has the largest value."""
    pytest.importorskip("viser")
    from pliant.viewer.page import Page

    session = Session(simulation())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    try:
        with Page(session, "block", tmp_path, port=port) as page:
            page._closing.set()  # the test itself is the sender
            page._sender.join()
            block, springs = page._handles[0], page._handles[1]
            before = springs.colors.copy()
            session.show_field("speed")
            session.step()
            page.show(session.settled())
            page._field.tick()
            assert block.opacity == 0.0
            assert page.panel.legend.visible
            assert "speed [" in page.panel.legend.content
            picture = session.latest.field
            low, high = distinct(picture.values.min(), np.percentile(picture.values, 99))
            wanted = ColourScale("speed", low, high).colours(picture.values)
            np.testing.assert_allclose(springs.colors[0], 255 * wanted[picture.layout.edges[0]], atol=0.5)
            session.show_field(None)
            page.show(session.settled())
            assert block.opacity is None
            assert not page.panel.legend.visible
            np.testing.assert_array_equal(springs.colors, before)
    finally:
        session.close()
