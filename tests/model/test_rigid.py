"""Rigid bodies as their user has them: shapes with exact mass, poses, holds, forces, and what is refused."""

import numpy as np
import pytest

import pliant as pl
from pliant.geometry import rotations

BALL = pl.shapes.ball(0.5, cells=2)
SURFACE = BALL.surface()


def inertia_of(shape: object) -> tuple[float, np.ndarray]:
    body = pl.Scene().add_rigid(shape, density=2.0)
    return body.mass, body.inertia


def test_mass_and_inertia_of_primitives_are_those_of_the_books() -> None:
    m, inertia = inertia_of(pl.Sphere(0.3))
    assert m == pytest.approx(2 * 4 / 3 * np.pi * 0.027, rel=1e-14)
    np.testing.assert_allclose(inertia, 2 / 5 * m * 0.09 * np.eye(3), rtol=1e-13)
    m, inertia = inertia_of(pl.Box((0.2, 0.3, 0.4)))
    np.testing.assert_allclose(inertia, np.diag([0.25, 0.20, 0.13]) * m / 12, rtol=1e-13)
    m, inertia = inertia_of(pl.Cylinder(0.2, 0.5))
    across = m * (3 * 0.04 + 0.25) / 12
    assert m == pytest.approx(2 * np.pi * 0.04 * 0.5, rel=1e-14)
    np.testing.assert_allclose(inertia, np.diag([across, across, m * 0.02]), rtol=1e-13)
    # a capsule: cylinder and two half balls, whose centres are 3/8 r beyond its ends
    r, length = 0.2, 0.5
    m, inertia = inertia_of(pl.Capsule(r, length))
    middle, half = 2 * np.pi * r**2 * length, 2 * 2 / 3 * np.pi * r**3
    about_own = (2 / 5 - 9 / 64) * half * r**2
    across = middle * (3 * r**2 + length**2) / 12 + 2 * (about_own + half * (length / 2 + 3 / 8 * r) ** 2)
    assert m == pytest.approx(middle + 2 * half, rel=1e-14)
    along = middle * r**2 / 2 + 2 * half * r**2 * 2 / 5
    np.testing.assert_allclose(inertia, np.diag([across, across, along]), rtol=1e-13)


def test_a_shifted_mesh_has_the_mass_centre_and_inertia_of_its_tets() -> None:
    """The surface's exact sums against sums over tets of the same ball, turned and shifted; density as given."""
    turn = rotations.matrices(rotations.normalised(np.array([1.0, 0.3, -0.2, 0.5])))
    points = (BALL.points * (1, 2, 3)) @ turn.T + (3, -2, 1)
    mesh = pl.TetMesh(points, BALL.tets)
    corners = points[mesh.tets]
    volume = mesh.volumes
    centre = (volume[:, None] * corners.mean(axis=1)).sum(axis=0) / volume.sum()
    r = corners - centre
    J = np.einsum("m,mia,mib->ab", volume / 20, r, r)
    total = r.sum(axis=1)
    J += np.einsum("m,ma,mb->ab", volume / 20, total, total)
    for shape in (mesh, mesh.surface()):
        m, inertia = inertia_of(shape)
        assert m == pytest.approx(2 * volume.sum(), rel=1e-13)
        np.testing.assert_allclose(inertia, 2 * (np.trace(J) * np.eye(3) - J), rtol=1e-11, atol=1e-12)


def test_how_a_body_starts() -> None:
    scene = pl.Scene()
    turn = rotations.from_vectors(np.array([0.0, 0.0, np.pi / 2]))
    body = scene.add_rigid(
        pl.Box((1, 2, 3)), 500.0, (1, 2, 3), turn, velocity=(1, 0, 0), angular_velocity=(0, 0, 2), friction=0.7
    )
    assert body.name == "rigid0"
    assert body.friction == 0.7
    np.testing.assert_allclose(body.position, (1, 2, 3))
    np.testing.assert_allclose(body.orientation, turn)
    np.testing.assert_allclose(np.ptp(body.positions, axis=0), (2, 1, 3), atol=1e-12)
    assert body.kinetic_energy == pytest.approx(0.5 * 3000 * 1 + 0.5 * 3000 * 5 / 12 * 4, rel=1e-12)
    np.testing.assert_array_equal(body.contact_force, 0)


