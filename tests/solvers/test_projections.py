"""What XPBD and GPBD share: where they end, what they keep, what they refuse."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import pliant as pl
from pliant.model import Hinges

both = pytest.mark.parametrize("solver", [pl.XPBD, pl.GPBD])
every_mode = pytest.mark.parametrize("mode", ["gauss-seidel", "jacobi"])


def free_block(h=1e-3, law=pl.StableNeoHookean, stretch=1.1, gravity=(0, 0, 0), **options):
    """A block that is stretched, sheared, moving at random, and held nowhere."""
    mesh = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
    random = np.random.default_rng(0)
    scene = pl.Scene(gravity=gravity)
    body = scene.add_solid(mesh, law.from_young(1e5, 0.35), 1000.0)
    shear = np.eye(3) + 0.05 * random.uniform(-1, 1, (3, 3))
    body.set_positions(mesh.points @ shear.T * (stretch, 1, 1))
    body.set_velocities(random.normal(0, 0.3, mesh.points.shape))
    return pl.Simulation(scene, frame_rate=1 / h, substeps=1, precision="double", **options)


def net(h=1e-3, **options):
    """A net of springs held at two corners, and a bent rod with bending stiffness held at one end."""
    sheet = pl.shapes.cloth((1, 1), (4, 4))
    corners = sheet.triangles
    edges = np.unique(np.sort(np.vstack([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]), axis=1), axis=0)
    random = np.random.default_rng(3)
    scene = pl.Scene()
    body = scene.add_springs(sheet.points, edges, 100.0, 0.02)
    body.set_positions(sheet.points * 1.05 + random.normal(0, 0.01, sheet.points.shape))
    body.pin([0, 4])
    s = np.arange(7.0)
    rod = scene.add_springs(
        np.column_stack([s / 6, s**2 / 40, 0 * s + 2]), np.column_stack([s[:-1], s[1:]]).astype(int), 200.0, 0.05,
        bending=0.3,
    )  # fmt: skip
    rod.set_positions(rod.points + random.normal(0, 0.02, rod.points.shape))
    rod.pin([0, 1])
    return pl.Simulation(scene, frame_rate=1 / h, substeps=1, precision="double", **options)


def hinges_alone(h=1e-3):
    """The hinges of a crumpled sheet, without its membrane."""
    sheet = pl.shapes.cloth((1, 1), (3, 3))
    scene = pl.Scene()
    material = pl.StableNeoHookean.from_young(10.0, 0.3)
    body = scene.add_cloth(sheet, material, density=0.2, bending=0.5, bending_model="dihedral")
    body.set_positions(sheet.points + np.random.default_rng(4).normal(0, 0.05, sheet.points.shape))
    sim = pl.Simulation(scene, pl.Newton(), frame_rate=1 / h, substeps=1, precision="double")
    sim.model = replace(sim.model, blocks=tuple(b for b in sim.model.blocks if isinstance(b, Hinges)))
    assert len(sim.model.blocks) == 1
    return sim


def sheet(h=1e-3, law=pl.StVenantKirchhoff, **options):
    """A crumpled sheet with yarns and hinges, one corner held, others linked to a rod and pushed back by a wall."""
    mesh = pl.shapes.cloth((1, 1), (3, 3))
    random = np.random.default_rng(5)
    scene = pl.Scene()
    body = scene.add_cloth(
        mesh, law.from_young(30.0, 0.3), density=0.2, bending=0.01, bending_model="dihedral", warp=20.0, weft=5.0
    )
    body.set_positions(mesh.points * (1.1, 0.95, 1) + random.normal(0, 0.03, mesh.points.shape))
    body.pin([0])
    rod = scene.add_springs(np.array([[0.6, 0.5, 0], [0.9, 0.5, 0.1]]), np.array([[0, 1]]), 50.0, 0.05)
    scene.attach(body, [15], rod, [0], 30.0)
    scene.world_box = pl.WorldBox((-0.52, None, -0.03), (None, 0.4, None), stiffness=40.0)
    return pl.Simulation(scene, pl.Newton(), frame_rate=1 / h, substeps=1, precision="double", **options)


def distance_to_implicit_euler(make, solver, h, iterations):
    problem = make(h).problem()
    exact = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=40, residual=1e-9)).x
    ours = pl.solve(problem, solver, stop=pl.Stop(iterations=iterations), measure_every=iterations).x
    return np.abs(ours - exact).max()


@pytest.mark.slow
@pytest.mark.parametrize("make", [free_block, net, hinges_alone, sheet])
@both
def test_a_converged_step_nears_implicit_euler_with_the_fourth_power_of_h(solver, make):
    """Half the step, a sixteenth of the distance, within a quarter."""
    coarse, fine = (distance_to_implicit_euler(make, solver(), h, 400) for h in (4e-4, 2e-4))
    assert coarse < 1e-5
    assert coarse / fine == pytest.approx(16, rel=0.25)


@pytest.mark.slow
@pytest.mark.parametrize(
    "law",
    [pl.StableNeoHookean, *(pytest.param(other, marks=pytest.mark.slow) for other in (pl.NeoHookean, pl.Corotated))],
)
def test_sheets_of_any_law_near_it_in_gpbd(law):
    """The general path, a barrier, and a law of the stretch."""
    solver = pl.GPBD(newton_iterations=2)
    coarse, fine = (distance_to_implicit_euler(partial(sheet, law=law), solver, h, 400) for h in (1e-3, 5e-4))
    assert coarse < 1e-5
    assert coarse / fine == pytest.approx(16, rel=0.25)


@pytest.mark.slow
@both
def test_jacobi_nears_it_too(solver):
    coarse, fine = (distance_to_implicit_euler(free_block, solver(mode="jacobi"), h, 4000) for h in (4e-4, 2e-4))
    assert coarse / fine == pytest.approx(16, rel=0.25)


@both
def test_a_trajectory_nears_newtons_with_the_second_power_of_h(solver):
    """O(h^4) a step in positions is O(h^3) a step in velocities, 1/h steps."""
    distances = []
    for h in (1e-3, 5e-4):
        ours, newton = free_block(h, solver=solver(60)), free_block(h, solver=pl.Newton(6))
        for _ in range(round(0.02 / h)):
            ours.step()
            newton.step()
        distances.append(np.abs(ours.positions - newton.positions).max())
    assert distances[0] < 1e-3
    assert distances[0] / distances[1] == pytest.approx(4, rel=0.35)


@both
@every_mode
def test_momentum_is_kept_by_every_iteration(solver, mode):
    """Linear momentum to rounding, converged or not."""
    sim = free_block(solver=solver(3, mode=mode))
    before = sim.model.mass @ sim.velocities
    for _ in range(5):
        sim.step()
    np.testing.assert_allclose(
        sim.model.mass @ sim.velocities, before, rtol=0, atol=1e-12 * np.abs(before).max() + 1e-13
    )


@both
def test_corrections_have_no_torque(solver):
    """sum m y x (x - y) vanishes for one iteration of Jacobi: an element's forces at y have no moment."""
    sim = free_block()
    problem = sim.problem()
    x = pl.solve(problem, solver(1, mode="jacobi")).x
    torque = sim.model.mass @ np.cross(problem.y, x - problem.y)
    size = np.sum(sim.model.mass * np.linalg.norm(np.cross(problem.y, x - problem.y), axis=1))
    assert np.abs(torque).max() < 1e-12 * size


