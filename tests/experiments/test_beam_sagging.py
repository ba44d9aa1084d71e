"""Figure 13 in small: six frames of the softest and the stiffest beam."""

import pytest
from experiments.vbd import beam_sagging, data

pytestmark = pytest.mark.skipif(not data.has("beam-463"), reason="beam-463.vtu is not here")


@pytest.mark.slow
@pytest.mark.parametrize("mu", [1e6, 1e7])
def test_more_iterations_come_nearer_to_newton(mu):
    table = beam_sagging.errors(beam_sagging.sag(data.load("beam-463"), mu, (1, 10, 30), frames=6))
    error = [table[f"{n} iterations a frame"]["largest_error_percent"] for n in (5, 50, 150)]
    assert error[0] > 1
    assert error[1] < 0.2 * error[0]
    assert error[2] < 0.1  # what single precision leaves


def test_beam_is_turned_and_clamped():
    mesh = data.load("beam-463")
    scene, tip = beam_sagging.clamped_beam(mesh, 1e6)
    body = scene.bodies[0]
    assert (mesh.n_vertices, mesh.n_tets) == (463, 1479)
    assert body.mesh.volume == pytest.approx(40.0)  # 10 x 2 x 2 m
    assert (body.mesh.points[tip, 0] == 5.0).all()
    assert (body.mesh.points[body.subspace == 0, 0] == -5.0).all()
