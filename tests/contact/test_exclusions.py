"""Contact off where the user says so."""

import numpy as np

import pliant as pl

LAW = pl.StableNeoHookean.from_young(1e5, 0.3)


def overlapping(self_contact: bool = True) -> tuple[pl.Scene, list[pl.Body]]:
    """Two cubes that overlap by 2 cm."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact(stiffness=1e3, self_contact=self_contact)
    mesh = pl.shapes.box((0.1,) * 3, (2, 2, 2))
    return scene, [scene.add_solid(mesh.transformed(translation=(0.011, 0.007, z)), LAW) for z in (0, 0.08)]


def count(scene: pl.Scene) -> int:
    return pl.Simulation(scene, pl.VBD(iterations=1)).problem().contacts.count


def test_bodies_overlap_by_default() -> None:
    scene, _ = overlapping()
    assert count(scene) >= 9


def test_a_pair_of_bodies_can_ignore_each_other() -> None:
    scene, (one, other) = overlapping()
    scene.ignore_contact(one, other)
    assert count(scene) == 0


def test_vertices_can_touch_nothing() -> None:
    """No contact names one of them, obstacles included."""
    scene, (one, other) = overlapping()
    scene.add_plane((0, 0, -0.04), (0, 0, 1))
    one.ignore_contact(one.positions[:, 2] < 0)
    other.ignore_contact(np.arange(other.n_vertices))
    assert count(scene) == 0


def test_neighbours_do_not_touch_and_self_contact_can_be_off() -> None:
    """A folded sheet touches itself, never a triangle of its own vertices, and not at all if told so."""
    mesh = pl.shapes.cloth((1.0, 0.3), (10, 3))
    x = mesh.points.copy()
    upper = x[:, 0] > 0.01
    x[upper] = np.column_stack([0.013 - x[upper, 0], x[upper, 1] + 0.011, np.full(upper.sum(), 5e-4)])
    counts = []
    for self_contact in (True, False):
        scene = pl.Scene(gravity=(0, 0, 0))
        scene.contact = pl.Contact(stiffness=1e3, thickness=1e-3, self_contact=self_contact)
        scene.add_cloth(mesh, LAW, density=0.2).set_positions(x)
        contacts = pl.Simulation(scene, pl.VBD(iterations=1)).problem().contacts
        counts.append(contacts.count)
        if self_contact:
            for corners in contacts.contacts.vertices:
                assert len(set(corners)) == 4
    assert counts[0] > 20
    assert counts[1] == 0
