"""GPBD by Jacobi on an OpenCL device: the iterations and answers of the CPU, and what mechanics says of them."""

import numpy as np
import pytest

import pliant as pl
from pliant.geometry.quality import tet_volumes
from pliant.materials import SOLID_LAWS
from pliant.solvers import Execution
from pliant.solvers.machinery.device_work import kernel_source

JACOBI = pl.GPBD(mode="jacobi")


def pinned_block(law=pl.StableNeoHookean, strain=0.1, h=0.01) -> pl.IncrementalPotential:
    """A deformed, moving block with corners pinned so that elements have one, two and three free corners."""
    mesh = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
    random = np.random.default_rng(2)
    scene = pl.Scene()
    body = scene.add_solid(mesh, law.from_young(1e5, 0.0 if law is pl.ARAP else 0.35), 1000.0)
    body.set_positions(mesh.points @ (np.eye(3) + strain * random.uniform(-1, 1, (3, 3))).T)
    body.set_velocities(random.normal(0, 0.2, mesh.points.shape))
    order = np.argsort(mesh.points[:, 0], kind="stable")
    body.pin(np.r_[order[:11], order[-2:]])
    return pl.Simulation(scene, pl.Newton(), frame_rate=1 / h, substeps=1, precision="double").problem()


def iterated(problem, solver, n, precision="double", device=None) -> tuple[np.ndarray, int]:
    """n iterations, one by one, and how many elements the last of them left."""
    work = solver.init(problem, Execution(precision, 1, device))
    solver.begin_step(problem, work)
    x = problem.x_guess.copy()
    for _ in range(n):
        solver.sweep(problem, x, work, 1)
    return x, work.singular_blocks


def assert_same_iterations(problem, solver=JACOBI, n=4, single=1e-5) -> None:
    """In double precision to 1e-10, in single precision to 1e-5 of the way that the iterations go."""
    expected, left = iterated(problem, solver, n)
    way = np.abs(expected - problem.y)[problem.model.is_free].max()
    assert way > 1e-4 * np.ptp(problem.x_prev, axis=0).max()
    x, still_left = iterated(problem, solver, n, "double", pl.OpenCL())
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-10 * way)
    assert still_left == left
    x, _ = iterated(problem, solver, n, "single", pl.OpenCL())
    size = np.abs(problem.x_prev).max()
    np.testing.assert_allclose(x, expected, rtol=0, atol=single * way + 4e-7 * size)


def test_iterations_are_those_of_the_cpu() -> None:
    assert_same_iterations(pinned_block())


@pytest.mark.slow
@pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)
def test_every_law(law) -> None:
    """With several Newton iterations, of which the first has formulas of its own."""
    assert_same_iterations(pinned_block(law), pl.GPBD(mode="jacobi", newton_iterations=4))


@pytest.mark.slow
def test_indefinite_hessians_and_steps_that_are_halved() -> None:
    """St. Venant-Kirchhoff crushed to 0.35 of its height: its Hessian is shifted, and the search halves steps."""
    problem = pinned_block(pl.StVenantKirchhoff, h=0.05)
    free = problem.model.is_free[:, None]
    problem.y[:] = np.where(free, problem.y * (1, 1, 0.35), problem.y)
    assert np.linalg.eigvalsh(problem.vertex_blocks(problem.y)).min() < 0
    assert_same_iterations(problem, pl.GPBD(mode="jacobi", newton_iterations=3))


def wrecked_cube(positions) -> pl.Scene:
    mesh = pl.shapes.box((1, 1, 1), (3,) * 3)
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_solid(mesh, pl.NeoHookean.from_young(1e5, 0.45), 1000.0).set_positions(positions(mesh.points))
    return scene


@pytest.mark.slow
@pytest.mark.parametrize(
    "positions",
    [lambda x: x * (1, 1, 0), lambda x: np.random.default_rng(1).uniform(-0.5, 0.5, x.shape)],
    ids=["flattened", "randomised"],
)
def test_inverted_elements_are_turned_right_side_out(positions) -> None:
    """As on the CPU, from flat and from inverted elements."""
    sim = pl.Simulation(wrecked_cube(positions), JACOBI, frame_rate=100, substeps=1, precision="double")
    problem = sim.problem()
    solver = pl.GPBD(mode="jacobi", newton_iterations=8)
    expected, left = iterated(problem, solver, 2)
    x, still_left = iterated(problem, solver, 2, "double", pl.OpenCL())
    assert still_left == left
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-12)


