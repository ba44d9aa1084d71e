"""Stress, strain, displacement and reactions of static shapes, in Python, in files and in pictures."""

import json
import re

import numpy as np
import pytest
from scipy.optimize import brentq
from typer.testing import CliRunner

import pliant as pl
from pliant.cli.main import app
from pliant.io.results import open_result

MU, LAM, STRETCH = 2.0e4, 5.0e4, 1.25


@pytest.fixture(scope="module")
def pulled_bar():
    """A bar between two planes that move apart, its sides free: uniform stress, which linear tets hold exactly."""
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.shapes.box((0.4, 0.2, 0.2), (3, 2, 2))
    mesh = pl.TetMesh(mesh.points - mesh.points.min(axis=0), mesh.tets)
    bar = scene.add_solid(mesh, pl.NeoHookean(MU, LAM), name="bar")
    start = mesh.points * [STRETCH, 1, 1]
    faces = np.isclose(mesh.points, 0)  # symmetry planes; edges and corners are held in more ways
    faces[:, 0] |= np.isclose(mesh.points[:, 0], 0.4)
    bar.set_positions(start)
    for vertex in np.flatnonzero(faces.any(axis=1)):
        held = faces[vertex]
        if held.all():
            bar.pin([vertex])
        elif held.sum() == 2:
            bar.constrain_to_line([vertex], (~held).astype(float))
        else:
            bar.constrain_to_plane([vertex], held.astype(float))
    return scene, bar, pl.equilibrium(scene, tolerance=1e-10)


def uniaxial(nominal_stress):
    formula = nominal_stress["NeoHookean"]
    side = brentq(lambda l2: formula(l2, STRETCH, l2, MU, LAM), 0.4, 1.4, xtol=1e-15)
    return side, formula(STRETCH, side, side, MU, LAM)


def test_uniaxial_stress_strain_and_reactions_are_exact(pulled_bar, nominal_stress):
    _, bar, found = pulled_bar
    side, nominal = uniaxial(nominal_stress)
    sigma, strain = np.zeros((3, 3)), np.diag([STRETCH**2 - 1, side**2 - 1, side**2 - 1]) / 2
    sigma[0, 0] = nominal / side**2
    stress = found.stress(bar)
    np.testing.assert_allclose(stress, np.broadcast_to(sigma, stress.shape), atol=1e-8 * MU)
    np.testing.assert_allclose(found.stress(bar, smooth=True)[7], sigma, atol=1e-8 * MU)
    np.testing.assert_allclose(found.strain(bar), np.broadcast_to(strain, stress.shape), atol=1e-9)
    np.testing.assert_allclose(found.von_mises(bar), sigma[0, 0], rtol=1e-8)
    np.testing.assert_allclose(found.principal_stresses(bar)[:, 0], sigma[0, 0], rtol=1e-8)
    np.testing.assert_allclose(found.principal_stresses(bar, smooth=True)[:, 1:], 0, atol=1e-8 * MU)
    far = np.isclose(bar.mesh.points[:, 0], 0.4)
    assert found.reaction_force(bar, far)[0] == pytest.approx(nominal * 0.04, rel=1e-9)
    np.testing.assert_allclose(found.reaction_force(bar), 0, atol=1e-6)


def test_patch_test(shaken):
    """An affine boundary lets inner vertices of an irregular mesh follow the same map, and stress is uniform."""
    mesh = pl.shapes.box((0.3, 0.3, 0.3), (3, 3, 3))
    inner = (np.abs(mesh.points - mesh.points.mean(axis=0)) < 0.1).all(axis=1)
    points = np.where(inner[:, None], shaken(mesh, noise=0.3, strain=0.0), mesh.points)
    mesh = pl.TetMesh(points, mesh.tets)
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(mesh, pl.NeoHookean(MU, LAM))
    F = np.eye(3) + 0.2 * np.random.default_rng(3).uniform(-1, 1, (3, 3))
    target = points @ F.T
    body.pin(~inner)
    body.set_positions(np.where(inner[:, None], points, target))
    found = pl.equilibrium(scene, tolerance=1e-10)
    np.testing.assert_allclose(found.positions, target, atol=1e-10)
    stress = found.stress(body)
    np.testing.assert_allclose(stress, np.broadcast_to(stress[0], stress.shape), atol=1e-7 * MU)