@both
@every_mode
@pytest.mark.parametrize("precision", ["single", "double"])
def test_rest_is_a_fixed_point(solver, mode, precision):
    """A body at rest, turned, without gravity, stays: to rounding of the precision."""
    mesh = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
    turn = np.array([[0, -1, 0], [0.6, 0, -0.8], [0.8, 0, 0.6]])
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e6, 0.49), 1000.0)
    body.set_positions(mesh.points @ turn.T)
    sim = pl.Simulation(scene, solver(10, mode=mode), precision=precision)
    for _ in range(3):
        sim.step()
    tolerance = {"single": 3e-6, "double": 1e-14}[precision]
    np.testing.assert_allclose(sim.positions, mesh.points @ turn.T, rtol=0, atol=tolerance)


@both
@every_mode
def test_same_bits_for_any_number_of_threads(solver, mode):
    results = []
    for threads in (1, 2, 3):
        mesh = pl.shapes.box((1, 1, 1), (7, 6, 5))
        scene = pl.Scene()
        body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.4), 1000.0)
        body.set_positions(mesh.points * (1.2, 0.9, 1))
        body.pin(mesh.points[:, 2] > 0.49)
        sim = pl.Simulation(scene, solver(5, mode=mode), threads=threads)
        for _ in range(3):
            sim.step()
        results.append(sim.positions)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


