"""What has no static shape is refused with a sentence that names the body and what to do; what is far off is told."""

import numpy as np
import pytest

import pliant as pl
from pliant.statics.element_notes import element_notes, mesh_notes

MESH = pl.shapes.box((0.2, 0.2, 0.2), (1, 1, 1))
RUBBER = pl.StableNeoHookean.from_young(1e5, 0.3)


def block(**options):
    scene = pl.Scene(**options)
    return scene, scene.add_solid(MESH, RUBBER, name="cube")


def test_free_body_is_refused_with_its_motions():
    scene, _ = block()
    with pytest.raises(pl.SceneError) as refused:
        pl.equilibrium(scene)
    words = str(refused.value)
    assert "cube" in words
    assert "translation along x, y, z and rotation about x, y, z" in words
    assert "(0, 0, -78.5) N" in words
    assert "body.pin" in words


def test_only_motions_that_are_free_are_named():
    scene, body = block()
    body.constrain_to_plane(np.arange(8), (0, 1, 0))
    with pytest.raises(pl.SceneError, match="translation along x, z and rotation about y,"):
        pl.equilibrium(scene)


def sheet(scene):
    cloth = scene.add_cloth(pl.shapes.cloth((1, 1), (2, 2)), RUBBER, name="flag")
    cloth.pin(np.arange(9), components="x")


def rolling_block(scene):
    scene.add_solid(MESH, RUBBER, name="cart").pin(MESH.points[:, 2] < 0, components="z")
    scene.gravity = (1.0, 0.0, -9.81)


def hooked_bricks(scene):
    one = scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), name="brick")
    scene.add_joint(
        "ball", one, scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), position=(0.3, 0, 0), name="other"), (0.15, 0, 0)
    )


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (
            lambda scene: scene.add_rigid(pl.Box((1, 1, 1)), name="brick"),
            "brick .* translation along x, y, z and rotation about x, y, z",
        ),
        (hooked_bricks, "brick with other .* translation along x, y, z"),
        (sheet, "flag .* translation along y, z and rotation about x,"),
        (rolling_block, "cart .* translation along x, y and rotation about z,"),
        (
            lambda scene: scene.add_springs([[0, 0, 0], [1, 0, 0]], [[0, 1]], 1e3, 1.0, name="rope"),
            "rope .* translation along x, y, z",
        ),
    ],
    ids=["rigid", "joined", "cloth", "partly pinned", "rope"],
)
def test_free_motions_of_every_kind_of_body_are_named(build, words):
    scene = pl.Scene()
    build(scene)
    with pytest.raises(pl.SceneError, match=words):
        pl.equilibrium(scene)


def test_loads_on_vertices_that_do_not_exist_are_told():
    scene, body = block()
    body.pin([0, 1, 2, 3])
    with pytest.raises(pl.SceneError, match=r"cube\.add_moment: vertex 8 does not exist"):
        body.add_moment([7, 8], (0, 1, 0))
    with pytest.raises(pl.SceneError, match=r"cube\.add_moment: .*9"):
        body.add_moment(np.ones(9, bool), (0, 1, 0))
    body.add_force(lambda x, v, t: np.zeros((9, 3)))
    with pytest.raises(pl.SceneError, match=r"cube.*force.*\(9, 3\)"):
        pl.equilibrium(scene)
    with pytest.raises(pl.SceneError, match=r"cube\.move: vertex 12 does not exist"):
        body.move([12], lambda t: np.zeros((1, 3)))


def test_body_that_loads_do_not_push_stays():
    scene, _ = block(gravity=(0, 0, 0))
    found = pl.equilibrium(scene)
    assert found.report.converged
    assert found.report.iterations == 0
    np.testing.assert_array_equal(found.displacements, 0)


