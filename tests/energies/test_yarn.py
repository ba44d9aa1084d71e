"""Yarn cloth: strains, energy and derivatives by finite differences, rigid motion, and the authors' own numbers."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.elements.yarn_strains import yarn_strains
from pliant.elements.yarn_triangle import YarnTriangles, rest_gradients, wings
from pliant.elements.yarn_views import (
    add_known_around,
    add_known_corner,
    add_known_wing,
    add_yarn_corner,
    add_yarn_wing,
    of_wing,
    stiffened,
    taylor,
)
from pliant.energies import yarn
from pliant.kernels.yarn_lists import yarn_around, yarn_incidences

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "hylc"
needs_data = pytest.mark.skipif(not DATA.exists(), reason="the data of Sperl et al. is not here")
STRAINS = ("sx-1", "sa", "sy-1", "IIxx", "IIxy", "IIyy")


@pytest.fixture(scope="module")
def sheet():
    """A curved sheet of 3 x 3 cells with free edges, and positions bent and noisy; edges of 5 mm."""
    mesh = pl.shapes.cloth(size=(0.015, 0.015), cells=(3, 3))
    triangles = mesh.triangles
    across, present = wings(triangles)
    warp = np.tile([1.0, 0.3, 0.0], (len(triangles), 1))
    gradients = rest_gradients(mesh.points, triangles, warp)
    elements = np.concatenate([triangles, across], axis=1)
    block = YarnTriangles(elements, pl.YarnCloth.example(), gradients, mesh.areas, present.astype(float))
    rng = np.random.default_rng(1)
    x = mesh.points * [1.1, 0.9, 1.0]
    x[:, 2] = 30 * x[:, 0] ** 2 - 20 * x[:, 1] ** 2 + 15 * x[:, 0] * x[:, 1]
    return block, x + 4e-4 * rng.normal(size=x.shape)


def test_free_edges_have_no_wing(sheet):
    block, _ = sheet
    free = (block.present == 0).sum()
    assert free == 12  # of the boundary
    assert (block.elements[:, 3:][block.present == 0] == block.elements[:, :3][block.present == 0]).all()


def test_strains_of_a_parabola_are_its_curvatures():
    """z = k x^2 / 2 has II_xx = k (FORMAT: positive), II_yy = 0, on a fine sheet that stays nearly flat."""
    mesh = pl.shapes.cloth(size=(0.1, 0.1), cells=(20, 20))
    across, present = wings(mesh.triangles)
    gradients = rest_gradients(mesh.points, mesh.triangles, np.tile([1.0, 0, 0], (len(mesh.triangles), 1)))
    elements = np.concatenate([mesh.triangles, across], axis=1)
    block = YarnTriangles(elements, pl.YarnCloth.example(), gradients, mesh.areas, present.astype(float))
    x = mesh.points.copy()
    x[:, 2] = 0.5 * 0.8 * x[:, 0] ** 2 - 0.5 * 0.5 * x[:, 1] ** 2
    s, _ = yarn.strains(block, x)
    inside = block.present.all(axis=1)
    # one triangle sees slopes over its own wings: the mean over the two triangles of a cell is the curvature
    assert s[inside, 3].mean() == pytest.approx(0.8, rel=0.02)
    assert s[inside, 5].mean() == pytest.approx(-0.5, rel=0.02)
    assert abs(s[inside, 4].mean()) < 0.01


def test_gradients_of_every_strain(sheet):
    block, x = sheet
    _, S = yarn.strains(block, x)
    corners = x[block.elements]
    own = YarnTriangles(
        np.arange(6 * len(corners)).reshape(-1, 6), block.material, block.gradients, block.areas, block.present
    )
    flat = corners.reshape(-1, 3)
    h = 1e-9
    for corner in range(6):
        for axis in range(3):
            moved = flat.reshape(-1, 6, 3).copy()
            moved[:, corner, axis] += h
            plus = yarn.strains(own, moved.reshape(-1, 3))[0]
            moved[:, corner, axis] -= 2 * h
            minus = yarn.strains(own, moved.reshape(-1, 3))[0]
            measured = (plus - minus) / (2 * h)
            scale = np.abs(S).max(axis=(0, 2, 3))
            assert (np.abs(measured - S[:, :, corner, axis]).max(axis=0) / scale).max() < 1e-6


def test_gradient_and_hessian_of_the_energy(sheet):
    block, x = sheet
    n, h = len(x), 1e-8
    g = yarn.gradient(block, x)
    hessians = yarn.element_hessians(block, x)
    H = np.zeros((n, 3, n, 3))
    for element, own in zip(block.elements, hessians, strict=True):
        for i, one in enumerate(element):
            for j, other in enumerate(element):
                H[one, :, other] += own[i, :, j]
    rng = np.random.default_rng(2)
    for _ in range(4):
        d = rng.normal(size=x.shape)
        slope = (yarn.energy(block, x + h * d) - yarn.energy(block, x - h * d)) / (2 * h)
        assert slope == pytest.approx(float(np.sum(g * d)), rel=1e-6)
        change = (yarn.gradient(block, x + h * d) - yarn.gradient(block, x - h * d)) / (2 * h)
        assert np.abs(change - np.einsum("iajb,jb->ia", H, d)).max() < 1e-5 * np.abs(change).max()


def test_rigid_motion_changes_nothing(sheet):
    block, x = sheet
    R = Rotation.random(random_state=3).as_matrix()
    moved = x @ R.T + [0.3, -2.0, 1.0]
    assert yarn.energy(block, moved) == pytest.approx(yarn.energy(block, x), rel=1e-11)
    g = yarn.gradient(block, x)
    assert np.abs(yarn.gradient(block, moved) - g @ R.T).max() < 1e-9 * np.abs(g).max()
    assert np.abs(g.sum(axis=0)).max() < 1e-12 * np.abs(g).max()
    assert np.abs(np.cross(x, g).sum(axis=0)).max() < 1e-12 * np.abs(g).max()


def test_forces_of_views_are_the_gradient_and_blocks_are_never_indefinite(sheet):
    block, x = sheet
    forces, _ = yarn.forces_and_blocks(block, x)
    blocks = yarn.vertex_blocks(block, x)
    g = np.zeros_like(x)
    np.add.at(g, block.elements, -forces)
    assert np.abs(g - yarn.gradient(block, x)).max() < 1e-12 * np.abs(g).max()
    assert np.linalg.eigvalsh(blocks).min() > -1e-9 * np.abs(blocks).max()


def test_what_sweeps_keep_of_psi_gives_the_same_forces_and_blocks(sheet):
    """At the strains where psi was expanded, r and psi'' are all that corners and wings need."""
    block, x = sheet
    corners = tuple(tuple(x[block.elements[:, i]].T) for i in range(6))
    b = [tuple(block.gradients[:, i].T) for i in (1, 2)]
    numbers = (*b, block.areas, tuple(block.present.T))
    s, _ = yarn_strains(corners, *b, tuple(block.present.T))
    none, table = ((0.0,) * 3, (0.0,) * 6), block.material.table()
    r, h = taylor(table, s)
    own = (-(b[0][0] + b[1][0]), -(b[0][1] + b[1][1]))
    cases = [(add_known_corner, (r, h), add_yarn_corner), (add_known_wing, of_wing(own, *b, r, h), add_yarn_wing)]
    for known, kept, exact in cases:
        for one, other in zip(
            known(*none, corners, *numbers, kept), exact(*none, corners, *numbers, table), strict=True
        ):
            expected = np.stack([value + np.zeros(len(block.areas)) for value in other])
            np.testing.assert_allclose(np.stack(one), expected, atol=1e-9 * np.abs(expected).max())


def columns(numbers):
    """b_1, b_2, A and where there are wings, of rows of eight."""
    return tuple(numbers[:, :2].T), tuple(numbers[:, 2:4].T), numbers[:, 4], tuple(numbers[:, 5:8].T)


def test_every_wing_is_across_from_a_corner(sheet):
    block, _ = sheet
    around, own, across = yarn_around(block)
    corners, wings_of = yarn_incidences(block)
    assert (around.owner == corners.owner).all()
    assert (around.others[:, :5] == corners.others).all()
    assert (own == 3 * np.tile(np.arange(len(block.areas)), 3) + np.repeat([0, 1, 2], len(block.areas))).all()
    there = around.constants[:, 12] > 0  # the area across
    assert there.sum() == len(wings_of.owner) == block.present.sum()
    assert len(np.unique(across[there])) == there.sum()
    assert (around.constants[~there, 8:] == 0).all()
    triangle, k = np.divmod(across[there], 3)
    assert (block.elements[triangle, 3 + k] == around.owner[there]).all()
    assert (around.constants[there, 12] == block.areas[triangle]).all()


def test_wings_that_are_no_neighbours_are_refused(sheet):
    block, _ = sheet
    elements = block.elements.copy()
    edge = np.argwhere(block.present > 0)[0]
    elements[edge[0], 3 + edge[1]] = elements[edge[0], edge[1]]
    other = YarnTriangles(elements, block.material, block.gradients, block.areas, block.present)
    with pytest.raises(ValueError, match="neighbours"):
        yarn_around(other)


def test_a_triangle_and_the_one_across_share_their_crease(sheet):
    """What both add to the vertex between which they lie is what corner and wing add one by one."""
    block, x = sheet
    around, _, _ = yarn_around(block)
    there = around.constants[:, 12] > 0
    owner, others, numbers = around.owner[there], around.others[there], around.constants[there]
    at = [tuple((x[others[:, i]] - x[owner]).T) for i in range(7)]
    origin = tuple(np.zeros((3, len(owner))))
    corners, neighbour = (origin, *at[:5]), (at[2], at[1], at[0], origin, at[5], at[6])
    mine = columns(numbers[:, :8])
    theirs = columns(np.column_stack([numbers[:, 8:13], np.ones(len(owner)), numbers[:, 13:]]))
    rng = np.random.default_rng(3)
    known = tuple(rng.normal(size=(6, len(owner)))), tuple(rng.normal(size=(21, len(owner))))
    wing = tuple(rng.uniform(0.5, 1.0, (6, len(owner)))), rng.normal(size=len(owner))
    f, Y, H = (0.0,) * 3, (0.0,) * 6, (0.0,) * 6
    f, Y = add_known_corner(f, Y, corners, *mine, known)
    f, H = add_known_wing(f, H, neighbour, *theirs, wing)
    found = add_known_around((0.0,) * 3, (0.0,) * 6, (0.0,) * 6, corners, mine, neighbour, theirs, known, wing)
    for one, expected in zip(found, (f, Y, H), strict=True):
        np.testing.assert_allclose(np.stack(one), np.stack(expected), atol=1e-10 * np.abs(np.stack(expected)).max())


def test_strains_change_by_a_twentieth_of_their_scale_where_psi_is_linear():
    """Beyond the knots psi'' is zero, and the diagonal is the slope over that part; near rest it is psi'' itself."""
    cloth = pl.YarnCloth.example()
    diagonal = np.cumsum([0, 6, 5, 4, 3, 2])
    far, near = np.zeros((1, 6)), np.full((1, 6), 1e-5)
    far[0, 0] = 5.0
    for s in (far, near):
        gradient, hessian = (each[0] for each in cloth.derivatives(s))
        upper = hessian[np.triu_indices(6)]
        raised = np.array(stiffened(cloth.table(), tuple(gradient), tuple(upper)))
        others = np.setdiff1d(np.arange(21), diagonal)
        assert (raised[others] == upper[others]).all()
        if s is far:
            assert upper[0] == pytest.approx(0.0, abs=1e-9)
            assert gradient[0] / raised[0] == pytest.approx(cloth.scales[0] / 20)
        else:
            assert (raised[diagonal[:3]] == upper[diagonal[:3]]).all()


def uncurled(term: dict) -> dict:
    """A term of bending, u^2, that is least where the sheet is flat."""
    u = np.array(term["t"])
    return {**term, "p": (u**2).tolist(), "m": (2 * u).tolist()}


def test_blocks_of_corners_are_exact_where_the_sheet_is_flat_and_stretched(sheet):
    """There the second derivatives of the curvatures, which blocks leave out, are multiplied by zero; by so little that
    slopes are small and psi'' is not stiffened.
    """
    block, _ = sheet
    document = {**block.material.document}
    lines = [term if term["k"] < 3 else uncurled(term) for term in document["coeffs"]["1D"]]
    surfaces = [term for term in document["coeffs"]["2D"] if term["k1"] < 3]
    document["coeffs"] = {**document["coeffs"], "1D": lines, "2D": surfaces}
    cloth = pl.YarnCloth.from_document(document)
    straight = YarnTriangles(block.elements, cloth, block.gradients, block.areas, block.present)
    flat = pl.shapes.cloth(size=(0.015, 0.015), cells=(3, 3)).points * [1.015, 1.01, 0.0]
    own = yarn.element_hessians(straight, flat)
    _, blocks = yarn.forces_and_blocks(straight, flat)
    for corner in range(3):
        exact = own[:, corner, :, corner]
        assert np.linalg.eigvalsh(exact).min() > -1e-9
        assert np.abs(blocks[:, corner] - exact).max() < 1e-9 * np.abs(exact).max()


@needs_data
@pytest.mark.parametrize(
    "name", ["basket1", "honey1", "rib1", "rib1_noreg", "satin01", "satin1", "stock01", "stock1", "stock1_bad"]
)
def test_energies_of_the_authors(name):
    rows = [row for row in csv.DictReader((DATA / "oracle_psi.csv").open()) if row["material"] == f"{name}.json"]
    s = np.array([[float(row[key]) for key in STRAINS] for row in rows])
    psi = np.array([float(row["psi"]) for row in rows])
    slopes = ("d_sx", "d_sa", "d_sy", "d_IIxx", "d_IIxy", "d_IIyy")
    expected = np.array([[float(row[key]) for key in slopes] for row in rows])
    cloth = pl.YarnCloth(DATA / "materials" / f"{name}.json")
    assert np.abs(cloth.energy_density(s) - psi).max() < 1e-9
    gradient, _ = cloth.derivatives(s)
    # at II = 0 the authors' gradient is the mean of both directions', no derivative of their energy: see below
    curved = np.abs(s[:, 3:]).max(axis=1) > 0
    assert np.abs(gradient - expected)[curved].max() < 1e-9
    flat = expected[~curved]
    mean = gradient[~curved][:, [3, 5]].mean(axis=1)
    assert np.abs(flat[:, [3, 5]] - mean[:, None]).max() < 1e-9


@needs_data
def test_strains_of_the_authors():
    rows = list(csv.DictReader((DATA / "oracle_strain.csv").open()))
    x = np.array([[float(row[f"x{i}{axis}"]) for i in (0, 1, 2, 4, 5, 3) for axis in "xyz"] for row in rows])
    inverse = np.array([[[float(row[f"invDm{i}{j}"]) for j in (0, 1)] for i in (0, 1)] for row in rows])
    present = np.array([[float(row[f"has_n{edge}"]) for edge in ("12", "20", "01")] for row in rows])
    gradients = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)
    elements = np.arange(6 * len(rows)).reshape(-1, 6)
    block = YarnTriangles(elements, pl.YarnCloth.example(), gradients, np.ones(len(rows)), present)
    s, _ = yarn.strains(block, x.reshape(-1, 3))
    expected = np.array([[float(row[key]) for key in ("sx", "sa", "sy", "IIxx", "IIxy", "IIyy")] for row in rows])
    expected[:, [0, 2]] -= 1
    assert np.abs(s - expected).max() < 1e-9