@both
@every_mode
def test_n_iterations_at_once_are_n_times_one(solver, mode):
    problem = free_block().problem()
    at_once = pl.solve(problem, solver(mode=mode), stop=pl.Stop(iterations=6), measure_every=6)
    one_by_one = pl.solve(problem, solver(mode=mode), stop=pl.Stop(iterations=6))
    np.testing.assert_array_equal(at_once.x, one_by_one.x)


@both
def test_the_start_given_does_not_matter(solver):
    """Iterations begin at the inertial target: anywhere else momentum would be lost."""
    problem = free_block().problem()
    here, there = (pl.solve(problem, solver(4), x0=x0).x for x0 in (None, problem.x_prev + 0.1))
    np.testing.assert_array_equal(here, there)


@both
def test_pinned_and_led_vertices_keep_their_place(solver):
    mesh = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
    scene = pl.Scene()
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.35), 1000.0)
    left, right = mesh.points[:, 0] < -0.14, mesh.points[:, 0] > 0.14
    body.pin(left)
    body.move(right, lambda t: mesh.points[right] + (0.5 * t, 0, 0))
    sim = pl.Simulation(scene, solver(5), precision="double")
    for _ in range(4):
        sim.step()
    np.testing.assert_array_equal(sim.positions[left], mesh.points[left])
    np.testing.assert_allclose(sim.positions[right], mesh.points[right] + (0.5 * sim.time, 0, 0), atol=1e-15)


@pytest.mark.slow
def test_a_run_goes_on_from_a_checkpoint_with_the_same_bits(tmp_path):
    sim = free_block(solver=pl.GPBD(3, "jacobi", relaxation=1.5, newton_iterations=2))
    sim.step()
    sim.save(tmp_path / "run.npz")
    again = pl.Simulation.resume(tmp_path / "run.npz")
    assert again.solver == sim.solver
    sim.step()
    again.step()
    np.testing.assert_array_equal(sim.positions, again.positions)


@both
@pytest.mark.parametrize(
    ("option", "value"),
    [("iterations", 0), ("mode", "newton"), ("relaxation", 0), ("relaxation", 2.0), ("relaxation", "much")],
)
def test_bad_options_are_named(solver, option, value):
    with pytest.raises(pl.SolverError, match=f"{solver.__name__}: {option} is"):
        solver(**{option: value})


@both
def test_quadratic_bending_is_refused_with_a_remedy(solver):
    scene = pl.Scene()
    law = pl.StVenantKirchhoff.from_young(100.0, 0.3)
    scene.add_cloth(pl.shapes.cloth((1, 1), (2, 2)), law, bending_model="quadratic")
    with pytest.raises(pl.SolverError, match=rf"{solver.__name__} cannot carry quadratic bending.*use pl\.VBD"):
        pl.Simulation(scene, solver())