def test_pendulum_may_turn():
    """One pinned vertex leaves rotations free, and the body hangs below it."""
    scene, body = block()
    body.pin([0])
    found = pl.equilibrium(scene)
    middle = np.average(found.positions, axis=0, weights=body.masses) - found.positions[0]
    assert found.report.converged
    np.testing.assert_allclose(middle[:2], 0, atol=1e-6)
    assert middle[2] < -0.15


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"load_steps": 0}, "load_steps is 0"),
        ({"tolerance": -1.0}, "tolerance is -1.0"),
        ({"iterations": 1.5}, "iterations is 1.5"),
        ({"solver": pl.XPBD()}, "XPBD does not minimise"),
        ({"solver": pl.Newton}, "is the class Newton"),
    ],
)
def test_bad_options(options, words):
    scene, body = block()
    body.pin([0, 1, 2, 3])
    with pytest.raises(pl.PliantError, match=words):
        pl.equilibrium(scene, **options)


def test_tearing_sheets_are_refused():
    scene = pl.Scene()
    sheet = scene.add_cloth(pl.shapes.cloth((1, 1), (2, 2)), RUBBER, tear_at=1.5)
    sheet.pin([0])
    with pytest.raises(pl.SceneError, match="tear_at"):
        pl.equilibrium(scene)


def test_reactions_of_strangers_are_refused():
    scene, body = block()
    body.pin([0, 1, 2, 3])
    found = pl.equilibrium(scene)
    _, other = block()
    with pytest.raises(pl.SceneError, match="not a body of this equilibrium"):
        found.reaction_force(other)
    with pytest.raises(pl.SceneError, match="vertex 99 does not exist"):
        found.reaction_force(body, [99])


@pytest.mark.parametrize(
    ("cells", "poissons_ratio", "element", "entries"),
    [
        ((2, 2, 2), 0.3, "linear", []),
        ((2, 2, 2), 0.49, "linear", ["locking"]),
        ((2, 2, 2), 0.49, "patch", []),
        ((2, 2, 1), 0.3, "linear", ["one-cell-thick"]),
        ((2, 2, 1), 0.49, "patch", ["one-cell-thick"]),
    ],
)
def test_elements_that_are_far_off_are_told(cells, poissons_ratio, element, entries):
    scene = pl.Scene()
    law = pl.StableNeoHookean.from_young(1e5, poissons_ratio)
    scene.add_solid(pl.shapes.box((0.2, 0.2, 0.2), cells), law, element=element, name="slab")
    notes = list(element_notes(scene))
    assert [entry for _, entry in notes] == entries
    assert all("slab" in note for note, _ in notes)


def crossed(cells, length, width):
    """Cells of four triangles around a middle."""
    grid = pl.shapes.cloth((cells * length, cells * width), (cells, cells))
    corner = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    quads = np.stack([corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]], axis=-1).reshape(-1, 4)
    middles = np.arange(len(quads)) + len(grid.points)
    triangles = np.concatenate([np.stack([quads[:, k], quads[:, (k + 1) % 4], middles], axis=1) for k in range(4)])
    return pl.TriMesh(np.concatenate([grid.points, grid.points[quads].mean(axis=1)]), triangles)


def test_long_crossed_cells_are_told():
    told = []
    for mesh in (crossed(4, 2, 1), crossed(4, 1, 1), pl.shapes.cloth((2, 1), (4, 4)), crossed(4, 1.4, 1)):
        scene = pl.Scene()
        scene.add_cloth(mesh, RUBBER, name="flag")
        told.append([note for note, entry in element_notes(scene) if entry == "crossed-cells"])
    assert len(told[0]) == 1
    assert "of flag are middles of four triangles, in cells longer than wide" in told[0][0]
    assert told[1] == told[2] == []
    assert len(told[3]) == 1


def test_a_body_without_stress_has_no_error():
    """One that is only turned: its stress is rounding, of which no error is estimated."""
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.shapes.box((0.2, 0.2, 0.2), (2, 2, 2))
    body = scene.add_solid(mesh, RUBBER)
    held = mesh.points[:, 0] < -0.09
    body.move(held, pl.motions.Turn(mesh.points[held], turns=0.25))
    found = pl.equilibrium(scene)
    assert found.report.converged
    assert np.abs(found.stress(body)).max() < 1e-6
    assert list(mesh_notes(scene, found.stress, found.discretisation_error)) == []
