"""Contact and friction in XPBD and GPBD: the depth, the slope and the stop that mechanics says."""

import numpy as np
import pytest

import pliant as pl

G = 9.81
SOLVERS = {
    "XPBD": pl.XPBD(10),
    "XPBD-jacobi": pl.XPBD(100, "jacobi"),
    "GPBD": pl.GPBD(10),
    "GPBD-jacobi": pl.GPBD(100, "jacobi"),
}
every_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
both = pytest.mark.parametrize("solver", [pl.XPBD(20), pl.GPBD(20)], ids=["XPBD", "GPBD"])


def cube(scene: pl.Scene, centre, cells: int = 2, young: float = 1e6, density: float = 1000.0):
    mesh = pl.shapes.box(size=(0.1,) * 3, cells=(cells,) * 3).transformed(translation=centre)
    return scene.add_solid(mesh, pl.StableNeoHookean.from_young(young, 0.3), density=density)


def resting(solver, detect_every=None) -> tuple[float, float]:
    """What the ground supports of a cube of 1 kg after a second [N], and how fast the cube still is [m/s]."""
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=2e4, damping=0.02, detect_every=detect_every)
    body = cube(scene, (0, 0, 0.05))
    scene.add_plane((0, 0, 0), (0, 0, 1))
    sim = pl.Simulation(scene, solver, frame_rate=60, substeps=20, precision="double")
    for _ in range(60):
        sim.advance()
    low = body.positions[np.abs(body.mesh.points[:, 2]) < 1e-9][:, 2]
    return float(np.sum(-low * 2e4)), float(np.abs(sim.velocities).max())


@every_solver
def test_a_cube_at_rest_sinks_in_by_its_weight_over_the_stiffness(solver) -> None:
    carried, speed = resting(solver)
    assert carried == pytest.approx(G, rel=1e-9)
    assert speed < 1e-9


@pytest.mark.slow
@both
def test_contacts_detected_anew_within_a_step_keep_their_force(solver) -> None:
    carried, speed = resting(solver, detect_every=3)
    assert carried == pytest.approx(G, rel=1e-9)
    assert speed < 1e-9


@both
@pytest.mark.parametrize("share", [0.9, 1.1])
def test_a_block_on_an_incline(solver, share: float) -> None:
    """Friction above tan(theta): it stays where it is, to rounding. Below: it slides with g (sin - mu cos)."""
    theta = np.radians(20)
    mu = share * np.tan(theta)
    scene = pl.Scene(gravity=(G * np.sin(theta), 0, -G * np.cos(theta)))
    scene.contact = pl.Contact(stiffness=1e5, damping=0.01)
    cube(scene, (0, 0, 0.05), cells=1, young=1e7)
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=mu)
    sim = pl.Simulation(scene, solver, frame_rate=100, substeps=20, precision="double")
    for _ in range(20):
        sim.advance()
    before, x, time = sim.velocities[:, 0].mean(), sim.positions, sim.time
    for _ in range(10):
        sim.advance()
    if share > 1:
        np.testing.assert_allclose(sim.positions, x, rtol=0, atol=1e-9)
    else:
        expected = G * (np.sin(theta) - mu * np.cos(theta))
        assert (sim.velocities[:, 0].mean() - before) / (sim.time - time) == pytest.approx(expected, rel=1e-3)


@pytest.mark.slow
@both
def test_a_sliding_block_stops_after_v2_over_2_mu_g(solver) -> None:
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=1e5, damping=0.01)
    body = cube(scene, (0, 0, 0.05 - G / 4e5), cells=1, young=1e7)
    body.set_velocities((1.0, 0, 0))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.4)
    sim = pl.Simulation(scene, solver, frame_rate=100, substeps=20, precision="double")
    for _ in range(40):
        sim.advance()
    assert sim.positions[:, 0].mean() == pytest.approx(1 / (2 * 0.4 * G), rel=5e-3)
    assert np.abs(sim.velocities).max() < 1e-6


@every_solver
def test_an_impact_of_two_bodies_keeps_momentum(solver) -> None:
    """With friction, converged or not: the weights of a contact sum to zero."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact(stiffness=1e5, friction=0.4)
    one, other = cube(scene, (0, 0, 0)), cube(scene, (0.105, 0.013, 0.007), density=500.0)
    one.set_velocities((1.0, 0.2, 0.0))
    sim = pl.Simulation(scene, solver, frame_rate=1000, substeps=1, precision="double")
    mass = sim.model.mass[:, None]
    momentum = (mass * sim.velocities).sum(axis=0)
    touched = 0.0
    for _ in range(50):
        sim.step()
        touched = max(touched, sim.energies()["contact"])
        np.testing.assert_allclose((mass * sim.velocities).sum(axis=0), momentum, atol=1e-12)
    assert touched > 1e-4  # they did hit
    assert other.positions[:, 0].mean() > 0.105


def pressed_sheets(h: float) -> pl.Simulation:
    """A sheet that falls across another, held one: contacts of vertices with triangles and of edges with edges."""
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=200.0, friction=0.0, thickness=0.02)
    law = pl.StVenantKirchhoff.from_young(100.0, 0.3)
    lower = scene.add_cloth(pl.shapes.cloth((0.4, 0.4), (3, 3)), law, density=0.3, bending=0.0)
    lower.pin([0, 3, 12, 15])
    mesh = pl.shapes.cloth((0.4, 0.4), (3, 3)).transformed(translation=(0.03, 0.05, 0.019))
    scene.add_cloth(mesh, law, density=0.3, bending=0.0).set_velocities((0, 0, -0.5))
    return pl.Simulation(scene, pl.Newton(), frame_rate=1 / h, substeps=1, precision="double")


@both
def test_a_converged_step_in_contact_nears_implicit_euler_with_the_fourth_power_of_h(solver) -> None:
    """Half the step, a sixteenth of the distance, within an eighth."""
    distances = []
    for h in (1e-3, 5e-4):
        problem = pressed_sheets(h).problem()
        kinds = (problem.contacts.contacts.vertices >= 0).all(axis=1)
        assert kinds.sum() > 10
        exact = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=40, residual=1e-9)).x
        x = pl.solve(problem, solver, stop=pl.Stop(iterations=2000), measure_every=2000).x
        distances.append(np.abs(x - exact).max())
    assert distances[1] < 1e-3 * np.abs(exact - problem.y).max()
    assert distances[0] / distances[1] == pytest.approx(16, rel=0.125)


@pytest.mark.slow
@every_solver
def test_threads_do_not_change_the_bits_of_a_pile(solver) -> None:
    results = []
    for threads in (1, 2):
        scene = pl.Scene()
        scene.contact = pl.Contact(stiffness=1e4, detect_every=4)
        for k in range(3):
            cube(scene, (0.03 * (k % 2), 0.02 * k, 0.05 + 0.101 * k), young=1e5)
        scene.add_plane((0, 0, 0), (0, 0, 1))
        sim = pl.Simulation(scene, solver, frame_rate=500, substeps=1, threads=threads)
        for _ in range(30):
            sim.step()
        assert sim.n_contacts > 20
        results.append(sim.positions)
    np.testing.assert_array_equal(results[0], results[1])