@both
@pytest.mark.parametrize("curvature", [0.0, 1.0], ids=["flat", "curved"])
@pytest.mark.parametrize("tear_at", [None, 3.0], ids=["whole", "could tear"])
def test_bending_that_is_left_out_is_one_of_angles(solver, curvature, tear_at):
    """The same bits as with coupled bending; other solvers bend the same scene by the quadratic form, where it can."""
    flat = pl.shapes.cloth((1, 1), (4, 4))
    mesh = pl.TriMesh(flat.points + curvature * np.outer(flat.points[:, 0] ** 2, [0, 0, 1]), flat.triangles)
    law = pl.StVenantKirchhoff.from_young(100.0, 0.3)

    def scene_of(**options):
        scene = pl.Scene()
        scene.add_cloth(mesh, law, bending=0.1, tear_at=tear_at, **options).pin([0, 4])
        return scene

    scene = scene_of()
    positions = []
    for own in (scene, scene_of(bending_model="coupled")):
        sim = pl.Simulation(own, solver(), threads=1)
        sim.step()
        positions.append(sim.positions)
    assert np.array_equal(*positions)
    kinds = {type(block).__name__ for block in pl.Simulation(scene, pl.VBD(), threads=1).model.blocks}
    assert "Hinges" not in kinds


def test_xpbd_names_the_law_of_sheets_it_takes():
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.cloth((1, 1), (2, 2)), pl.NeoHookean.from_young(100.0, 0.3))
    with pytest.raises(pl.SolverError, match=r"NeoHookean of sheets has none: use StVenantKirchhoff, or pl\.GPBD"):
        pl.Simulation(scene, pl.XPBD())


@both
def test_what_outside_terms_cannot_be_carried_is_said(solver):
    scene = pl.Scene()
    body = scene.add_solid(pl.shapes.box(cells=1), pl.StableNeoHookean.from_young(1e5, 0.3), name="one")
    body.viscosity = 1.0
    with pytest.raises(pl.SolverError, match="cannot carry viscosity"):
        pl.Simulation(scene, solver())
    body.viscosity = 0.0
    other = scene.add_solid(pl.shapes.box(cells=1), pl.StableNeoHookean.from_young(1e5, 0.3), name="other")
    scene.attach(body, [[0, 1]], other, [0], 10.0, [[0.5, 0.5]])
    with pytest.raises(pl.SolverError, match="attach vertices to vertices"):
        pl.Simulation(scene, solver())


@both
def test_chebyshev_is_refused(solver):
    with pytest.raises(pl.SolverError, match="do not take momentum"):
        pl.Chebyshev(solver())


@both
def test_air_damping_acts_as_in_newtons_step(solver):
    """It changes the weight of inertia: with it too, small steps near implicit Euler's."""
    mesh = pl.shapes.box((0.2, 0.2, 0.2), (2, 2, 2))
    scene = pl.Scene()
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.35), 1000.0)
    body.air_damping = 50.0
    body.set_positions(mesh.points * (1.1, 1, 1))
    problem = pl.Simulation(scene, frame_rate=5000, substeps=1).problem()
    exact = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=30, residual=1e-9)).x
    ours = pl.solve(problem, solver(300)).x
    moved = np.abs(exact - problem.y).max()
    assert np.abs(ours - exact).max() < 1e-3 * moved


def test_a_block_of_which_nothing_moves_is_no_hindrance():
    """A rope that is pinned all along leaves a solid beside it to fall as it would alone."""
    ends = []
    for with_rope in (False, True):
        scene = pl.Scene()
        body = scene.add_solid(pl.shapes.box(cells=1), pl.StableNeoHookean.from_young(1e4, 0.3))
        if with_rope:
            points, edges = pl.shapes.rope(((0, 0, 1), (1, 0, 1)), 3)
            scene.add_springs(points, edges, stiffness=300.0, mass=0.01).pin(np.arange(len(points)))
        sim = pl.Simulation(scene, pl.XPBD(iterations=3))
        sim.step()
        ends.append(sim.positions[: body.n_vertices])
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-7)
