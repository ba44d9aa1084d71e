"""Every solver on sheets, threads, bending, springs and rods: Newton's minimiser, whatever the element."""

import numpy as np
import pytest

import pliant as pl
from pliant.energies.constant_stiffness import stiffness_laplacian
from pliant.materials import SOLID_LAWS
from pliant.materials.rest_moduli import lame_parameters_at_rest

SOLVERS = {
    "GradientDescent": pl.Chebyshev(pl.GradientDescent(), rho=0.8),
    "BlockJacobi": pl.Chebyshev(pl.BlockJacobi(), rho=0.8),
    "NonlinearCG": pl.NonlinearCG(),
    "LBFGS": pl.LBFGS(),
    "LaplacianQuasiNewton": pl.LaplacianQuasiNewton(),
    "Newton-cg": pl.Newton(linear="cg"),
    "Anderson": pl.Anderson(pl.VBD()),
}


def soft_scene() -> pl.Scene:
    """A sheet with threads and bending, and a rope that bends."""
    scene = pl.Scene()
    mesh = pl.shapes.cloth(size=(1, 0.8), cells=(4, 3))
    sheet = scene.add_cloth(mesh, pl.StVenantKirchhoff.from_young(100.0, 0.3), density=0.2, bending=1e-3,
                            bending_model="dihedral", warp=20.0)  # fmt: skip
    sheet.pin([0, 3])
    points, edges = pl.shapes.rope(((0, 0, 1), (1, 0, 1), (1, 1, 1)), 9)
    scene.add_springs(points, edges, stiffness=300.0, mass=0.01, bending=1e-2).pin([0])
    return scene


def spring_scene() -> pl.Scene:
    """Springs and quadratic bending alone: what projective dynamics can take."""
    scene = pl.Scene()
    points, edges = pl.shapes.rope(((0, 0, 1), (1, 0, 1), (1, 1, 1)), 9)
    scene.add_springs(points, edges, stiffness=300.0, mass=0.01).pin([0])
    return scene


def thrown(scene: pl.Scene) -> pl.IncrementalPotential:
    rng = np.random.default_rng(3)
    for body in scene.bodies:
        body.set_velocities(rng.normal(scale=0.3, size=(body.n_vertices, 3)))
    return pl.Simulation(scene, pl.Newton(), frame_rate=100, substeps=1).problem()


def assert_minimises(problem, solver) -> None:
    exact = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=60, residual=1e-10)).x
    report = pl.solve(problem, solver, stop=pl.Stop(iterations=2000, residual=1e-9), measure_every=20)
    travelled = np.abs(exact - problem.x_guess).max()
    assert np.abs(report.x - exact).max() <= 1e-6 * travelled


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_minimises_sheets_threads_bending_and_rods(solver):
    assert_minimises(thrown(soft_scene()), solver)


def cloth_scene() -> pl.Scene:
    """What projective dynamics takes of cloth: a sheet as rigid as possible, quadratic bending, links and a wall."""
    scene = pl.Scene()
    mesh = pl.shapes.cloth(size=(1, 0.8), cells=(4, 3))
    sheet = scene.add_cloth(mesh, pl.ARAP(50.0), density=0.2, bending=1e-3)
    sheet.set_positions(mesh.points * (1.1, 1.05, 1))
    sheet.pin([0, 3])
    points, edges = pl.shapes.rope(((0.5, 0.4, 0), (1, 0.4, 0)), 4)
    rope = scene.add_springs(points, edges, stiffness=300.0, mass=0.01)
    scene.attach(sheet, [[18, 19]], rope, [0], 200.0, [[0.5, 0.5]])
    scene.world_box = pl.WorldBox((None, None, -0.001), (None, None, None), stiffness=30.0)
    return scene


@pytest.mark.parametrize("global_step", ["direct", "jacobi", "gauss-seidel"])
def test_projective_dynamics_minimises_cloth(global_step):
    assert_minimises(thrown(cloth_scene()), pl.ProjectiveDynamics(global_step=global_step))


@pytest.mark.parametrize("global_step", ["direct", "jacobi", "gauss-seidel"])
def test_projective_dynamics_minimises_springs(global_step):
    assert_minimises(thrown(spring_scene()), pl.ProjectiveDynamics(global_step=global_step))


def test_projective_dynamics_refuses_bending_by_angle():
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.cloth((1, 1), (2, 2)), pl.ARAP(50.0), bending=1e-3, bending_model="dihedral")
    with pytest.raises(pl.SolverError, match="cannot take elements of kind Hinges"):
        pl.solve(thrown(scene), pl.ProjectiveDynamics())


def test_projective_dynamics_refuses_other_laws_of_sheets():
    with pytest.raises(pl.SolverError, match="ProjectiveDynamics cannot take StVenantKirchhoff"):
        pl.solve(thrown(soft_scene()), pl.ProjectiveDynamics())


@pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)
def test_lame_parameters_at_rest_are_those_asked_for(law):
    nu = 0.0 if law is pl.ARAP else 0.3
    material = law.from_young(1e5, nu)
    lam, mu = lame_parameters_at_rest(law, np.array([material.parameters]))
    assert mu[0] == pytest.approx(1e5 / (2 + 2 * nu), rel=1e-9)
    assert lam[0] == pytest.approx(1e5 * nu / (1 + nu) / (1 - 2 * nu), rel=1e-9, abs=1e-4)


def test_the_laplacian_is_the_isotropic_part_of_the_hessian_at_rest():
    """Of a block at rest: a third of the trace of every 3 x 3 block of d2E/dx2."""
    scene = pl.Scene()
    scene.add_solid(pl.shapes.box(cells=2), pl.NeoHookean.from_young(1e5, 0.3))
    problem = pl.Simulation(scene, pl.Newton()).problem()
    n = problem.model.n_vertices
    H = problem.hessian(problem.model.positions).toarray() - np.diag(np.repeat(problem.inertia, 3))
    expected = np.einsum("iaja->ij", H.reshape(n, 3, n, 3)) / 3
    np.testing.assert_allclose(stiffness_laplacian(problem).toarray(), expected, atol=1e-9 * np.abs(H).max())
