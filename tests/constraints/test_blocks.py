"""Iterations over blocks of constraints, in phases or in waves, have the numbers of one iteration after another."""

import numpy as np
import pytest

import pliant as pl
from pliant.constraints.blocks import FEWEST_ROWS, ROWS_OF_BLOCK, WAVES_FROM, room_for_blocks

R = 0.01
JACOBI, GAUSS_SEIDEL = pl.ImprovedJacobi(), pl.GaussSeidel()


def column(height):
    """Spheres on top of each other, in touch and at random velocities, so many that their constraints are in blocks."""
    scene, random = pl.Scene(), np.random.default_rng(1)
    points = pl.shapes.packed_spheres((16 * R, 16 * R, height * R), radius=R, spacing=1.01)
    grains = scene.add_particles(points, radius=R, friction=0.4)
    grains.set_velocities(0.1 * random.normal(size=points.shape))
    scene.add_container((0, 0, 0), (17 * R, 17 * R, (height + 2) * R), friction=0.4)
    return scene


def posed(pose, height, relaxation, threads=1, precision="single"):
    return pose(column(height), pl.VelocityTimeStepping(relaxation, iterations=9), threads, precision)


def blocks_of_vertices(problem):
    """First and last block of each vertex."""
    vertices = problem.rows.vertices[: problem.count, :2]
    block = np.repeat(np.arange(problem.count) // problem.blocks.numbers[2], 2)[vertices.ravel() >= 0]
    own, n = vertices.ravel()[vertices.ravel() >= 0], len(problem.bodies.inverse_mass)
    first, last = np.full(n, problem.count), np.zeros(n, int)
    np.minimum.at(first, own, block)
    np.maximum.at(last, own, block)
    return first, last


@pytest.mark.parametrize("relaxation", [JACOBI, GAUSS_SEIDEL], ids=["Jacobi", "GaussSeidel"])
@pytest.mark.parametrize("height", [160, 1500], ids=["phases", "waves"])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_blocks_have_the_same_bits(pose, threads, height, relaxation):
    """On any number of threads, and in waves those of one iteration after another."""
    together, plain = (posed(pose, height, relaxation, k) for k in (threads, 1))
    number, _, size, is_wave = together.blocks.numbers
    assert number > 1
    assert (together.count > WAVES_FROM) == (is_wave == 1) == (height == 1500)
    assert number == -(-together.count // size)
    relaxation.iterate(together, 7)
    relaxation.iterate(together, 2)
    for _ in range(9):
        relaxation.iterate(plain, 1)
    assert np.array_equal(together.bodies.velocity, plain.bodies.velocity)
    assert np.array_equal(together.rows.impulse[: together.count], plain.rows.impulse[: plain.count])
    for problem in (together, plain):  # what a step begins with pushes vertices block by block too
        before = problem.bodies.velocity.copy()
        problem.prepare(0.5, keeps_lists=True, is_warm=True)
        assert np.abs(problem.bodies.velocity - before)[:, :3].max() > 1e-3
    assert np.array_equal(together.bodies.velocity, plain.bodies.velocity)


@pytest.mark.parametrize("height", [160, 1500], ids=["phases", "waves"])
def test_blocks_have_the_numbers_of_colours_of_all(pose, height):
    """Jacobi's sums in another order differ by rounding."""
    blocks, colours = (posed(pose, height, JACOBI, precision="double") for _ in range(2))
    colours.blocks, colours._is_coloured = room_for_blocks(colours.count), False
    for problem in (blocks, colours):
        JACOBI.begin(problem)
        JACOBI.iterate(problem, 9)
    assert blocks.blocks.numbers[0] > 1 == colours.blocks.numbers[0]
    np.testing.assert_allclose(blocks.bodies.velocity, colours.bodies.velocity, atol=1e-12)


@pytest.mark.parametrize("height", [160, 1500], ids=["phases", "waves"])
def test_blocks_apart_share_no_vertex(pose, height):
    problem = posed(pose, height, JACOBI)
    first, last = blocks_of_vertices(problem)
    count, skew, size, _ = problem.blocks.numbers
    assert (last - first)[first <= last].max() < skew < count
    assert size == ROWS_OF_BLOCK if height == 1500 else size >= FEWEST_ROWS
    if height == 160:
        assert count % (2 * skew) == 0


def test_each_vertex_is_pushed_after_its_last_block(pose):
    """Every vertex is in the order once, among those of the block of its last constraint."""
    problem = posed(pose, 1500, JACOBI)
    _, last = blocks_of_vertices(problem)
    count = problem.blocks.numbers[0]
    assert np.array_equal(np.sort(problem.bodies.order), np.arange(len(problem.bodies.inverse_mass)))
    starts = problem.blocks.vertices[: count + 1]
    assert np.array_equal(last[problem.bodies.order], np.repeat(np.arange(count), np.diff(starts)))
