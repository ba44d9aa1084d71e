"""Iterations in waves over blocks of constraints have the numbers of one iteration after another."""

import numpy as np
import pytest

import pliant as pl
from pliant.constraints.blocks import FEWEST, ROWS_OF_BLOCK

R = 0.01


def column():
    """So many spheres on top of each other, in touch and at random velocities, that their constraints are in blocks."""
    scene, random = pl.Scene(), np.random.default_rng(1)
    points = pl.shapes.packed_spheres((16 * R, 16 * R, 1500 * R), radius=R, spacing=1.01)
    grains = scene.add_particles(points, radius=R, friction=0.4)
    grains.set_velocities(0.1 * random.normal(size=points.shape))
    scene.add_container((0, 0, 0), (17 * R, 17 * R, 1502 * R), friction=0.4)
    return scene


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_waves_have_the_same_bits(pose, threads):
    relaxation = pl.ImprovedJacobi()
    solver = pl.VelocityTimeStepping(relaxation, iterations=9)
    waves, plain = pose(column(), solver, threads, "single"), pose(column(), solver, 1, "single")
    assert waves.count > FEWEST * ROWS_OF_BLOCK
    assert waves.blocks.numbers[0] == -(-waves.count // ROWS_OF_BLOCK)
    plain.blocks.numbers[:] = 1
    for problem in (waves, plain):
        relaxation.iterate(problem, 7)
        relaxation.iterate(problem, 2)
    assert np.array_equal(waves.bodies.velocity, plain.bodies.velocity)
    assert np.array_equal(waves.rows.impulse[: waves.count], plain.rows.impulse[: plain.count])
    for problem in (waves, plain):  # what a step begins with pushes vertices block by block too
        before = problem.bodies.velocity.copy()
        problem.prepare(0.5, keeps_lists=True, is_warm=True)
        assert np.abs(problem.bodies.velocity - before)[:, :3].max() > 1e-3
    assert np.array_equal(waves.bodies.velocity, plain.bodies.velocity)


def test_each_vertex_is_pushed_after_its_last_block(pose):
    """Every vertex is in the order once, among those of the block of its last constraint, and iterations are farther
    apart than its first and last one are.
    """
    problem = pose(column(), pl.VelocityTimeStepping(), 1, "single")
    vertices = problem.rows.vertices[: problem.count, :2]
    block = np.repeat(np.arange(problem.count) // ROWS_OF_BLOCK, 2)[vertices.ravel() >= 0]
    own, n = vertices.ravel()[vertices.ravel() >= 0], len(problem.bodies.inverse_mass)
    first, last = np.full(n, problem.count), np.zeros(n, int)
    np.minimum.at(first, own, block)
    np.maximum.at(last, own, block)
    count, skew = problem.blocks.numbers
    assert np.array_equal(np.sort(problem.bodies.order), np.arange(n))
    starts = problem.blocks.vertices[: count + 1]
    assert np.array_equal(last[problem.bodies.order], np.repeat(np.arange(count), np.diff(starts)))
    assert skew == (last - first)[first <= last].max() + 1
