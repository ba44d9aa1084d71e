"""Static shapes of what slides and folds a long way in contact, and of what finds no rest."""

import numpy as np
import pytest

import pliant as pl

RADIUS = 0.2


def sheet_above_ball(
    cells: int, friction: float, x: float = 0.0, is_body: bool = False
) -> tuple[pl.Scene, pl.Body, pl.Sphere | pl.Body]:
    """A flat sheet of 0.6 m, 2 cm above a ball, its middle at x [m] from the ball's; is_body: a pinned rigid one."""
    scene = pl.Scene()
    mesh = pl.shapes.cloth((0.6, 0.6), (cells, cells)).transformed(translation=(x, 0, RADIUS + 0.02))
    sheet = scene.add_cloth(mesh, pl.StableNeoHookean(2000.0, 2000.0), name="sheet")
    if is_body:
        ball = scene.add_rigid(pl.Sphere(RADIUS), name="ball")
        ball.pin()
    else:
        ball = scene.add_sphere((0, 0, 0), RADIUS, friction=friction)
    scene.contact = pl.Contact(friction=friction)
    return scene, sheet, ball


@pytest.mark.slow
@pytest.mark.parametrize(("cells", "is_body"), [(20, False), (40, False), (20, True)])
def test_a_sheet_drapes_over_a_ball(cells, is_body):
    """The ball carries its weight, no vertex is inside the ball, corners hang below its middle, at most as far as cloth
    that does not stretch could: a quarter of a turn on the ball and then straight down. Nothing holds it but friction.
    """
    scene, sheet, ball = sheet_above_ball(cells, 0.4, is_body=is_body)
    found = pl.equilibrium(scene)
    assert found.report.converged
    assert found.report.load_factors == [1.0]
    assert found.report.residual <= 1e-6
    weight = sheet.masses.sum() * 9.81
    assert ball.contact_force == pytest.approx([0, 0, -weight], abs=1e-4 * weight)
    assert found.contacts.penetrations.max() < 1e-4
    x = found.positions_of(sheet)
    assert np.linalg.norm(x, axis=1).min() > RADIUS
    corners = (np.abs(sheet.mesh.points[:, :2]) > 0.3 - 1e-9).all(axis=1)
    assert corners.sum() == 4
    lowest = -(0.3 * np.sqrt(2) - 0.5 * np.pi * RADIUS)
    assert lowest - 0.02 < x[corners, 2].min() < 0.0
    assert found.stable


@pytest.mark.slow
def test_a_sheet_slides_off_a_ball_without_friction():
    scene, *_ = sheet_above_ball(10, 0.0, x=0.1)
    report = pl.equilibrium(scene).report
    assert not report.converged
    assert "sheet slides or falls away" in report.reason
    assert "limit point" not in report.reason


@pytest.mark.parametrize(("friction", "holds"), [pytest.param(0.05, False, marks=pytest.mark.slow), (1.0, True)])
def test_a_rope_over_a_cylinder_holds_as_the_capstan_has_it(friction, holds):
    """Its ends hang 0.39 m and 0.29 m down: it holds if exp(friction pi) is beyond their ratio of 1.32."""
    scene, n = pl.Scene(), 20
    x = np.linspace(-0.45, 0.55, n + 1)
    points = np.stack([x, np.zeros(n + 1), np.full(n + 1, 0.12)], axis=1)
    edges = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1)
    rope = scene.add_springs(points, edges, stiffness=2e3, mass=0.005, name="rope")
    rope.friction = friction
    pulley = scene.add_cylinder((0, -0.3, 0), (0, 0.3, 0), 0.1, friction=friction)
    scene.contact = pl.Contact()
    found = pl.equilibrium(scene)
    assert found.report.converged == holds
    assert "limit point" not in found.report.reason
    if holds:
        assert pulley.contact_force == pytest.approx([0, 0, -(n + 1) * 0.005 * 9.81], abs=1e-4)
    else:
        assert "rope slides or falls away" in found.report.reason