@pytest.mark.slow
def test_a_flattened_cube_recovers() -> None:
    """Neo-Hookean from a plane, in single precision: no inverted tet, and its own volume."""
    scene = wrecked_cube(lambda x: x * (1, 1, 0))
    solver = pl.GPBD(10, "jacobi", newton_iterations=8)
    sim = pl.Simulation(scene, solver, frame_rate=100, substeps=1, device="opencl")
    for _ in range(150):
        sim.step()
    volumes = tet_volumes(sim.positions, scene.bodies[0].mesh.tets)
    assert volumes.min() > 0
    assert volumes.sum() == pytest.approx(1, rel=0.02)


# --- sheets, springs and what holds them ------------------------------------------------------------------------------


def thrown(scene: pl.Scene, h: float = 1 / 100) -> pl.IncrementalPotential:
    rng = np.random.default_rng(3)
    for body in scene.bodies:
        body.set_velocities(rng.normal(scale=0.3, size=(body.n_vertices, 3)))
    return pl.Simulation(scene, pl.Newton(), frame_rate=1 / h, substeps=1, precision="double").problem()


@pytest.mark.slow
@pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)
def test_sheets_of_every_law(law) -> None:
    scene, mesh = pl.Scene(), pl.shapes.cloth(size=(1, 0.8), cells=(4, 3))
    body = scene.add_cloth(mesh, law.from_young(100.0, 0.0 if law is pl.ARAP else 0.3), density=0.2, bending=0.0)
    body.pin([0, 3, 5])
    assert_same_iterations(thrown(scene), pl.GPBD(mode="jacobi", newton_iterations=4))


@pytest.mark.slow
def test_everything_at_once() -> None:
    """Two solids, membranes, yarns, both kinds of bending, springs, ropes, rods, attachments and walls."""
    scene = pl.Scene()
    scene.world_box = pl.WorldBox(lower=(-9, -9, -0.05), stiffness=1e3)
    sheet = pl.shapes.cloth(size=(1, 0.8), cells=(4, 3))
    membrane = pl.StVenantKirchhoff.from_young(100.0, 0.3)
    scene.add_cloth(sheet, membrane, density=0.2, warp=20.0, bending=1e-3, bending_model="coupled").pin([0, 3])
    scene.add_cloth(sheet, membrane, density=0.2, bending=1e-3, bending_model="dihedral").pin([0, 3])
    points, edges = pl.shapes.rope(((0, 0, 1), (1, 0, 1), (1, 1, 1)), 9)
    scene.add_springs(points, edges, stiffness=300.0, mass=0.01, bending=1e-2).pin([0])
    scene.add_springs(points + np.array([0, 0, 1]), edges, stiffness=300.0, mass=0.01, one_sided=True).pin([0])
    mesh = pl.shapes.box(size=(0.3, 0.3, 0.3), cells=(2, 2, 2))
    scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e4, 0.3)).pin([0, 1])
    scene.add_solid(mesh.transformed(translation=(1, 1, 0)), pl.NeoHookean.from_young(1e4, 0.3))
    scene.attach(scene.bodies[2], [3, 4], scene.bodies[4], [5, 6], stiffness=100.0)
    assert_same_iterations(thrown(scene))


# --- answers ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_converged_answer_is_that_of_the_cpu() -> None:
    """Where no element is corrected any more; Jacobi's and Gauss-Seidel's ends differ by the directions along which
    they collect displacements, O(h^4).
    """
    problem = pinned_block(h=0.004)
    expected, _ = iterated(problem, pl.GPBD(mode="jacobi"), 1500)
    x, _ = iterated(problem, JACOBI, 1500, "double", pl.OpenCL())
    way = np.abs(expected - problem.y).max()
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-10 * way)
    minimiser = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=30)).x
    assert np.abs(x - minimiser).max() < 0.02 * np.abs(minimiser - problem.y).max()


def test_runs_repeat_and_n_iterations_are_n_times_one() -> None:
    """Bit for bit, in single precision."""
    problem, ends = pinned_block(), []
    for parts in ((7,), (7,), (1,) * 7):
        work = JACOBI.init(problem, Execution("single", 1, pl.OpenCL()))
        JACOBI.begin_step(problem, work)
        x = problem.x_guess.copy()
        for n in parts:
            JACOBI.sweep(problem, x, work, n)
        ends.append(x)
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[0], ends[2])


@pytest.mark.slow
def test_a_free_block_keeps_its_momentum() -> None:
    """Without gravity, to rounding of single precision: corrections of an element sum to zero with masses."""
    scene, mesh = pl.Scene(gravity=(0, 0, 0)), pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.35), 1000.0)
    body.set_positions(mesh.points * (1.2, 0.9, 1.0))
    body.set_velocities((0.3, 0.0, 0.1))
    sim = pl.Simulation(scene, JACOBI, frame_rate=100, substeps=1, device="opencl", precision="double")
    mass = sim.model.mass[:, None]
    before = (mass * sim.velocities).sum(axis=0)
    for _ in range(20):
        sim.step()
    np.testing.assert_allclose((mass * sim.velocities).sum(axis=0), before, rtol=0, atol=1e-10 * mass.sum())