def test_fields_in_files(pulled_bar, tmp_path):
    """.vtu holds what Python gives: displacement, reactions, stress and strain as tensors of nine numbers."""
    _, bar, found = pulled_bar
    for name in ("bar.pvd", "bar.npz"):
        found.save(tmp_path / name)
        with open_result(tmp_path / name) as result:
            frame = result.frame(0)
        np.testing.assert_allclose(frame.points, found.positions)
        np.testing.assert_allclose(frame.point_fields["displacement"], found.displacements, atol=1e-7)
        np.testing.assert_allclose(frame.point_fields["reaction_force"], found.reaction_forces, atol=1e-3)
        stress = frame.cell_fields["stress"].reshape(-1, 3, 3)
        np.testing.assert_allclose(stress, found.stress(bar), atol=1e-5 * MU)
        np.testing.assert_allclose(frame.cell_fields["strain"].reshape(-1, 3, 3), found.strain(bar), atol=1e-6)
        np.testing.assert_allclose(frame.cell_fields["von_mises"], found.von_mises(bar), rtol=1e-5)
    found.save(tmp_path / "surface.npz", volume=False)
    with open_result(tmp_path / "surface.npz") as result:
        assert result.frame(0).cell_fields["stress"].shape == (len(result.triangles), 9)


def test_picture_of_a_field(pulled_bar):
    _, _, found = pulled_bar
    image = found.plot(field="displacement", height=120)
    assert image.size[1] >= 120
    assert len({colour for _, colour in image.getcolors(10**6)}) > 50


def test_files_of_patches_hold_what_python_gives(tmp_path):
    """Of two bodies, whose patches have the same numbers: stress, von Mises stress and energy density of patches, of
    volumes and of the surface alone.
    """
    scene = pl.Scene()
    mesh = pl.shapes.box((0.4, 0.1, 0.1), (4, 2, 2))
    for k, stiffness in enumerate((1e6, 3e5)):
        body = scene.add_solid(mesh.transformed(translation=(0, k, 0)), pl.NeoHookean(stiffness, LAM), element="patch")
        body.pin(np.isclose(mesh.points[:, 0], -0.2))
    found = pl.equilibrium(scene)
    stress = np.concatenate([found.stress(body) for body in scene.bodies])
    equivalent = np.concatenate([found.von_mises(body) for body in scene.bodies])
    for name, volume in (("whole.pvd", True), ("surface.npz", False)):
        found.save(tmp_path / name, volume=volume)
        with open_result(tmp_path / name) as result:
            cells, layout = result.frame(0).cell_fields, result.layout
        faces = slice(None) if volume else np.concatenate([k * mesh.n_tets + behind(mesh) for k in range(2)])
        assert len(cells["von_mises"]) == (len(layout.tets) if volume else len(layout.triangles))
        np.testing.assert_allclose(cells["von_mises"], equivalent[faces], rtol=1e-5)
        np.testing.assert_allclose(cells["stress"].reshape(-1, 3, 3), stress[faces], rtol=1e-5, atol=1e-5 * LAM)


def behind(mesh):
    """(k,) the tet behind each triangle of the surface."""
    corners = {frozenset(np.delete(tet, c).tolist()): t for t, tet in enumerate(mesh.tets) for c in range(4)}
    return np.array([corners[frozenset(triangle.tolist())] for triangle in mesh.surface_triangles])


def test_sheets_have_no_stress_tensor(tmp_path):
    """In files they have displacements and reactions, and no number in each cell."""
    scene = pl.Scene()
    sheet = scene.add_cloth(pl.shapes.cloth((1, 1), (2, 2)), pl.NeoHookean(MU, LAM))
    sheet.pin([0, 2, 6, 8])
    found = pl.equilibrium(scene)
    with pytest.raises(pl.SceneError, match="cloth0 is not a solid"):
        found.stress(sheet)
    for name in ("sheet.pvd", "sheet.npz"):
        found.save(tmp_path / name)
        with open_result(tmp_path / name) as result:
            frame = result.frame(0)
            np.testing.assert_array_equal(result.triangles, sheet.mesh.triangles)
        assert frame.point_fields["reaction_force"][:, 2].sum() == pytest.approx(0.2 * 9.81, rel=1e-5)
        assert np.isnan(frame.cell_fields["von_mises"]).sum() == len(sheet.mesh.triangles)


