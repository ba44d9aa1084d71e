"""Rigid bodies among grains, in the grains' own schemes: numbers from mechanics."""

import numpy as np
import pytest

import pliant as pl

G, R = 9.81, 0.01
SIZE = (0.2, 0.1, 0.06)
SCHEMES = {
    "VTS": pl.VelocityTimeStepping(),
    "VTS-GaussSeidel": pl.VelocityTimeStepping(pl.GaussSeidel()),
    "SP": pl.SequentialPositions(),
}
DIRECTIONS = {
    "VTS-ConjugateResiduals": pl.VelocityTimeStepping(pl.ConjugateResiduals()),
    "SP-MinimumResidual": pl.SequentialPositions(pl.MinimumResidual(alpha="residual")),
}
every_scheme = pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
every_relaxation = pytest.mark.parametrize("scheme", (SCHEMES | DIRECTIONS).values(), ids=SCHEMES | DIRECTIONS)


def scene_with_box(gravity=(0, 0, 0), position=(0, 0, 0.03), friction=0.0, **options):
    scene = pl.Scene(gravity=gravity)
    scene.contact = pl.Contact(friction=friction)
    return scene, scene.add_rigid(pl.Box(SIZE), density=500, position=position, **options)


def run(scene, scheme, seconds):
    sim = pl.Simulation(scene, scheme, frame_rate=60, substeps=5, precision="double")
    for _ in range(round(300 * seconds)):
        sim.step()
    return sim


@every_relaxation
def test_a_sphere_strikes_off_centre(scheme):
    """j (1/m + 1/M + a^2 / I) = u: it gives its velocity along the normal to all six numbers of the body."""
    scene, box = scene_with_box()
    a, u = 0.07, 2.0
    scene.add_particles([[a, -0.02, 0.06 + R]], radius=R).set_velocities((0, 0, -u))
    run(scene, scheme, 1 / 300)
    m, M = 2500 * 4 / 3 * np.pi * R**3, box.mass
    j = u / (1 / m + 1 / M + a**2 / box.inertia[1, 1] + 0.02**2 / box.inertia[0, 0])
    np.testing.assert_allclose(box.velocity, (0, 0, -j / M), atol=1e-6)
    expected = (0.02 * j / box.inertia[0, 0], a * j / box.inertia[1, 1], 0)
    np.testing.assert_allclose(box.angular_velocity, expected, atol=1e-5)


def test_the_operator_is_the_matrix_and_pushes_keep_momentum(pose_of):
    """A with rows on a body, assembled and as compiled; impulses change no momentum, linear or angular."""
    scene, box = scene_with_box(friction=0.5, angular_velocity=(0.1, 0.2, 0.05))
    random = np.random.default_rng(1)
    places = np.meshgrid([-0.075, -0.02, 0.025, 0.08], [-0.03, 0, 0.03], [0.06 + R], indexing="ij")
    on_top = np.stack(places, axis=-1).reshape(-1, 3)
    scene.add_particles(on_top, radius=R, spin=True).set_velocities(0.1 * random.normal(size=(12, 3)))
    problem, model, x = pose_of(scene, pl.VelocityTimeStepping(pl.Jacobi(), warm_start=0.0))
    carried = problem.rows.carrier[: problem.count]
    assert (carried[:, 1] == 0).sum() >= 12
    vector = random.normal(size=(problem.count, 3))
    A = problem.matrix()
    np.testing.assert_allclose(problem.apply(vector).ravel(), A @ vector.ravel(), rtol=1e-12, atol=1e-9)
    before = problem.residuals()
    start = [
        array.copy() for array in (problem.bodies.velocity[:, :3], problem.bodies.spin, problem.bodies.rigid.twist)
    ]
    pl.Jacobi().iterate(problem, 1)
    change = problem.rows.impulse[: problem.count]
    assert np.abs(change).max() > 1e-5
    np.testing.assert_allclose((problem.residuals() - before).ravel(), A @ change.ravel(), atol=1e-10)
    after = (problem.bodies.velocity[:, :3], problem.bodies.spin, problem.bodies.rigid.twist)
    v, spin, twist = (b - a for a, b in zip(start, after, strict=True))
    own = model.particles.vertices
    m = model.mass[own][0]
    push = box.mass * twist[0, :3]
    np.testing.assert_allclose(m * v[own].sum(axis=0) + push, 0, atol=1e-12)
    turn = np.linalg.solve(problem.bodies.rigid.inverse_inertia[0], twist[0, 3:])
    inner = 0.4 * m * R * spin[own].sum(axis=0)
    total = m * np.cross(x[own], v[own]).sum(axis=0) + inner + np.cross(box.position, push) + turn
    np.testing.assert_allclose(total, 0, atol=1e-12)


@pytest.fixture
def pose_of():
    """A function: the next step of a scene as a ConstraintProblem, its model, and where it starts."""
    from pliant.solvers import Execution

    def make(scene, solver):
        simulation = pl.Simulation(scene, solver, precision="double", threads=1)
        step = simulation.problem()
        work = solver.init(step, Execution("double", 1))
        solver.begin_step(step, work)
        return work.posed, simulation.model, step.x_prev

    return make


@pytest.mark.slow
@every_scheme
def test_a_box_lies_still_and_presses_with_its_weight(scheme):
    scene, box = scene_with_box((0, 0, -G), friction=0.5)
    scene.add_plane((0, 0, 0), (0, 0, 1))
    sim = run(scene, scheme, 0.5)
    np.testing.assert_allclose(box.position, (0, 0, 0.03), atol=1e-4)
    np.testing.assert_allclose(sim.contacts.force_on_obstacle(0), (0, 0, -box.mass * G), rtol=1e-3, atol=1e-3)


