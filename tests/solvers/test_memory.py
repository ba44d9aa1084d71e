"""What a solver keeps, in bytes a tet."""

import pytest

import pliant as pl


def bytes_a_tet(mesh, law=pl.StableNeoHookean, **options):
    scene = pl.Scene()
    scene.add_solid(mesh, law.from_young(1e5, 0.4))
    return pl.Simulation(scene, pl.VBD(), **options).solver_bytes / len(mesh.tets)


def test_fast_path_needs_at_most_120_bytes_a_tet():
    """A box of 12^3 cells in single precision; a tet's own 4 indices and 10 numbers would be 56 bytes."""
    assert bytes_a_tet(pl.shapes.box(cells=12)) <= 120


def test_double_precision_needs_less_than_twice_as_much():
    box = pl.shapes.box(cells=6)
    assert bytes_a_tet(box) < bytes_a_tet(box, precision="double") < 2 * bytes_a_tet(box)


@pytest.mark.parametrize("ordinary", ["rod-630", "bunny-1.9k", "octopus-3.9k"])
def test_a_hub_vertex_costs_no_memory(data_meshes, ordinary):
    """The star sphere, one vertex in all of 1772 tets, needs at most twice an ordinary mesh's memory a tet."""
    assert bytes_a_tet(data_meshes("star-sphere-889")) <= 2 * bytes_a_tet(data_meshes(ordinary))


def test_chebyshev_adds_two_copies_of_the_positions():
    """Iterates n - 1 and n - 2, made when first needed."""
    scene = pl.Scene()
    scene.add_solid(pl.shapes.box(cells=3), pl.StableNeoHookean.from_young(1e5, 0.4))
    plain, fast = pl.Simulation(scene, pl.VBD()), pl.Simulation(scene, pl.Chebyshev(pl.VBD()))
    plain.step()
    fast.step()
    assert fast.solver_bytes - plain.solver_bytes == 2 * plain._work.x.nbytes
