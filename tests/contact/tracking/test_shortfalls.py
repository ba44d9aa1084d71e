"""What starts nearer than the distance it should keep keeps the gap it has, and gains no energy (decision 0134)."""

import numpy as np
import pytest

import pliant as pl
from pliant.contact.contact_set import ContactSet, pair_contacts
from pliant.contact.tracking.pressing import SLOWLY, TOUCHING, Pushes, start_with_offset
from pliant.contact.tracking.shortfalls import no_shortfalls, shortfalls_of
from pliant.elements.closest import VERTEX_TRIANGLE

SIDE, DENSITY = 0.1, 1000.0


def at_heights(heights: np.ndarray, thickness: float) -> tuple[ContactSet, np.ndarray]:
    """Contacts of vertices at some heights [m] over the middle of a triangle, and positions."""
    k = len(heights)
    x = np.array([[-1.0, -1, 0], [2, -1, 0], [-1, 2, 0], *([0, 0, z] for z in heights)])
    vertices = np.column_stack([3 + np.arange(k), np.zeros(k), np.ones(k), np.full(k, 2)]).astype(np.int32)
    weights = np.tile([1.0, -1 / 3, -1 / 3, -1 / 3], (k, 1))
    normals = np.tile([0.0, 0, 1], (k, 1))
    return pair_contacts(VERTEX_TRIANGLE, vertices, weights, normals, np.full(k, thickness), np.ones(k)), x


def test_contacts_begin_at_the_gap_they_have_and_only_overlaps_are_pushed_out() -> None:
    """Of a thickness of 10 mm: at 4 mm they keep 4 mm; overlapping by 0.1 mm they are pushed by a part of the push; in
    the next step they have what they had, pressing or open; at 11 mm they have no shortfall any more.
    """
    thickness, push, edge = 0.01, 1e-3, 1.0
    contacts, x = at_heights(np.array([0.004, -1e-4, 0.011]), thickness)
    values = np.full(3, np.inf)
    pushes = Pushes(np.full(3, push), np.full(3, edge))
    start_with_offset(contacts, x, np.zeros(3), pushes, (values, np.zeros(3, bool)))
    pushed = push * (1e-4 + TOUCHING * thickness) / (SLOWLY * edge)
    assert contacts.thickness == pytest.approx([0.004, -1e-4 + pushed, 0.01])
    assert values == pytest.approx([0.006, 0.0101 - pushed, 0.0])
    known = shortfalls_of(contacts, values)
    assert len(known.ids) == 2
    for height, left in ((0.0035, 0.006), (0.007, 0.006), (0.011, 0.0)):
        later, x = at_heights(np.array([height, 0.005, 0.005]), thickness)
        again, is_known = known.known_of(later, np.zeros(3))
        assert is_known.tolist() == [True, True, False]
        start_with_offset(later, x, np.zeros(3), Pushes(np.zeros(3), np.full(3, edge)), (again, is_known))
        assert again[0] == pytest.approx(left)


def test_nothing_is_known_of_other_contacts() -> None:
    contacts, _ = at_heights(np.array([0.004]), 0.01)
    values, is_known = no_shortfalls().known_of(contacts, np.array([2e-3]))
    assert values == pytest.approx(2e-3)
    assert not is_known.any()


def tower(gap: float) -> pl.Scene:
    """Three cubes of 1 kg over each other."""
    scene = pl.Scene(contact=pl.Contact(friction=0.5))
    scene.add_plane()
    for k in range(3):
        mesh = pl.shapes.box((SIDE,) * 3, (2, 2, 2)).transformed(translation=(0, 0, (k + 0.5) * SIDE + k * gap))
        scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e6, 0.3), density=DENSITY)
    return scene


def largest_rise(scene: pl.Scene, steps: int) -> tuple[pl.Simulation, float]:
    """The simulation after some steps, and by how much the energy rose above its lowest so far [J]."""
    sim = pl.Simulation(scene, threads=1)
    lowest, rise = sim.energies()["total"], 0.0
    for _ in range(steps):
        sim.step()
        total = sim.energies()["total"]
        lowest, rise = min(lowest, total), max(rise, total - lowest)
    return sim, rise


@pytest.mark.parametrize(("gap", "lift"), [(0.0, 0.0), (5e-4, 0.0), (-1e-4, 3e-4)])
def test_cubes_that_start_within_their_clearance_gain_no_energy(gap: float, lift: float) -> None:
    """Rises stay below a thousandth of m g side, but for the work of lifting cubes out of each other."""
    sim, rise = largest_rise(tower(gap), 60)
    assert rise < DENSITY * SIDE**3 * 9.81 * (1e-3 * SIDE + lift)
    if gap >= 0:
        assert len(sim.intersections().crossing) == 0


@pytest.mark.parametrize("gap", [0.0, 1e-3])
def test_cloth_that_starts_flush_on_a_box_stays_there(gap: float) -> None:
    """128 g that rise by less than 2 mm in energy, where 1.1 J were gained; they stay where they were put, to 1 mm of a
    thickness of 4.6: edges that start on edges have no side.
    """
    scene = pl.Scene(contact=pl.Contact(friction=0.5))
    scene.add_rigid(pl.Box((1, 1, 0.4)), position=(0, 0, 0.2)).pin()
    mesh = pl.shapes.cloth((0.8, 0.8), (10, 10)).transformed(translation=(0.013, 0.007, 0.4 + gap))
    cloth = scene.add_cloth(mesh, pl.StableNeoHookean(mu=2000.0, lam=2000.0), density=0.2)
    _, rise = largest_rise(scene, 30)
    assert rise < 0.128 * 9.81 * 2e-3
    assert np.abs(cloth.positions[:, 2] - 0.4 - gap).max() < 1e-3