@pytest.mark.slow
def test_a_motion_goes_on_on_another_device(tmp_path) -> None:
    """A checkpoint of the device continues on the CPU, and both end where a run on the CPU does, to rounding."""
    ends = []
    for devices in (("cpu", "cpu"), ("opencl", "opencl"), ("opencl", "cpu")):
        scene, mesh = pl.Scene(), pl.shapes.beam(length=0.5, width=0.1, height=0.1, cells=(6, 2, 2))
        body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3))
        body.pin(mesh.points[:, 0] < mesh.points[:, 0].min() + 1e-6)
        sim = pl.Simulation(scene, JACOBI, frame_rate=100, substeps=1, device=devices[0])
        for _ in range(5):
            sim.step()
        sim.save(tmp_path / "run.npz")
        sim = pl.Simulation.resume(tmp_path / "run.npz", device=devices[1])
        for _ in range(5):
            sim.step()
        ends.append(sim.positions)
    fallen = np.abs(ends[0] - mesh.points).max()
    assert fallen > 0.03
    for end in ends[1:]:
        assert np.abs(end - ends[0]).max() < 1e-4 * fallen


@pytest.mark.slow
def test_a_cube_on_the_ground_is_carried_by_its_contacts() -> None:
    """Elements on the device, contacts on the host: the ground's springs hold m g, and the iterations are the CPU's."""
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=2e4, damping=0.02)
    mesh = pl.shapes.box(size=(0.1,) * 3, cells=(2,) * 3).transformed(translation=(0, 0, 0.05))
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e6, 0.3), density=1000.0)
    scene.add_plane((0, 0, 0), (0, 0, 1))
    solver = pl.GPBD(100, "jacobi")
    sim = pl.Simulation(scene, solver, frame_rate=60, substeps=20, precision="double", device="opencl")
    for _ in range(60):
        sim.advance()
    low = body.positions[np.abs(body.mesh.points[:, 2]) < 1e-9][:, 2]
    assert float(np.sum(-low * 2e4)) == pytest.approx(9.81, rel=1e-9)
    assert np.abs(sim.velocities).max() < 1e-9
    ends = []
    for device in (None, pl.OpenCL()):
        problem = sim.problem()
        ends.append(iterated(problem, solver, 10, "double", device)[0])
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-12)


@pytest.mark.slow
def test_a_ball_meets_cloth_as_on_the_cpu() -> None:
    """A particle, which no element holds, is pushed by contacts on the host."""
    scene = pl.Scene(gravity=(0, 0, 0), contact=pl.Contact(self_contact=False))
    mesh = pl.shapes.cloth(size=(0.2, 0.2), cells=(4, 4))
    scene.add_cloth(mesh, pl.StVenantKirchhoff.from_young(200.0, 0.3), density=0.5, bending=0).pin([0, 4, 20, 24])
    scene.add_particles([[0.011, 0.004, 0.025]], 0.02, 50.0).set_velocities((0.0, 0.0, -1.0))
    ends = []
    for device in ("cpu", "opencl"):
        sim = pl.Simulation(scene, JACOBI, frame_rate=100, substeps=10, precision="double", device=device)
        for _ in range(2):
            sim.advance()
        ends.append(sim.positions.copy())
    assert ends[0][-1, 2] > 0.007  # without the cloth it would be at 0.005
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-12)


# --- what is refused, and what can be read ----------------------------------------------------------------------------


def test_particles_alone_are_refused_by_name() -> None:
    scene = pl.Scene()
    scene.add_particles([[0.0, 0.0, 0.0]])
    with pytest.raises(pl.DeviceError, match="particles alone do not run on an OpenCL device with GPBD"):
        pl.Simulation(scene, JACOBI, device="opencl")


def test_gauss_seidel_is_refused_by_name() -> None:
    scene = pl.Scene()
    scene.add_solid(pl.shapes.box(cells=1), pl.StableNeoHookean.from_young(1e5, 0.3))
    with pytest.raises(pl.DeviceError, match=r'mode="gauss-seidel" does not run .* use mode="jacobi"'):
        pl.Simulation(scene, pl.GPBD(), device="opencl")


def test_kernels_can_be_read_without_a_device() -> None:
    problem = pinned_block(pl.NeoHookean)
    text = kernel_source(JACOBI, problem.model, 0.01)
    assert "KERNEL void correct_all_0" in text
    assert "KERNEL void collect" in text
    assert "tets of NeoHookean" in text
    assert "Equation 19" in text
    assert "atomic" not in text.split("KERNEL void correct_all_0")[1].replace("COUNT_ONE", "")
