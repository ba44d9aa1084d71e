"""Garments: flat panels from UV coordinates, where they are put on, and the seams between them."""

import numpy as np
import pytest

import pliant as pl
from pliant.contact.primitives.shapes import measure
from pliant.errors import MeshError
from pliant.model.distance_field import DistanceField


def tube(around=8, up=3, radius=0.1, height=0.3):
    """A tube of one mesh, and UVs of two panels, front and back, that share no UV: two seams along it."""
    angle = 2 * np.pi * np.arange(around) / around
    rings = [np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.full(around, z)])
             for z in np.linspace(0, height, up + 1)]  # fmt: skip
    triangles, uv = [], []
    for j in range(up):
        for i in range(around):
            a, b = j * around + i, j * around + (i + 1) % around
            c, d = a + around, b + around
            shift = 1.0 if i >= around // 2 else 0.0
            left, right = i * np.pi * 2 * radius / around + shift, (i + 1) * np.pi * 2 * radius / around + shift
            low, high = j * height / up, (j + 1) * height / up
            triangles += [[a, b, d], [a, d, c]]
            uv += [[[left, low], [right, low], [right, high]], [[left, low], [right, high], [left, high]]]
    return pl.TriMesh(np.concatenate(rings), triangles), np.array(uv)


def write_obj(path, mesh, uv):
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in mesh.points.tolist()]
    lines += [f"vt {u!r} {v!r}" for u, v in uv.reshape(-1, 2).tolist()]
    corners = enumerate((mesh.triangles + 1).tolist())
    lines += ["f " + " ".join(f"{v}/{3 * k + i + 1}" for i, v in enumerate(face)) for k, face in corners]
    path.write_text("\n".join(lines))


def test_panels_are_cut_where_uvs_are():
    """Two panels of 5 x 4 vertices, flat, each 0.1 pi wide; where they are put on they touch along two seams of 4."""
    mesh, uv = tube()
    garment = pl.Garment.from_uv(mesh, uv)
    assert garment.mesh.n_vertices == 2 * 5 * 4
    assert len(garment.mesh.boundary_loops()) == 2
    assert (garment.mesh.points[:, 2] == 0).all()
    assert garment.mesh.area == pytest.approx(2 * np.pi * 0.1 * 0.3, rel=1e-12)
    np.testing.assert_array_equal(garment.positions, mesh.points[garment.origin])
    assert sorted(len(a) for a, _ in garment.seams) == [4, 4]
    for a, b in garment.seams:
        np.testing.assert_array_equal(garment.origin[a], garment.origin[b])
        assert not set(a.tolist()) & set(b.tolist())
        assert np.ptp(garment.positions[a][:, 2]) == pytest.approx(0.3)


def test_a_file_gives_the_same(tmp_path):
    mesh, uv = tube()
    write_obj(tmp_path / "tube.obj", mesh, 1000 * uv)
    read, made = pl.load_garment(tmp_path / "tube.obj", scale=1e-3), pl.Garment.from_uv(mesh, uv)
    np.testing.assert_allclose(read.mesh.points, made.mesh.points, atol=1e-15)
    np.testing.assert_array_equal(read.mesh.triangles, made.mesh.triangles)
    np.testing.assert_array_equal(read.positions, made.positions)


def test_a_garment_is_one_sheet_with_seams():
    """A panel around a tube is bent but hardly stretched: chords of 8 are 2.6 % shorter than arcs. Seams are closed."""
    mesh, uv = tube()
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_garment(pl.Garment.from_uv(mesh, uv), pl.YarnCloth("jersey"))
    assert len(scene.seams) == 2
    np.testing.assert_allclose(body.warp_field, np.tile([1.0, 0, 0], (48, 1)))
    sim = pl.Simulation(scene, solver=pl.Newton(iterations=1))
    assert sim.energies()["seam"] == pytest.approx(0, abs=1e-20)
    assert body.masses.sum() == pytest.approx(body.density * 0.2 * np.pi * 0.3, rel=1e-12)


def test_a_cone_closed_by_one_panel_is_sewn_to_itself():
    """One panel around a tube: one seam, whose ends are not the same vertices."""
    mesh, uv = tube()
    uv = uv.copy()
    uv[uv[:, :, 0] > 0.9] -= [1.0, 0.0]
    garment = pl.Garment.from_uv(mesh, np.round(uv, 12))
    assert garment.mesh.n_vertices == 9 * 4
    assert [len(a) for a, _ in garment.seams] == [4]


def test_bad_uvs_are_told(tmp_path):
    mesh, uv = tube()
    with pytest.raises(pl.MeshError, match=r"triangle 5 has no area in the uv plane"):
        pl.Garment.from_uv(mesh, np.where(np.arange(48)[:, None, None] == 5, 0.0, uv))
    with pytest.raises(pl.MeshError, match="scale is 0"):
        pl.Garment.from_uv(mesh, uv, scale=0)
    pl.save_mesh(tmp_path / "bare.obj", mesh)
    with pytest.raises(pl.FileError, match="has no UV coordinates"):
        pl.load_garment(tmp_path / "bare.obj")


def test_the_vest_is_two_panels_that_fit_the_mannequin():
    """Sewn at both sides and both shoulders, outward where it is worn and in the uv plane; never within the figure."""
    vest, figure = pl.Garment.vest(), pl.Animation.walking_mannequin(arms=0.3)
    assert len(vest.mesh.boundary_loops()) == 2
    lengths = sorted(np.linalg.norm(np.diff(vest.mesh.points[a], axis=0), axis=1).sum() for a, _ in vest.seams)
    np.testing.assert_allclose(lengths, [lengths[0]] * 2 + [0.25] * 2, atol=1e-6)  # shoulders, sides
    assert lengths[0] > 0.06
    corner, flat = (x[vest.mesh.triangles] for x in (vest.positions, vest.mesh.points))
    worn = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    assert (np.cross(flat[:, 1] - flat[:, 0], flat[:, 2] - flat[:, 0])[:, 2] > 0).all()
    below = corner[:, :, 2].max(axis=1) < 1.2
    assert (np.einsum("ma,ma->m", worn, corner.mean(axis=1) * [1, 1, 0])[below] > 0).all()
    np.testing.assert_allclose(np.linalg.norm(vest.positions[vest.positions[:, 2] < 1.2, :2], axis=1), 0.165, rtol=1e-9)
    assert measure(DistanceField(figure, 48), vest.positions)[0].min() > 0.003
    for spacing in (0.02, 0.035, 0.05):
        assert len(pl.Garment.vest(spacing=spacing).seams) == 4
    larger = pl.Garment.vest(height=3.4, spacing=0.06)
    np.testing.assert_allclose(larger.positions, 2 * vest.positions, atol=1e-12)
    with pytest.raises(MeshError, match=r"Garment\.vest: height is 1\.7, spacing 0\.2"):
        pl.Garment.vest(spacing=0.2)
