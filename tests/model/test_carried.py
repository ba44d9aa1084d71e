"""Points that rigid bodies carry: their Jacobian, and forces that arrive at a body's six numbers."""

import numpy as np
import pytest

import pliant as pl
from pliant.energies.unknowns import Unknowns
from pliant.geometry import rotations
from pliant.geometry.mass_properties import mass_properties
from pliant.kernels.rigid_motion import place_points, spread_twists, write_twists
from pliant.model.carried import CarriedPoints, mass_points, weights_of
from pliant.model.rigid import RigidBody

RNG = np.random.default_rng(3)
CUBE = pl.shapes.box((0.2, 0.3, 0.4), cells=(1, 1, 1))


def box_surface() -> pl.TriMesh:
    return pl.TriMesh(CUBE.points, CUBE.surface_triangles)


def carried() -> CarriedPoints:
    """Two bodies of five and seven points at random poses."""
    poses = np.column_stack([RNG.normal(size=(2, 3)), rotations.normalised(RNG.normal(size=(2, 4)))])
    return CarriedPoints(
        np.array([3, 1, 4, 0, 9, 2, 6, 5, 11, 8, 7, 10]), np.array([0, 5, 12]), RNG.normal(size=(12, 3)), poses
    )


def test_rotation_vectors_turn_there_and_back() -> None:
    vectors = RNG.normal(size=(50, 3)) * 10.0 ** -RNG.uniform(0, 9, size=(50, 1))
    vectors *= np.minimum(1, 3.1 / np.linalg.norm(vectors, axis=1, keepdims=True))
    turns = rotations.from_vectors(vectors)
    np.testing.assert_allclose(np.linalg.norm(turns, axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(rotations.to_vectors(turns), vectors, rtol=1e-12, atol=1e-16)
    R = rotations.matrices(turns)
    np.testing.assert_allclose(R @ R.swapaxes(1, 2), np.broadcast_to(np.eye(3), R.shape), atol=1e-14)
    other = rotations.from_vectors(RNG.normal(size=(50, 3)))
    np.testing.assert_allclose(
        rotations.matrices(rotations.products(turns, other)), R @ rotations.matrices(other), atol=1e-14
    )


def test_jacobian_is_the_derivative_of_the_points() -> None:
    bodies, eps = carried(), 1e-6
    step = RNG.normal(size=(2, 6))
    there, back = (bodies.places(bodies.moved(bodies.poses, s * eps * step)) for s in (1, -1))
    np.testing.assert_allclose(bodies.spread(step, bodies.poses), (there - back) / (2 * eps), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(
        np.einsum("kai,ki->ka", bodies.jacobians(bodies.poses), step[bodies.body]), bodies.spread(step, bodies.poses)
    )


def test_gathering_forces_is_the_transpose_of_spreading_motion() -> None:
    bodies, forces, motion = carried(), RNG.normal(size=(12, 3)), RNG.normal(size=(2, 6))
    power = np.sum(forces[bodies.points] * bodies.spread(motion, bodies.poses))
    assert np.sum(bodies.gathered(forces, bodies.poses) * motion) == pytest.approx(power, rel=1e-13)


def test_curvature_is_the_second_derivative() -> None:
    bodies, forces, eps = carried(), RNG.normal(size=(12, 3)), 1e-4
    motion = np.concatenate([np.zeros((2, 3)), RNG.normal(size=(2, 3))], axis=1)

    def work(s: float) -> float:
        return float(np.sum(forces[bodies.points] * bodies.places(bodies.moved(bodies.poses, s * motion))))

    second = (work(eps) - 2 * work(0) + work(-eps)) / eps**2
    own = np.einsum("bi,bij,bj->", motion[:, 3:], bodies.curvatures(forces, bodies.poses), motion[:, 3:])
    assert own == pytest.approx(second, rel=1e-6)


def test_twists_lead_from_pose_to_pose() -> None:
    bodies, twists = carried(), RNG.normal(size=(2, 6))
    after = bodies.moved(bodies.poses, 0.1 * twists)
    for spins in (np.zeros((2, 3)), np.ascontiguousarray(twists[:, 3:])):
        found = np.empty((2, 6))
        write_twists(bodies.poses, after, spins, 0.1, found)
        np.testing.assert_allclose(found, twists, rtol=1e-12)


def test_kernels_place_and_spread_as_the_formulas_do() -> None:
    """Positions and velocities of the points of two bodies, to rounding."""
    bodies, twists = carried(), RNG.normal(size=(2, 6))
    poses = bodies.moved(bodies.poses, RNG.normal(size=(2, 6)))
    x, v = np.zeros((12, 3)), np.zeros((12, 3))
    place_points(bodies.rows, poses, x)
    spread_twists(bodies.rows, poses, twists, v)
    np.testing.assert_allclose(x[bodies.points], bodies.places(poses), atol=1e-14)
    np.testing.assert_allclose(v[bodies.points], bodies.spread(twists, poses), atol=1e-14)


def test_weights_of_mass_points_give_any_place_of_the_body() -> None:
    own, place = mass_points(3.0, np.diag([1.0, 2.0, 0.5])), RNG.normal(size=(5, 3))
    R = rotations.matrices(rotations.normalised(RNG.normal(size=4)))
    shift = RNG.normal(size=3)
    w = weights_of(own[None] @ R.T + shift, place @ R.T + shift)
    np.testing.assert_allclose(w.sum(axis=1), 1, rtol=1e-13)
    np.testing.assert_allclose(w @ own, place, rtol=1e-12, atol=1e-13)


def test_four_points_have_mass_centre_and_inertia_of_a_box() -> None:
    volume, centre, moments = mass_properties(CUBE.points, CUBE.surface_triangles)
    sizes = np.array([0.2, 0.3, 0.4])
    assert volume == pytest.approx(sizes.prod(), rel=1e-14)
    np.testing.assert_allclose(centre, 0, atol=1e-16)
    np.testing.assert_allclose(moments, np.diag(volume * sizes**2 / 12), rtol=1e-13, atol=1e-18)
    r = mass_points(5.0, moments)
    np.testing.assert_allclose(r.sum(axis=0), 0, atol=1e-16)
    np.testing.assert_allclose(5 / 4 * r.T @ r, moments, rtol=1e-13, atol=1e-18)


def test_second_moments_of_a_skewed_and_shifted_surface() -> None:
    """An affine image x -> A x + b of a box has |det A| A J A^T."""
    A, b = np.eye(3) + 0.3 * RNG.normal(size=(3, 3)), np.array([5.0, -3.0, 2.0])
    _, _, straight = mass_properties(CUBE.points, CUBE.surface_triangles)
    volume, centre, moments = mass_properties(CUBE.points @ A.T + b, CUBE.surface_triangles)
    assert volume == pytest.approx(0.024 * np.linalg.det(A), rel=1e-12)
    np.testing.assert_allclose(centre, b, rtol=1e-12)
    np.testing.assert_allclose(moments, np.linalg.det(A) * A @ straight @ A.T, rtol=1e-9, atol=1e-12)


def scene_with_a_box(friction: float = 0.0, **options) -> tuple[pl.Scene, RigidBody]:
    """A soft block with a rigid box on it, pressed into each other by 1 mm, and a vertex of it on a line, one in a
    plane.
    """
    scene = pl.Scene()
    soft = scene.add_solid(
        pl.shapes.box((0.5, 0.5, 0.2), cells=(3, 3, 1)), pl.StableNeoHookean.from_young(1e5, 0.3), 500.0
    )
    soft.pin(soft.positions[:, 2] < -0.099)
    soft.constrain_to_line([np.argmax(soft.positions @ [1, 1, 1])], (0, 0, 1))
    soft.constrain_to_plane([np.argmax(soft.positions @ [-1, 1, 1])], (0, 1, 0))
    body = RigidBody(
        "box", box_surface(), 800.0, position=(0.02, 0.01, 0.299), orientation=(1, 0.02, -0.01, 0.3), **options
    )
    scene.bodies.append(body)
    scene.contact = pl.Contact(stiffness=1e4, friction=friction)
    return scene, body


def test_unknowns_of_all_sizes_have_the_derivatives_of_the_potential() -> None:
    """dG/du and d2G/du2 by finite differences, of vertices on lines, in planes, free ones and a body in contact."""
    scene, _ = scene_with_a_box()
    problem = pl.Simulation(scene, pl.Newton(), precision="double").problem()
    x, poses = problem.x_guess.copy(), problem.poses.copy()
    problem.contacts.refresh(x)
    assert problem.contacts.count > 0
    space = Unknowns.at(problem, x, poses)
    hessian = space.hessian(problem.hessian(x), problem.gradient(x), np.arange(len(x)))
    n_free = int((problem.model.subspace == 3).sum())
    assert space.count == 3 * n_free + 1 + 2 + 6

    step, eps = RNG.normal(size=space.count), 1e-7

    def at(s: float) -> Unknowns:
        return Unknowns.at(problem, *space.moved(s * step))

    def slope_at(s: float) -> np.ndarray:
        return at(s).gradient(problem.gradient(at(s).x))

    slope = (problem.energy(at(eps).x) - problem.energy(at(-eps).x)) / (2 * eps)
    assert space.gradient(problem.gradient(x)) @ step == pytest.approx(slope, rel=1e-6)
    # the derivative of the gradient along a path: of the vertices' unknowns as they are, of a body's by its energy
    change = (slope_at(eps) - slope_at(-eps)) / (2 * eps)
    own = hessian @ step
    np.testing.assert_allclose(
        own[: space.vertices], change[: space.vertices], rtol=2e-5, atol=1e-4 * np.abs(own).max()
    )
    eps = 2e-4
    step = np.concatenate([np.zeros(space.vertices), step[-6:]])
    bend = (problem.energy(at(eps).x) - 2 * problem.energy(x) + problem.energy(at(-eps).x)) / eps**2
    assert step @ hessian @ step == pytest.approx(bend, rel=1e-3)


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_vertex_block_descent_reaches_newtons_minimiser_with_a_body(friction: float) -> None:
    """A rigid box pressed into a soft block, with vertices on a line and in a plane: positions to 1e-6 of its size."""
    scene, _ = scene_with_a_box(friction)
    problem = pl.Simulation(scene, pl.Newton(), precision="double").problem()
    exact = pl.solve(problem, pl.Newton(iterations=60), measure_every=60)
    report = pl.solve(problem, pl.VBD(iterations=400), measure_every=400)
    assert exact.residual < 1e-7
    moved = np.abs(exact.x - problem.x_guess).max()
    assert moved > 1e-4
    assert np.abs(report.x - exact.x).max() < 1e-6 * 0.5


def resting_box(threads: int = 1) -> tuple[pl.Simulation, RigidBody]:
    """A rigid box, 0.2 x 0.3 x 0.4 m, dropped by 1 mm onto a plane."""
    scene = pl.Scene()
    body = RigidBody("box", box_surface(), 800.0, position=(0.5, -0.2, 0.201))
    scene.bodies.append(body)
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.3)
    scene.contact = pl.Contact(stiffness=1e5, friction=0.3, damping=1e-3)
    return pl.Simulation(scene, pl.VBD(iterations=20), precision="double", threads=threads), body


def test_contact_forces_arrive_at_the_six_numbers_of_a_resting_body() -> None:
    """Weight upwards and no torque about its centre, from four corners that sink in by m g / (4 k) each."""
    sim, body = resting_box()
    for _ in range(300):
        report = sim.step()
    weight = body.mass * 9.81
    assert body.mass == pytest.approx(800 * 0.024, rel=1e-13)
    force = -sim.model.carried.gathered(sim._solved.contacts.gradient(sim.positions), sim.state.poses)[0]
    np.testing.assert_allclose(force, [0, 0, weight, 0, 0, 0], rtol=0, atol=1e-6 * weight)
    assert sim.state.poses[0, 2] == pytest.approx(0.2 - weight / 4e5, abs=1e-9)
    np.testing.assert_allclose(body.contact_force, [0, 0, weight], atol=1e-6 * weight)
    assert report.residual < 1e-6


def test_a_body_gives_the_same_bits_on_any_number_of_threads_and_after_resume(tmp_path) -> None:
    runs = []
    for threads in (1, 2, 3):
        sim, _ = resting_box(threads)
        for _ in range(8):
            sim.step()
        if threads == 3:
            sim.save(tmp_path / "box.npz")
            sim = pl.Simulation.resume(tmp_path / "box.npz", threads=1)
        for _ in range(8):
            sim.step()
        runs.append((sim.positions, sim.state.poses, sim.state.twists))
    for run in runs[1:]:
        for one, other in zip(run, runs[0], strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_free_body_keeps_its_momenta() -> None:
    """Tumbling without gravity: momentum and angular momentum to rounding, whatever the step."""
    scene = pl.Scene(gravity=(0, 0, 0))
    spin = {"velocity": (0.3, 0, -0.1), "angular_velocity": (1.0, 4.0, 0.5)}
    scene.bodies.append(RigidBody("box", box_surface(), 800.0, **spin))
    sim = pl.Simulation(scene, pl.VBD(iterations=10), substeps=1, precision="double")
    mass = sim.model.mass[:, None]
    start = np.cross(sim.positions, mass * sim.velocities).sum(axis=0)
    for _ in range(60):
        sim.step()
    np.testing.assert_allclose((mass * sim.velocities).sum(axis=0), [19.2 * 0.3, 0, -1.92], atol=1e-10)
    now = np.cross(sim.positions, mass * sim.velocities).sum(axis=0)
    np.testing.assert_allclose(now, start, rtol=1e-9, atol=1e-12)


def test_what_does_not_support_bodies_refuses_them() -> None:
    scene, _ = scene_with_a_box()
    with pytest.raises(pl.SolverError, match=r"XPBD does not support .*"):
        pl.Simulation(scene, pl.XPBD())
    with pytest.raises(pl.SolverError, match="line_search does not support rigid bodies"):
        pl.Simulation(scene, pl.VBD(line_search=True))
    with pytest.raises(pl.SceneError, match="encloses"):
        RigidBody("inside out", pl.TriMesh(CUBE.points, CUBE.surface_triangles[:, ::-1]), 800.0)
