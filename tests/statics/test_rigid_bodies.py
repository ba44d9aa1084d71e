"""Static shapes with rigid bodies, joints and springs that do not stretch: what is infinitely stiff is, and poses are
those of the equilibrium.
"""

import numpy as np
import pytest

import pliant as pl

G = 9.81
RUBBER = pl.StableNeoHookean.from_young(1e6, 0.3)


def test_a_box_on_a_ball_joint_hangs_below_it():
    """Its centre of mass comes to rest straight below the joint, which is off its axis, and as far away as it was."""
    scene = pl.Scene()
    box = scene.add_rigid(pl.Box((0.1, 0.1, 0.4)))
    joint = np.array([0.05, 0.0, 0.2])
    scene.add_joint("ball", box, None, point=joint)
    found = pl.equilibrium(scene)
    assert found.report.converged
    assert found.stable
    assert box.position == pytest.approx(joint - [0, 0, np.hypot(0.05, 0.2)], abs=2e-6)
    assert box.velocity == pytest.approx([0, 0, 0])


def test_ropes_that_do_not_stretch_keep_their_length():
    """Hung by one end. The lowest link would be a metre longer with the stiffness of a step of a second."""
    scene = pl.Scene()
    points, edges = pl.shapes.chain(length=1.0, segments=4)
    rope = scene.add_springs(points, edges, stiffness=np.inf, mass=0.1)
    rope.pin([0])
    found = pl.equilibrium(scene)
    assert found.report.converged
    x = rope.positions
    assert np.linalg.norm(x[1:] - x[:-1], axis=1) == pytest.approx(0.25, abs=1e-5)
    assert x[-1] == pytest.approx(points[0] - [0, 0, 1], abs=2e-5)


@pytest.mark.parametrize("stiffness", [20.0, 50.0])
def test_a_hinge_with_a_spring_turns_until_moments_balance(stiffness):
    """M g l cos(q) = c q of a box that sticks out sideways; a damper changes nothing."""
    scene = pl.Scene()
    box = scene.add_rigid(pl.Box((0.4, 0.1, 0.1)), position=(0.2, 0, 0))
    scene.add_joint("hinge", box, None, point=(0, 0, 0), axis=(0, 1, 0), spring=stiffness, rest=0.0, damping=5.0)
    found = pl.equilibrium(scene)
    assert found.report.converged
    q = np.arctan2(-box.position[2], box.position[0])
    assert box.mass * G * 0.2 * np.cos(q) == pytest.approx(stiffness * q, rel=1e-4)


def test_a_sheet_that_can_only_turn_is_not_refused():
    """Held at one edge, while the other is prescribed along x alone: to first order it may go up and down there."""
    scene, mesh = pl.Scene(), pl.shapes.cloth((1, 1), (6, 6))
    sheet = scene.add_cloth(mesh, pl.StableNeoHookean.from_young(1e4, 0.3), bending=1e-2)
    left, right = mesh.points[:, 0] < -0.49, mesh.points[:, 0] > 0.49
    sheet.pin(left)
    end = mesh.points[right] - [0.05, 0, 0]
    sheet.move(right, lambda t: end, components="x")
    found = pl.equilibrium(scene)
    assert found.report.converged
    assert found.reaction_force(sheet)[2] == pytest.approx(sheet.masses.sum() * G, rel=1e-6)
    assert found.reaction_force(sheet, right)[2] == pytest.approx(0, abs=1e-9)


def test_a_motor_holds_its_target_with_the_moment_of_the_weight():
    """A box that sticks out from a hinge; its motor would go to 0.5 rad at 2 rad/s, and is there."""
    scene = pl.Scene()
    box = scene.add_rigid(pl.Box((0.4, 0.1, 0.1)), position=(0.2, 0, 0))
    scene.add_joint("hinge", box, None, point=(0, 0, 0), axis=(0, 1, 0), motor=pl.Motor(angle=0.5, speed=2.0))
    found = pl.equilibrium(scene)
    assert found.report.converged
    assert np.arctan2(-box.position[2], box.position[0]) == pytest.approx(0.5, abs=1e-4)


def test_motors_of_a_speed_have_no_static_position():
    scene = pl.Scene()
    box = scene.add_rigid(pl.Box((0.4, 0.1, 0.1)))
    scene.add_joint("hinge", box, None, point=(0.2, 0, 0), axis=(0, 1, 0), motor=pl.Motor(speed=1.0, max_torque=5.0))
    with pytest.raises(pl.SceneError, match="a motor that turns at a speed has no static position; give it a target"):
        pl.equilibrium(scene)
