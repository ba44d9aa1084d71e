"""Sheets under tension: what Young's modulus and Poisson's ratio mean."""

import numpy as np
import pytest

import pliant as pl

E, LENGTH, WIDTH, FORCE = 1e3, 1.0, 0.4, 0.04  # [N/m], [m], [m], [N]


def pulled_strip(material):
    """Strain along and across a strip that is pulled at one end, the other free to slide across."""
    mesh = pl.shapes.cloth((LENGTH, WIDTH), (5, 2))
    scene = pl.Scene(gravity=(0, 0, 0))
    strip = scene.add_cloth(mesh, material, bending=0.0)
    x, y = mesh.points[:, 0], mesh.points[:, 1]
    left, right = np.isclose(x, -LENGTH / 2), np.isclose(x, LENGTH / 2)
    corner = left & np.isclose(y, y.min())
    strip.pin(corner)
    strip.constrain_to_line(left & ~corner, (0, 1, 0))
    strip.constrain_to_plane(~left, (0, 0, 1))
    share = np.where(right, np.where(np.isclose(np.abs(y), WIDTH / 2), 0.5, 1.0), 0.0)
    forces = np.outer(share / share.sum(), [FORCE, 0, 0])
    strip.add_force(lambda positions, v, t: forces)
    found = pl.equilibrium(scene, tolerance=1e-9)
    along = found.displacements[right, 0].mean() / LENGTH
    top, bottom = np.isclose(y, WIDTH / 2), np.isclose(y, -WIDTH / 2)
    return along, (found.displacements[top, 1].mean() - found.displacements[bottom, 1].mean()) / WIDTH


@pytest.mark.parametrize(("poissons_ratio", "stiffer"), [(0.3, 1 / 0.91), (0.45, 1 / 0.7975)])
def test_plane_stress_gives_young_and_poisson(poissons_ratio, stiffer):
    """Strain F / (E w) and -nu times that, which is what from_young means in a sheet; with mu and lam a sheet is plane
    strain, stiffer by 1 / (1 - nu^2).
    """
    material = pl.StableNeoHookean.from_young(E, poissons_ratio)
    strain = FORCE / (E * WIDTH)
    along, across = pulled_strip(material)
    assert along == pytest.approx(strain, rel=5e-4)
    assert across == pytest.approx(-poissons_ratio * strain, rel=5e-4)
    assert pulled_strip(pl.plane_stress(material)) == (along, across)
    by_lame = pl.StableNeoHookean(material.mu, material.lam)
    assert pulled_strip(by_lame)[0] == pytest.approx(strain / stiffer, rel=5e-4)
    assert pulled_strip([material] * 20) == pytest.approx((along, across), rel=1e-9)


def test_auxetic_sheets_are_refused_in_words():
    with pytest.raises(pl.MaterialError, match=r"Poisson's ratio is -0\.6: sheets need one above -0\.5"):
        pl.Scene().add_cloth(pl.shapes.cloth(cells=(1, 1)), pl.StableNeoHookean.from_young(1e3, -0.6))


def test_laws_without_lam_are_refused():
    with pytest.raises(pl.MaterialError, match="give a law with mu and lam"):
        pl.plane_stress(pl.ARAP(1.0))


def clamped_plate(cells, size):
    """Sag of a square plate of 1 m and unit rigidity per unit of pressure, in a sheet of `size` [m], clamped all
    around, over that of Timoshenko and Woinowsky-Krieger, Theory of Plates and Shells, Table 35: 0.00126 q a^4 / D.
    """
    mesh = pl.shapes.cloth((size, size), (cells, cells))
    scene = pl.Scene(gravity=(0, 0, -1e-4))
    sheet = scene.add_cloth(mesh, pl.StVenantKirchhoff.from_young(1e5, 0.0), density=1.0, bending=1.0, name="plate")
    rim = np.isclose(np.abs(mesh.points[:, :2]).max(axis=1), size / 2)
    sheet.pin(rim, clamped=True)
    found = pl.equilibrium(scene)
    sheet.free(rim)
    assert not sheet.clamps
    return -found.displacements[:, 2].min() / 0.001265e-4


def test_a_clamped_plate_bends_from_the_middle_between_the_rows_that_are_held(caplog):
    """Half a cell longer at each rim it sags as a plate does; not otherwise, of which a note tells."""
    assert clamped_plate(20, 20 / 19) == pytest.approx(1, abs=0.01)
    assert caplog.text.count("plate is clamped by two rows of vertices") == 1
    assert clamped_plate(20, 1.0) == pytest.approx(0.81, abs=0.01)
    assert clamped_plate(10, 10 / 9) == pytest.approx(0.963, abs=0.005)
    assert (
        "plate is clamped by two rows of vertices and bends from the middle between them, 0.025 m inside" in caplog.text
    )
