"""The fast vertex block descent equals the plain one in NumPy, tagged with the paper's equations."""

import numpy as np
import pytest

import pliant as pl
from pliant.geometry import colour_vertices, vertex_graph
from pliant.lanes.host import default_width
from pliant.materials import SOLID_LAWS
from pliant.solvers import Execution
from pliant.solvers.machinery.vbd_tables import build_tables
from pliant.solvers.vbd_reference import vbd_sweep

every_law = pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)
QUICK_WIDTH = default_width("double")
# One law of each path is tried in every kernel; the others differ from them in their formula alone, and each kernel
# takes seconds to compile: the quick tests compile one or two for them.
FULLY_TRIED = (pl.StableNeoHookean, pl.NeoHookean, pl.StVenantKirchhoff)
ALSO_QUICK = [(pl.StableNeoHookean, 1), (pl.StVenantKirchhoff, 8)]


def quick_if(is_quick):
    return () if is_quick else pytest.mark.slow


every_law_and_width = pytest.mark.parametrize(
    ("law", "width"),
    [
        pytest.param(
            law, width, id=f"{name}-{width}", marks=quick_if(width == QUICK_WIDTH or (law, width) in ALSO_QUICK)
        )
        for name, law in SOLID_LAWS.items()
        for width in (1, 4, 8, 16)
    ],
)


def fast(problem, n, width=None, threads=1, **options):
    """n sweeps from the problem's start, and the tables they used."""
    solver = pl.VBD(**options)
    work = build_tables(problem, Execution("double", threads), solver.line_search, solver.psd, width=width)
    x = problem.x_guess.copy()
    solver.begin_step(problem, work)
    solver.sweep(problem, x, work, n)
    return x, work


def plain(problem, n, psd=False):
    model = problem.model
    colours = colour_vertices(*vertex_graph([block.elements for block in model.blocks], model.n_vertices))
    x = problem.x_guess
    for _ in range(n):
        x = vbd_sweep(problem, x, colours, psd)
    return x


def assert_equal(problem, x, expected, rounding=0.0):
    """To 1e-12 of the size of what the body sweeps over, or to what rounding makes of the expected itself [m]."""
    size = np.ptp(np.concatenate([problem.x_prev, expected]), axis=0).max()
    assert np.abs(expected - problem.x_guess).max() > 1e-4 * size
    np.testing.assert_allclose(x, expected, rtol=0, atol=max(1e-12 * size, rounding))


@every_law_and_width
@pytest.mark.parametrize("n", [1, 3])
def test_equals_the_reference_at_any_width(make_simulation, law, width, n):
    """Damped, with pins, lines and planes."""
    problem = make_simulation(law, held=True, damping=2e-3).problem()
    x, work = fast(problem, n, width)
    assert work.packs.width == width
    assert_equal(problem, x, plain(problem, n))


@every_law
def test_equals_the_reference_for_a_free_body(make_simulation, law):
    """The shortest kernel: no damping, no constraints."""
    problem = make_simulation(law).problem()
    assert_equal(problem, fast(problem, 3)[0], plain(problem, 3))


@pytest.mark.slow
@every_law_and_width
def test_equals_the_reference_at_a_hub(make_simulation, star, law, width):
    """A vertex with 320 tets, whose forces are summed over all lanes."""
    problem = make_simulation(law, held=True, damping=2e-3, damping_form="vertex_block", mesh=star).problem()
    x, work = fast(problem, 3, width)
    assert work.packs.is_wide.sum() == 1
    assert_equal(problem, x, plain(problem, 3))


def test_equals_the_reference_on_the_star_sphere(make_simulation, data_meshes):
    """One vertex with 1772 tets."""
    problem = make_simulation(mesh=data_meshes("star-sphere-889")).problem()
    x, work = fast(problem, 3)
    assert work.packs.is_wide.sum() == 1
    assert_equal(problem, x, plain(problem, 3))


def test_equals_the_reference_with_two_laws_in_a_scene(shaken):
    """Each vertex feels its own body's law only."""
    scene = pl.Scene()
    for k, law in enumerate((pl.NeoHookean, pl.StVenantKirchhoff)):
        mesh = pl.shapes.box((0.2, 0.2, 0.2), (2, 2, 2))
        scene.add_solid(mesh, law.from_young(1e5 * (k + 1), 0.3)).set_positions(shaken(mesh, seed=k))
    problem = pl.Simulation(scene, pl.Newton(), precision="double").problem()
    assert_equal(problem, fast(problem, 3)[0], plain(problem, 3))


def squeezed(make_simulation, law, **options):
    """A problem whose start is so squeezed that vertex blocks are indefinite."""
    problem = make_simulation(law, frame_rate=10, **options).problem()
    problem.x_guess[:] = np.where(problem.model.is_free[:, None], problem.x_guess * (1, 1, 0.35), problem.x_guess)
    return problem


@pytest.mark.parametrize(
    "law", [pytest.param(law, id=name, marks=quick_if(law in FULLY_TRIED)) for name, law in SOLID_LAWS.items()]
)
def test_psd_blocks_are_the_projected_ones(make_simulation, law):
    """psd=True equals the reference's eigenvalue projection where blocks are indefinite, lines and planes too."""
    problem = squeezed(make_simulation, law, held=True, damping=2e-3)
    least = np.linalg.eigvalsh(problem.vertex_blocks(problem.x_guess))[:, 0]
    if law is pl.StVenantKirchhoff:
        assert least.min() < 0
    x, expected = fast(problem, 1, psd=True)[0], plain(problem, 1, psd=True)
    # a block with a negative eigenvalue cut off may be nearly singular: how far does the last bit of the start carry?
    free = problem.model.is_free
    problem.x_guess[free] = np.nextafter(problem.x_guess[free], np.inf)
    assert_equal(problem, x, expected, rounding=10 * np.abs(plain(problem, 1, psd=True) - expected).max())


def test_psd_steps_descend(make_simulation):
    """A positive block times its step is the force: every step of the first colour goes down the gradient."""
    problem = squeezed(make_simulation, pl.StVenantKirchhoff)
    model = problem.model
    colours = colour_vertices(*vertex_graph([b.elements for b in model.blocks], model.n_vertices))
    first = colours == colours.min()
    slope = {}
    for psd in (False, True):
        moved = fast(problem, 1, psd=psd)[0] - problem.x_guess
        slope[psd] = np.einsum("na,na->n", moved, problem.gradient(problem.x_guess))[first]
    assert slope[False].max() > 0
    assert slope[True].max() < 0


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_no_bit(make_simulation, threads):
    problem = make_simulation(pl.NeoHookean, held=True, damping=2e-3).problem()
    np.testing.assert_array_equal(fast(problem, 3)[0], fast(problem, 3, threads=threads)[0])
