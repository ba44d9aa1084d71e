"""Every solver that supports contact and pressure: Newton's minimiser, friction included, and the same bits."""

import functools

import numpy as np
import pytest

import pliant as pl

SOLVERS = {
    "VBD": pl.VBD(),
    "VBD-line-search": pl.VBD(line_search=True),
    "Newton-cg": pl.Newton(linear="cg"),
    "GradientDescent": pl.GradientDescent(),
    "BlockJacobi": pl.BlockJacobi(),
    "NonlinearCG": pl.NonlinearCG(),
    "NonlinearCG-plain": pl.NonlinearCG(preconditioned=False),
    "LBFGS": pl.LBFGS(),
    "LBFGS-plain": pl.LBFGS(preconditioned=False),
    "LaplacianQuasiNewton": pl.LaplacianQuasiNewton(),
    "Chebyshev": pl.Chebyshev(pl.VBD(), rho=0.7),
    "Chebyshev-descent": pl.Chebyshev(pl.GradientDescent(), rho=0.7),
    "Nesterov": pl.Nesterov(pl.GradientDescent()),
    "HeavyBall": pl.HeavyBall(pl.BlockJacobi(), beta=0.3),
    "Anderson": pl.Anderson(pl.VBD()),
    "Backtracking": pl.Backtracking(pl.VBD()),
    "Multilevel": pl.Multilevel(pl.VBD(), aggregate=8),
}
every_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)


def cube(scene: pl.Scene, centre, cells: int, **options):
    mesh = pl.shapes.box(size=(0.1,) * 3, cells=(cells,) * 3).transformed(translation=centre)
    return scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3), **options)


def pile(solver, cells: int = 2, threads: int | None = None, detect_every: int | None = None) -> pl.Simulation:
    """A cube that slides over another, which lies on the ground; one is damped, the other under pressure."""
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=3e3, friction=0.4, friction_speed=0.5, damping=1e-3, detect_every=detect_every)
    cube(scene, (0, 0, 0.0485), cells, damping=1e-3)
    upper = cube(scene, (0.02, 0.01, 0.1465), cells)
    upper.set_velocities((0.3, 0.1, 0.0))
    upper.pressure = 500.0
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    return pl.Simulation(scene, solver, frame_rate=100, substeps=1, precision="double", threads=threads)


@functools.cache
def case() -> tuple[pl.IncrementalPotential, np.ndarray]:
    problem = pile(pl.Newton()).problem()
    report = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=100, residual=1e-10))
    assert report.residual < 1e-9
    return problem, report.x


def test_the_scene_is_in_contact_and_slides() -> None:
    """Both kinds of contacts push, and friction is as strong as sliding makes it."""
    problem, minimiser = case()
    contacts = problem.with_own_internal_state().contacts
    contacts.refresh(minimiser)
    pressed = contacts.depths(minimiser) > 0
    outside = contacts.contacts.obstacle >= 0
    assert (pressed & outside).sum() == 9
    assert (pressed & ~outside).sum() >= 4
    assert contacts.contacts.friction_limit[pressed].sum() > 1


@every_solver
def test_converges_to_newtons_minimiser(solver) -> None:
    """Within 1e-6 of the way travelled."""
    problem, minimiser = case()
    report = pl.solve(problem, solver, stop=pl.Stop(iterations=6000, residual=1e-8), measure_every=20)
    travelled = np.abs(minimiser - problem.x_guess).max()
    assert travelled > 1e-3
    assert np.abs(report.x - minimiser).max() <= 1e-6 * travelled, (report.iterations, report.residual)


@every_solver
def test_n_iterations_at_once_are_n_times_one(solver) -> None:
    problem, _ = case()
    at_once = pl.solve(problem, solver, stop=pl.Stop(iterations=11), measure_every=11)
    one_by_one = pl.solve(problem, solver, stop=pl.Stop(iterations=11))
    np.testing.assert_array_equal(at_once.x, one_by_one.x)


@every_solver
def test_threads_do_not_change_a_bit(solver) -> None:
    """Contacts detected again in the middle of steps."""
    results = []
    for threads in (1, 2):
        sim = pile(solver, threads=threads, detect_every=7)
        for _ in range(3):
            sim.step()
        results.append(sim.positions)
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize(
    ("solver", "what"),
    [
        (pl.ProjectiveDynamics(), "ProjectiveDynamics does not support contact"),
        (pl.Anderson(pl.ProjectiveDynamics()), "ProjectiveDynamics does not support contact"),
        (pl.XPBD(), "XPBD does not support pressure"),
        (pl.GPBD(), "GPBD does not support pressure"),
    ],
    ids=["projective", "wrapped", "XPBD", "GPBD"],
)
def test_what_is_not_carried_is_said_when_the_simulation_is_built(solver, what) -> None:
    with pytest.raises(pl.SolverError, match=what):
        pile(solver)
