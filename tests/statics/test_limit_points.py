"""A load beyond a limit point: the load factor reached, and the last shape before."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import pliant as pl

RISE, STIFFNESS = 0.2, 1e3


def carried(z):
    """[N] that an arch of two bars carries with its crown at z: 2 k (L - l) z / l."""
    rest, length = np.hypot(1.0, RISE), np.hypot(1.0, z)
    return 2 * STIFFNESS * (rest - length) * z / length


LIMIT = minimize_scalar(lambda z: -carried(z), bounds=(0, RISE), method="bounded", options={"xatol": 1e-12}).x


def arch(load):
    scene = pl.Scene(gravity=(0, 0, 0))
    points = np.array([[-1.0, 0, 0], [0, 0, RISE], [1, 0, 0]])
    bars = scene.add_springs(points, [[0, 1], [1, 2]], stiffness=STIFFNESS, mass=1.0)
    bars.pin([0, 2])
    bars.pin([1], components="y")
    forces = np.array([[0, 0, 0], [0, 0, -load], [0, 0, 0]])
    bars.add_force(lambda x, v, t: forces)
    return scene


@pytest.mark.parametrize(("times", "steps"), [(2.0, 1), (2.0, 7), (20.0, 1), (1.02, 1)])
def test_an_arch_stops_where_it_would_snap(caplog, times, steps):
    found = pl.equilibrium(arch(times * carried(LIMIT)), load_steps=steps)
    report = found.report
    assert not report.converged
    assert 1 / times - 2e-3 < report.load_factor <= 1 / times
    assert report.load_factors[-1] == report.load_factor
    assert f"limit point at the load factor {report.load_factor:.4g}" in report.reason
    assert report.reason in caplog.text
    assert found.stable
    height = found.positions[1, 2]
    assert height > LIMIT
    assert carried(height) == pytest.approx(report.load_factor * times * carried(LIMIT), rel=1e-5)


def test_an_arch_below_its_limit_is_not_stopped():
    found = pl.equilibrium(arch(0.99 * carried(LIMIT)))
    assert found.report.converged
    assert carried(found.positions[1, 2]) == pytest.approx(0.99 * carried(LIMIT), rel=1e-5)
    assert found.positions[1, 2] > LIMIT


def test_the_shape_after_the_snap_can_be_asked_for():
    found = pl.equilibrium(arch(2 * carried(LIMIT)), stop_at_limit=False)
    assert found.report.converged
    assert found.positions[1, 2] < -RISE
    assert carried(found.positions[1, 2]) == pytest.approx(2 * carried(LIMIT), rel=1e-5)


def test_slack_sheets_have_no_branch_to_leave():
    """A flat sheet falls under a thousandth of its weight too: nothing stops it."""
    mesh = pl.shapes.cloth((1, 1), (6, 6))
    scene = pl.Scene()
    sheet = scene.add_cloth(mesh, pl.StVenantKirchhoff(1e3, 1e3), bending=1e-6)
    sheet.pin([0, 6])
    found = pl.equilibrium(scene)
    assert found.report.load_factor == 1.0
    assert found.report.converged


def curved_arch(cells, load):
    """A strip of 1 m x 0.1 m, 5 mm thick, that rises by 5 cm as a sine, hinged at both ends; a load on its crown."""
    flat = pl.shapes.cloth((1.0, 0.1), (cells, 2))
    along = flat.points[:, 0] - flat.points[:, 0].min()
    points = flat.points + np.outer(0.05 * np.sin(np.pi * along), (0, 0, 1))
    scene = pl.Scene(gravity=(0, 0, 0))
    law = pl.StVenantKirchhoff.from_young(1e8 * 0.005, 0.0)
    strip = scene.add_cloth(pl.TriMesh(points, flat.triangles), law, density=5.0, bending=1e8 * 0.005**3 / 12)
    strip.pin((along < 1e-9) | (along > 1 - 1e-9))
    crown = np.isclose(along, 0.5)
    forces = np.outer(crown / crown.sum(), (0, 0, -load))
    strip.add_force(lambda x, v, t: forces)
    return scene


@pytest.mark.slow
def test_a_snap_is_found_where_load_steps_on_the_way_fail():
    """Under the full load it snaps at once, and leaves its symmetric shape slowly at three quarters of it: no
    equilibrium is found there. Shallow arches, as a series of sines: it leaves symmetry at 0.99 N, and symmetric ones
    snap at 1.29 N.
    """
    found = pl.equilibrium(curved_arch(10, 1.5434))
    assert not found.report.converged
    assert "limit point at the load factor" in found.report.reason
    assert 0.95 < 1.5434 * found.report.load_factor < 1.3
    assert np.linalg.norm(found.displacements, axis=1).max() < 0.02


def test_shapes_that_a_symmetry_keeps_are_told(caplog):
    for load, count in ((0.6, 0), (1.1575, 1)):
        found = pl.equilibrium(curved_arch(20, load))
        assert found.report.converged
        assert found.stable == (count == 0)
        assert caplog.text.count("the forces balance, but the shape is not stable") == count