def test_what_is_refused() -> None:
    scene = pl.Scene()
    for shape, match in (
        (3.0, "the shape is 3.0; give pl.Sphere"),
        (pl.TriMesh(SURFACE.points, SURFACE.triangles[1:]), "not closed: the edge from vertex"),
        (pl.TriMesh(SURFACE.points, SURFACE.triangles[:, ::-1]), "encloses -.*face inwards"),
    ):
        with pytest.raises(pl.SceneError, match=match):
            scene.add_rigid(shape)
    for options, match in (
        ({"density": 0.0}, "density is 0.0: it must be positive"),
        ({"density": -1.0}, "density is -1.0: it must be positive"),
        ({"orientation": (0, 0, 0, 0)}, "orientation is .*not zero"),
        ({"orientation": (1, 0, 0)}, "orientation is .*quaternion"),
        ({"restitution": 1.5}, "restitution is 1.5: give a number from 0 to 1"),
        ({"velocity": (np.nan, 0, 0)}, "velocity: entry 0 is"),
    ):
        with pytest.raises(pl.SceneError, match=match):
            scene.add_rigid(pl.Sphere(0.1), **options)
    for make, match in (
        (lambda: pl.Sphere(-1.0), "Sphere: radius is -1.0"),
        (lambda: pl.Box((1, 0, 1)), r"Box: size is \[1.0, 0.0, 1.0\]"),
        (lambda: pl.Capsule(0.1, 0.0), "Capsule: length is 0.0"),
    ):
        with pytest.raises(pl.SceneError, match=match):
            make()
    body = scene.add_rigid(pl.Sphere(0.1))
    body.pin()
    with pytest.raises(pl.SceneError, match="already pinned or moved"):
        body.move(pl.motions.Slide.rigid(velocity=(1, 0, 0)))
    with pytest.raises(pl.SceneError, match="moves as a whole"):
        scene.add_rigid(pl.Sphere(0.1)).move([1], None)


def test_a_quaternion_of_another_length_is_normalised_with_a_note(caplog) -> None:
    with caplog.at_level("INFO", logger="pliant"):
        body = pl.Scene().add_rigid(pl.Sphere(0.1), orientation=(2, 0, 0, 0), name="ball")
    np.testing.assert_array_equal(body.orientation, (1, 0, 0, 0))
    assert "ball: orientation has the length 2" in caplog.text


def test_force_and_torque_turn_a_body_about_a_principal_axis() -> None:
    """Constant force and torque on a box: v = f t / m, w = torque t / I, exactly; and a led body follows its motion."""
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_rigid(pl.Box((0.2, 0.3, 0.4)), 800.0)
    body.add_force(lambda x, v, t: [(3.0, 0, 0), (0, 0, 0.5)])
    led = scene.add_rigid(pl.Box((0.2, 0.3, 0.4)), position=(0, 5, 0))
    led.move(pl.motions.Turn.rigid(axis=(0, 0, 1), centre=(0, 0, 0), turns=0.25, seconds=1.0, smooth=False))
    sim = pl.Simulation(scene, pl.VBD(iterations=10), precision="double", frame_rate=50, substeps=2)
    for _ in range(50):
        sim.advance()
    np.testing.assert_allclose(body.velocity, (3 / 19.2, 0, 0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(body.angular_velocity, (0, 0, 0.5 / (19.2 * 0.13 / 12)), rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(led.position, (-5, 0, 0), atol=1e-12)
    np.testing.assert_allclose(led.orientation, (np.sqrt(0.5), 0, 0, np.sqrt(0.5)), atol=1e-12)
    np.testing.assert_allclose(led.angular_velocity, (0, 0, np.pi / 2), rtol=1e-3, atol=1e-9)


def test_a_rigid_body_is_not_pinned_in_part() -> None:
    body = pl.Scene().add_rigid(pl.Sphere(0.1), name="ball")
    with pytest.raises(pl.SceneError, match=r"ball\.pin: components is 'z'; a rigid body is held as a whole"):
        body.pin(components="z")
    assert not body.is_held