SCENE = """
title = "Shelf"
[[bodies]]
kind = "solid"
name = "shelf"
shape = { kind = "box", size = [0.4, 0.2, 0.1], cells = [4, 2, 1] }
material = { law = "StableNeoHookean", youngs_modulus = 1e5, poissons_ratio = 0.0 }
[[bodies.holds]]
kind = "pin"
where = { kind = "face", side = "-x" }
"""


def raw_arrays(path):
    """Arrays of a .vtu by name, as VTK says: at the offset after "_" the size in bytes, then the data."""
    text = path.read_bytes()
    begin = text.index(b'<AppendedData encoding="raw">\n_') + len(b'<AppendedData encoding="raw">\n_')
    types = {"Float32": np.float32, "Float64": np.float64, "Int32": np.int32, "UInt8": np.uint8}
    found = {}
    for line in re.findall(rb"<DataArray [^>]*>", text[:begin]):
        about = {key.decode(): value.decode() for key, value in re.findall(rb'(\w+)="([^"]*)"', line)}
        at = begin + int(about["offset"])
        size = int.from_bytes(text[at : at + 8], "little")
        values = np.frombuffer(text[at + 8 : at + 8 + size], types[about["type"]])
        wide = int(about.get("NumberOfComponents", 1))
        found[about["Name"]] = values.reshape(-1, wide) if wide > 1 else values
    return found


def test_command_line(tmp_path):
    path = tmp_path / "shelf.toml"
    path.write_text(SCENE)
    picture = tmp_path / "shelf.png"
    arguments = ["run", str(path), "--static", "--out", str(tmp_path / "out"), "--output", str(picture), "--json"]
    answer = CliRunner().invoke(app, arguments)
    assert answer.exit_code == 0, answer.output
    about = json.loads(answer.stdout)
    assert about["converged"]
    np.testing.assert_allclose(about["reactions"]["shelf"], [0, 0, 8 * 9.81], atol=1e-4)
    assert picture.exists()
    assert (tmp_path / "out" / "static.pvd").exists()
    (piece,) = (tmp_path / "out").rglob("*.vtu")
    arrays = raw_arrays(piece)
    n, tets = len(arrays["Points"]), 4 * 2 * 5
    assert arrays["displacement"].shape == (n, 3)
    assert arrays["displacement"][:, 2].min() < -1e-3
    np.testing.assert_allclose(arrays["reaction_force"].sum(axis=0), [0, 0, 8 * 9.81], atol=1e-3)
    stress = arrays["stress"].reshape(-1, 3, 3)
    assert stress.shape == (tets, 3, 3)
    np.testing.assert_allclose(stress, stress.swapaxes(1, 2), atol=1e-2)
    deviator = stress - np.trace(stress, axis1=1, axis2=2)[:, None, None] * np.eye(3) / 3
    np.testing.assert_allclose(np.sqrt(1.5 * np.sum(deviator**2, axis=(1, 2))), arrays["von_mises"], rtol=1e-4)
    assert arrays["strain"].shape == (tets, 9)
    words = CliRunner().invoke(app, ["run", str(path), "--static", "--out", str(tmp_path / "out")]).output
    assert "Load factor 1" in words
    assert "Reaction on shelf" in words


@pytest.mark.slow
def test_command_line_writes_every_format(tmp_path):
    """The lowest point is the same in all that can be read back; the others are there."""
    path = tmp_path / "shelf.toml"
    path.write_text(SCENE)
    names = ["a.npz", "a.pvd", "a.ply", "b.obj", "a.usda", "a.glb", "a.html", "a.gif"]
    outputs = [word for name in names for word in ("--output", str(tmp_path / name))]
    answer = CliRunner().invoke(
        app, ["run", str(path), "--static", "--quiet", "--out", str(tmp_path / "out"), *outputs]
    )
    assert answer.exit_code == 0, answer.output
    lowest = []
    lowest.append(raw_arrays(tmp_path / "a" / "a_00000.vtu")["Points"][:, 2].min())
    for name in ("a.npz", "a.ply", "b.obj"):
        with open_result(tmp_path / name) as result:
            lowest.append(result.frame(0).points[:, 2].min())
    np.testing.assert_allclose(lowest, lowest[0], rtol=1e-5)
    for name in ("a.usda", "a.glb", "a.html", "a.gif"):
        assert (tmp_path / name).stat().st_size > 1000, name
