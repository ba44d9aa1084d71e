"""Rigid bodies that only contacts join are solved in lanes: the same bits on any threads, the same minimum."""

import numpy as np
import pytest

import pliant as pl
from pliant.kernels.rigid_contacts import COLUMNS, MOST_COLOURS, PRESSED, RUBBED
from pliant.kernels.rigid_packs import WIDTH
from pliant.solvers.machinery.rigid_contact_work import RigidContactWork


def heap(threads: int = 1, solver: pl.AVBD | None = None) -> pl.Simulation:
    """Thirty boxes of three sizes in two heaps, a ball that rolls and one that falls by itself."""
    scene = pl.Scene(contact=pl.Contact(friction=0.5))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    random = np.random.default_rng(3)
    for k in range(30):
        size = 0.2 + 0.05 * (k % 3)
        place = (5.0 * (k % 2) + 0.32 * (k // 2 % 2), 0.32 * (k // 4 % 2), 0.3 + 0.55 * (k // 8))
        turn = random.normal(size=4)
        scene.add_rigid(pl.Box((size, size, size)), position=place, orientation=turn / np.linalg.norm(turn))
    scene.add_rigid(pl.Sphere(0.1), position=(-3, 0, 0.1), velocity=(1, 0, 0))
    scene.add_rigid(pl.Sphere(0.1), position=(-5, 0, 9))
    return pl.Simulation(scene, solver, frame_rate=300, substeps=1, threads=threads)


def work_after(sim: pl.Simulation, steps: int) -> RigidContactWork:
    for _ in range(steps):
        sim.step()
    assert isinstance(sim._work, RigidContactWork)
    return sim._work


def test_every_body_is_in_one_pack_with_all_its_contacts() -> None:
    work = work_after(heap(), 80)
    table, packs = work.table, work.packs
    assert table is not None
    assert packs is not None
    members = packs.members.reshape(-1, WIDTH)
    assert sorted(members[members >= 0]) == list(range(len(table.order)))
    sides = np.stack([table.first, table.second], axis=1)
    colours = np.searchsorted(packs.colour_start, np.arange(len(members)), side="right") - 1
    colour_of = np.empty(len(table.order), int)
    for p, lane in zip(*np.nonzero(members >= 0), strict=True):
        b = members[p, lane]
        colour_of[b] = colours[p]
        rows = packs.rows.reshape(-1, WIDTH)[packs.slot_start[p] : packs.slot_start[p + 1], lane] // COLUMNS
        assert sorted(rows[rows < len(sides)]) == sorted(np.flatnonzero((sides == b).any(axis=1)))
    between = (sides >= 0).all(axis=1)
    assert between.any()
    assert colours.max() < MOST_COLOURS - 1
    assert (colour_of[sides[between, 0]] != colour_of[sides[between, 1]]).all()


def test_any_number_of_threads_gives_the_same_bits() -> None:
    states = []
    for threads in (1, 2, 3):
        sim = heap(threads)
        work_after(sim, 70)
        states.append(sim.state)
    for state in states[1:]:
        np.testing.assert_array_equal(state.poses, states[0].poses)
        np.testing.assert_array_equal(state.twists, states[0].twists)


def test_what_iterations_end_with_is_the_minimum_of_the_step() -> None:
    """A wall of ten bricks at rest: the residual by the NumPy energy is below 1e-6 g."""
    scene = pl.Scene(contact=pl.Contact(friction=0.5))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    for row in range(4):
        for k in range(4 - row):
            scene.add_rigid(pl.Box((1, 0.5, 0.5)), position=(1.02 * (k + 0.5 * row), 0, 0.25 + 0.5 * row))
    sim = pl.Simulation(scene, pl.AVBD(iterations=400, tolerance=1e-8), frame_rate=300, substeps=1)
    for _ in range(3):
        report = sim.step()
    assert report.converged
    assert report.residual < 1e-6 * 9.81


@pytest.mark.slow
def test_multipliers_die_out_before_numbers_lose_their_digits() -> None:
    """Below 1e-308 a CPU computes a hundred times slower."""
    work = work_after(heap(), 200)
    assert work.table is not None
    own = np.abs(work.table.numbers[:, RUBBED : PRESSED + 1])
    assert not ((own > 0) & (own < 1e-99)).any()