@pytest.mark.slow
def test_a_box_sticks_and_slides_on_an_incline():
    """At rest below atan(mu), g (sin - mu cos) above it."""
    mu = 0.3
    for angle, expected in ((0.98 * np.arctan(mu), 0.0), (np.radians(30), G * (0.5 - mu * np.sqrt(0.75)) * 0.3)):
        scene, box = scene_with_box((G * np.sin(angle), 0, -G * np.cos(angle)))
        scene.add_plane((0, 0, 0), (0, 0, 1), friction=mu)
        box.friction = mu
        run(scene, pl.VelocityTimeStepping(pl.GaussSeidel(), iterations=40), 0.3)
        assert box.velocity[0] == pytest.approx(expected, rel=0.02, abs=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [pl.Sphere(0.05), pl.Capsule(0.05, 0.1)], ids=["sphere", "capsule"])
def test_round_bodies_roll_without_slip(shape):
    """a = g sin / (1 + I / (m r^2)): friction acts where the surface touches."""
    angle, r = np.radians(20), 0.05
    scene = pl.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    turned = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)  # its axis along y
    ball = scene.add_rigid(shape, position=(0, 0, r), orientation=turned)
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.6)
    run(scene, pl.VelocityTimeStepping(pl.GaussSeidel()), 0.3)
    expected = G * np.sin(angle) * 0.3 / (1 + ball.inertia[2, 2] / (ball.mass * r**2))
    assert ball.velocity[0] == pytest.approx(expected, rel=2e-3)
    assert ball.angular_velocity[1] * r == pytest.approx(ball.velocity[0], rel=2e-3)


@pytest.mark.slow
def test_boxes_stack():
    """Three convex bodies on each other: each lies where the one below ends, and the floor carries all."""
    scene = pl.Scene(gravity=(0, 0, -G))
    scene.contact = pl.Contact(friction=0.5)
    boxes = [scene.add_rigid(pl.Box((0.1, 0.1, 0.06)), position=(0.01 * k, 0, 0.03 + 0.06 * k)) for k in range(3)]
    scene.add_plane((0, 0, 0), (0, 0, 1))
    sim = run(scene, pl.VelocityTimeStepping(iterations=30), 0.5)
    for k, box in enumerate(boxes):
        np.testing.assert_allclose(box.position, (0.01 * k, 0, 0.03 + 0.06 * k), atol=3e-4)
    weight = sum(box.mass for box in boxes) * G
    assert sim.contacts.force_on_obstacle(0)[2] == pytest.approx(-weight, rel=0.01)


@pytest.mark.slow
@every_scheme
def test_grains_carry_a_plate(scheme):
    """A plate falls on a bed of spheres and lies on it; the floor carries the weight of all."""
    scene = pl.Scene(gravity=(0, 0, -G))
    scene.contact = pl.Contact(friction=0.4)
    k = np.arange(-4, 5) * 2.05 * R
    bed = np.stack(np.meshgrid(k, k, [R], indexing="ij"), axis=-1).reshape(-1, 3)
    grains = scene.add_particles(bed, radius=R)
    plate = scene.add_rigid(pl.Box((0.15, 0.15, 0.02)), density=1000, position=(0, 0, 2 * R + 0.015))
    scene.add_plane((0, 0, 0), (0, 0, 1))
    sim = run(scene, scheme, 0.5)
    assert plate.position[2] == pytest.approx(2 * R + 0.01, abs=5e-4)
    assert np.abs(plate.velocity).max() < 0.01
    weight = (plate.mass + 2500 * 4 / 3 * np.pi * R**3 * grains.n_vertices) * G
    assert sim.contacts.force_on_obstacle(0)[2] == pytest.approx(-weight, rel=0.02)


def among_grains():
    scene = pl.Scene(gravity=(0, 0, -G))
    points = pl.shapes.packed_spheres((0.12, 0.12, 0.06), radius=R, spacing=1.05, jitter=0.5) + np.array([0, 0, 0.03])
    scene.add_particles(points, radius=R, friction=0.4, spin=True)
    scene.add_rigid(pl.Box((0.05, 0.04, 0.03)), position=(0, 0, 0.12), angular_velocity=(3, 0, 1))
    scene.add_rigid(pl.Sphere(0.02), position=(0.035, 0.03, 0.12))
    scene.add_container((0, 0, 0.5), (0.14, 0.14, 1.0))
    return scene


@pytest.mark.slow
def test_same_bits_on_threads_and_after_a_checkpoint(tmp_path):
    runs = []
    for threads in (1, 3):
        sim = pl.Simulation(among_grains(), pl.VelocityTimeStepping(), threads=threads)
        sim._work.team.run_for = lambda _, function, *arguments, team=sim._work.team: team.run(function, *arguments)
        for _ in range(30):
            sim.step()
        runs.append(sim)
    assert np.array_equal(runs[0].state.poses, runs[1].state.poses)
    assert np.array_equal(runs[0].positions, runs[1].positions)
    runs[0].save(tmp_path / "run.npz")
    resumed = pl.Simulation.resume(tmp_path / "run.npz")
    for _ in range(10):
        runs[0].step()
        resumed.step()
    assert np.array_equal(runs[0].state.poses, resumed.state.poses)
    assert np.array_equal(runs[0].positions, resumed.positions)


def test_what_is_refused():
    scene, _ = scene_with_box(restitution=0.5)
    with pytest.raises(pl.SolverError, match=r"has restitution 0.5, but contacts of this solver do not bounce"):
        pl.Simulation(scene, pl.VelocityTimeStepping())
