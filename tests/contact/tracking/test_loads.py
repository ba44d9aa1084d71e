"""Solids keep a clearance; their contacts, and those at obstacles, follow the load that lies on them (decisions 0090
and 0145).
"""

import numpy as np
import pytest

import pliant as pl
from pliant.contact.contact_set import pair_contacts
from pliant.contact.tracking.pressing import AT_OBSTACLES, GROWTH, HELD, STIFFER, Pressed, hold_loads
from pliant.elements.closest import VERTEX_TRIANGLE

SOFT = pl.StableNeoHookean.from_young(1e5, 0.3)


def contacts_of(thickness: np.ndarray):
    count = len(thickness)
    corners = np.zeros((count, 4))
    contacts = pair_contacts(VERTEX_TRIANGLE, corners, corners, corners[:, :3], thickness, np.zeros(count))
    contacts.stiffness[:] = 100.0
    return contacts


def test_a_contact_gets_as_stiff_as_its_load_needs() -> None:
    """By a tenth per step until k d = F within three quarters of the thickness, at most 30 times; it begins with the
    force that it had.
    """
    contacts = contacts_of(np.array([1e-3, 1e-3, 1e-3, 1e-3, 0.0]))
    before = np.array([100.0, 100.0, 2000.0, 2900.0, 100.0])  # [N/m]
    depths = np.array([2e-4, 2e-3, 7.6e-4, 2e-3, 2e-3])
    begins = hold_loads(contacts, Pressed(np.ones(5, bool), depths, before * depths, np.zeros(5)), np.ones(1, bool))
    needed = before[2] * depths[2] / (HELD * 1e-3)
    assert contacts.stiffness == pytest.approx([100.0, GROWTH * 100.0, needed, STIFFER * 100.0, 100.0])
    assert (contacts.stiffness * begins)[1:4] == pytest.approx((before * depths)[1:4])
    assert begins[[0, 4]] == pytest.approx(depths[[0, 4]])


def test_contacts_of_sheets_with_each_other_do_not_follow_their_load() -> None:
    contacts = contacts_of(np.array([1e-3]))
    hold_loads(contacts, Pressed(np.ones(1, bool), np.array([2e-3]), np.array([0.2]), np.zeros(1)), np.zeros(1, bool))
    assert contacts.stiffness == pytest.approx(100.0)


def test_contacts_of_sheets_at_obstacles_follow_their_load() -> None:
    """By twice per step, for no load moves an obstacle; what is touched without a thickness keeps its stiffness."""
    contacts = contacts_of(np.array([1e-3, 0.0]))
    contacts.obstacle[:] = 0
    pressed = Pressed(np.ones(2, bool), np.full(2, 4e-3), np.full(2, 0.4), np.zeros(2))
    begins = hold_loads(contacts, pressed, np.zeros(1, bool))
    assert contacts.stiffness == pytest.approx([AT_OBSTACLES * 100.0, 100.0])
    assert begins == pytest.approx([2e-3, 4e-3])


def test_a_strip_that_is_pulled_over_a_bar_stays_within_its_thickness(caplog: pytest.LogCaptureFixture) -> None:
    """Both ends of a strip of 20 x 5 cm are pulled down by 9 N over a bar of 1 cm radius. Its contacts are chosen with
    791 N/m, which held it 3.5 mm deep; half its thickness is 1.4 mm.
    """
    scene = pl.Scene(gravity=(0, 0, 0), contact=pl.Contact())
    mesh = pl.shapes.cloth((0.2, 0.05), (8, 2))
    strip = scene.add_cloth(mesh, pl.StVenantKirchhoff.from_young(400.0, 0.3), damping=0.005)
    strip.air_damping = 50.0
    scene.add_capsule((0, -0.1, -0.012), (0, 0.1, -0.012), 0.01)
    loads = np.zeros((mesh.n_vertices, 3))
    loads[np.abs(mesh.points[:, 0]) > 0.0999, 2] = -3.0
    strip.add_force(lambda x, v, t: loads * min(t / 0.3, 1))
    sim = pl.Simulation(scene, threads=1)
    deepest = []
    for _ in range(30):
        sim.advance()
        deepest.append(sim.energies()["deepest_penetration"])
    assert max(deepest[-20:]) < 0.05 * float(sim.model.contact.edge[0])  # a tenth of an edge on both sides
    assert not [record for record in caplog.records if record.levelname == "WARNING"]


def test_solids_on_each_other_do_not_intersect() -> None:
    """A tower of three cubes of 1 kg: when it has come to rest they are apart, and contacts between them are pressed
    through less than their clearance, a fiftieth of the mean edge.
    """
    scene = pl.Scene(contact=pl.Contact(damping=0.02))
    for k in range(3):
        mesh = pl.shapes.box((0.1,) * 3, (2, 2, 2)).transformed(translation=(0.003 * k, 0.002 * k, 0.05 + 0.101 * k))
        scene.add_solid(mesh, SOFT, density=1000.0)
    scene.add_plane()
    sim = pl.Simulation(scene, pl.VBD(40))
    for _ in range(150):
        sim.step()
    assert len(sim.intersections().crossing) == 0
    clearance = 2 * float(sim.model.contact.clearance[0])
    assert clearance == pytest.approx(0.02 * float(sim.model.contact.edge[0]))
    between = sim.contacts.obstacles < 0
    assert (between & sim.contacts.presses).sum() >= 18  # nine vertices of each face
    assert sim.contacts.gaps[between].min() > -clearance


def test_a_given_stiffness_leaves_no_clearance() -> None:
    scene = pl.Scene(contact=pl.Contact(stiffness=1e4))
    scene.add_solid(pl.shapes.box((0.1,) * 3, (1, 1, 1)), SOFT)
    assert pl.Simulation(scene, pl.VBD(1)).model.contact.clearance.max() == 0
