"""Membranes and fibres in uniform stretch, against closed forms in the principal stretches."""

import numpy as np
import pytest

import pliant as pl
from pliant.elements import fibre, reference, triangle
from pliant.elements.fibre import FIBRE, Fibres
from pliant.energies import triangles
from pliant.materials import SOLID_LAWS

SIZE = (0.8, 0.5)
every_law = pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)


@pytest.fixture(scope="module")
def sheet() -> pl.TriMesh:
    return pl.shapes.cloth(SIZE, (4, 3))


def membrane(sheet: pl.TriMesh, law, x: np.ndarray) -> tuple[float, np.ndarray]:
    """Energy [J] and its gradient (n, 3) [N]."""
    gradients, areas, _ = triangle.rest_data(sheet.points, sheet.triangles)
    parameters = np.tile(law.parameters, (len(areas), 1))
    data = (x, sheet.triangles, gradients, areas, type(law), parameters)
    total = np.zeros_like(x)
    np.add.at(total, sheet.triangles, triangles.gradient(*data))
    return triangles.energy(*data).sum(), total


def edge_force(sheet: pl.TriMesh, gradient: np.ndarray, axis: int) -> float:
    """Pull across one side of the sheet per metre of rest width [N/m]."""
    side = sheet.points[:, axis] > SIZE[axis] / 2 - 1e-9
    return gradient[side, axis].sum() / SIZE[1 - axis]


@every_law
@pytest.mark.parametrize("stretches", [(1.3, 1.0), (0.8, 1.2), (1.1, 0.7), (1.25, 1.4)])
def test_biaxial_stress(law, stretches, sheet: pl.TriMesh, nominal_stress) -> None:
    """The stress of the solid whose third stretch is 1, in both directions."""
    own = law.from_young(120.0, 0.0 if law is pl.ARAP else 0.3)
    l1, l2 = stretches
    _, gradient = membrane(sheet, own, sheet.points * (l1, l2, 1))
    stress = nominal_stress[law.__name__]
    assert edge_force(sheet, gradient, 0) == pytest.approx(stress(l1, l2, 1.0, *own.parameters), rel=1e-9)
    assert edge_force(sheet, gradient, 1) == pytest.approx(stress(l2, l1, 1.0, *own.parameters), rel=1e-9)


def test_st_venant_kirchhoff_is_its_two_dimensional_self(sheet: pl.TriMesh) -> None:
    """psi = mu tr E^2 + lam/2 (tr E)^2 with the 2x2 Green strain of any deformation, out of the plane too."""
    law = pl.StVenantKirchhoff(mu=30.0, lam=20.0)
    A = np.array([[1.1, 0.3], [-0.2, 0.9], [0.5, 0.1]])
    E = (A.T @ A - np.eye(2)) / 2
    expected = (30.0 * np.sum(E * E) + 10.0 * np.trace(E) ** 2) * SIZE[0] * SIZE[1]
    energy, _ = membrane(sheet, law, sheet.points[:, :2] @ A.T)
    assert energy == pytest.approx(expected, rel=1e-13)


def test_pulled_sheet_narrows_as_poisson_says() -> None:
    """Small uniaxial pull: in two dimensions E = 4 mu (mu + lam) / (2 mu + lam), nu = lam / (2 mu + lam)."""
    sheet, law, pull = pl.shapes.cloth(SIZE, (2, 2)), pl.StVenantKirchhoff(mu=30.0, lam=20.0), 1e-6
    nu = 20.0 / 80.0
    x = sheet.points * (1 + pull, 1 - nu * pull, 1)
    _, gradient = membrane(sheet, law, x)
    assert edge_force(sheet, gradient, 0) == pytest.approx(4 * 30 * 50 / 80 * pull, rel=1e-5)
    assert abs(edge_force(sheet, gradient, 1)) < 1e-4 * 75 * pull


@pytest.mark.parametrize("stretch", [0.6, 1.0, 1.4])
def test_fibre_pulls_along_itself_only(stretch: float, sheet: pl.TriMesh) -> None:
    """Force k l (l^2 - 1) / 2 a metre along the warp; stretching the weft costs nothing; shear turns it for nothing."""
    k = 40.0
    slopes = fibre.rest_data(sheet.points, sheet.triangles, np.array([1.0, 0, 0]))
    _, areas, _ = triangle.rest_data(sheet.points, sheet.triangles)
    fibres = Fibres(sheet.triangles, slopes, k * areas)
    x = sheet.points * (stretch, 1.7, 1)
    gradient = np.zeros_like(x)
    np.add.at(gradient, sheet.triangles, reference.gradients(FIBRE, fibres, x))
    assert edge_force(sheet, gradient, 0) == pytest.approx(k * stretch * (stretch**2 - 1) / 2, abs=1e-11)
    assert np.abs(gradient[:, 1:]).max() < 1e-12
    energy = reference.energies(FIBRE, fibres, x).sum()
    assert energy == pytest.approx(k / 8 * (stretch**2 - 1) ** 2 * SIZE[0] * SIZE[1], abs=1e-12)


def test_compressed_membrane_wants_to_buckle(sheet: pl.TriMesh) -> None:
    """The exact Hessian has a negative direction across the sheet, the vertex blocks have none."""
    gradients, areas, _ = triangle.rest_data(sheet.points, sheet.triangles)
    parameters = np.tile((30.0, 20.0), (len(areas), 1))
    data = (sheet.points * (0.9, 0.9, 1), sheet.triangles, gradients, areas, pl.StVenantKirchhoff, parameters)
    exact = triangles.hessian(*data).reshape(-1, 3, 3, 3, 3)[:, 0, :, 0]
    blocks = triangles.vertex_blocks(*data)[:, 0]
    strain = (0.9**2 - 1) / 2
    tension = 2 * 30.0 * strain + 20.0 * 2 * strain  # second Piola-Kirchhoff stress, alike in both directions
    expected = areas * tension * np.sum(gradients[:, 0] ** 2, axis=1)
    np.testing.assert_allclose(exact[:, 2, 2], expected, rtol=1e-12)
    np.testing.assert_allclose(blocks[:, 2, 2], 0, atol=1e-12)
    np.testing.assert_allclose(blocks[:, :2, :2], exact[:, :2, :2], rtol=1e-12, atol=1e-12)
