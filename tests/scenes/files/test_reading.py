"""Scene files: what they build, and the one error they give."""

import numpy as np
import pytest

import pliant as pl
from pliant.scenes.files import apply_setting, check, make_simulation, read_source
from pliant.scenes.files.lines import line_of

SCENE = """
title = "A block"

[simulation]
substeps = 2
duration = 0.1

[solver]
name = "Chebyshev"
rho = 0.8
solver = { name = "VBD", iterations = 4 }

[[bodies]]
kind = "solid"
name = "block"
shape = { kind = "box", size = [1.0, 1.0, 2.0], cells = [2, 2, 4] }
transform = { scale = 0.1, rotation = { axis = [0, 0, 1], degrees = 90 }, translation = [0.0, 0.0, 0.5] }
material = { law = "Fung", youngs_modulus = 1e5, poissons_ratio = 0.3, growth = 2.0 }
density = 500
colour = "#ff8000"

[[bodies.holds]]
kind = "pin"
where = { kind = "face", side = "-z" }

[[bodies.holds]]
kind = "slide"
where = { kind = "plane", point = [0.0, 0.0, 0.6], normal = [0.0, 0.0, 3.0] }
velocity = [0.1, 0.0, 0.0]
until = 0.05

[[outputs]]
file = "block.npz"
"""


@pytest.fixture
def written(tmp_path):
    def write(text=SCENE, name="scene.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_file_builds_what_it_says(written):
    sim = pl.load_simulation(written())
    body = sim.scene.bodies[0]
    assert (sim.substeps, sim.solver) == (2, pl.Chebyshev(pl.VBD(iterations=4), rho=0.8))
    assert body.material == pl.Fung.from_young(1e5, 0.3, growth=2.0)
    assert sim.model.mass.sum() == pytest.approx(500 * 0.002)
    assert body.colour == (1.0, 128 / 255, 0.0)
    np.testing.assert_allclose(sim.positions.min(axis=0), [-0.05, -0.05, 0.4], atol=1e-15)
    np.testing.assert_allclose(sim.positions.max(axis=0), [0.05, 0.05, 0.6], atol=1e-15)
    assert np.count_nonzero(~sim.model.is_free) == 18
    np.testing.assert_allclose(
        sim.model.kinematic[0].positions(0.5), sim.positions[sim.model.kinematic[0].vertices] + [0.05, 0, 0]
    )
    assert min(release.time for release in sim.model.releases) == 0.05


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ('{ kind = "all" }', range(27)),
        ('{ kind = "box", low = [-9, -9, 0.5], high = [9, 9, 1] }', [2, 5, 8, 11, 14, 17, 20, 23, 26]),
        ('{ kind = "plane", point = [0.5, 0, 0], normal = [1, 0, 0] }', range(18, 27)),
        ('{ kind = "face", side = "-y" }', [0, 1, 2, 9, 10, 11, 18, 19, 20]),
        ('{ kind = "nearest", point = [0, 0, 0.1] }', [13]),
        ('{ kind = "nearest", point = [0.5, 0.5, 0.3], count = 2 }', [25, 26]),
        ('{ kind = "indices", indices = [3, 1] }', [3, 1]),
    ],
)
def test_selections(written, where, expected):
    """On a cube of 2 x 2 x 2 cells, vertex 9 i + 3 j + k."""
    from pliant.scenes.files.build import select

    text = f"""
[[bodies]]
kind = "solid"
shape = {{ kind = "box", cells = 2 }}
material = {{ law = "StableNeoHookean", mu = 1.0, lam = 1.0 }}
[[bodies.holds]]
kind = "pin"
where = {where}
"""
    source = read_source(written(text))
    table = check(source)
    body = pl.Scene().add_solid(pl.shapes.box(cells=2), pl.StableNeoHookean(1.0, 1.0))
    assert select(body, table.bodies[0].holds[0].where).tolist() == list(expected)


BAD = [
    ("density = 500", "densty = 500", ["line 18", "bodies.0.densty", "not known", "Did you mean 'density'?"]),
    ("density = 500", 'density = "500 kg/m^3"', ["line 18", "'500 kg/m^3' (a string)", "above 0 [kg/m^3]"]),
    ("density = 500", "density = -1.0", ["line 18", "-1.0 (a number)", "above 0 [kg/m^3]"]),
    ("density = 500", "density = nan", ["line 18", "nan"]),
    ("density = 500", "density = true", ["line 18", "True (a boolean)"]),
    ('law = "Fung"', 'law = "Fang"', ["line 17", "bodies.0.material", "Did you mean 'Fung'?", "StableNeoHookean"]),
    ("poissons_ratio = 0.3", "poissons_ratio = 0.5", ["line 17", "0.5 (a number)", "below 0.5"]),
    ("poissons_ratio = 0.3, ", "", ["line 17", "either mu and lam, or youngs_modulus and poissons_ratio"]),
    ("growth = 2.0", "growth = -2.0", ["line 17", "growth is -2.0"]),
    ("cells = [2, 2, 4]", "cells = [2, 2]", ["line 15", "bodies.0.shape", "pass 3 numbers"]),
    ("cells = [2, 2, 4]", "cels = 4", ["line 15", "Did you mean 'cells'?"]),
    ('kind = "box"', 'kind = "bocks"', ["line 15", "Did you mean 'box'?"]),
    (
        'shape = { kind = "box", size = [1.0, 1.0, 2.0], cells = [2, 2, 4] }',
        "",
        ["line 12", "either a shape or a mesh"],
    ),
    ('kind = "solid"', 'kind = "solod"', ["line 13: bodies.0.kind: found 'solod'", "Did you mean 'solid'?"]),
    ('kind = "solid"', "kind = 3", ["line 13: bodies.0.kind: found 3 (a whole number). Allowed: solid, cloth, sp"]),
    ('kind = "solid"', "", ["line 12: bodies.0: the key 'kind' is missing. Allowed: solid, cloth, springs, rigid, "]),
    ('kind = "solid"', 'knd = "solid"', ["line 12: bodies.0: the key 'kind' is missing. Is 'knd' meant to be it?"]),
    ('kind = "box", ', "", ["line 15: bodies.0.shape: the key 'kind' is missing. Allowed: ball, beam, box, cyl"]),
    ('law = "Fung", ', "", ["line 17: bodies.0.material: the key 'law' is missing. Allowed: StableNeoHookean, N"]),
    ('kind = "pin"', "", ["line 21: bodies.0.holds.0: the key 'kind' is missing. Allowed: pin, line, plane, slide"]),
    ('kind = "face", ', "", ["line 23: bodies.0.holds.0.where: the key 'kind' is missing. Allowed: all, box, plane"]),
    ('name = "VBD", ', "", ["line 10: solver.solver: the key 'name' is missing. Allowed: VBD, AVBD, Newton"]),
    (
        "where = {",
        'where = "all" #',
        ["line 23", "found 'all' (a string); give a table whose key 'kind' is one of all, box"],
    ),
    ("density = 500", "density = inf", ["line 18", "found inf (a number)"]),
    ('name = "block"', "name = 3", ["line 14: bodies.0.name: found 3 (a whole number); give a string."]),
    ('name = "block"', 'name = ""', ["line 14: bodies.0.name", "give a string that is not empty"]),
    (
        "cells = [2, 2, 4]",
        "cells = [2, 2, 4.5]",
        ["bodies.0.shape.cells.2: found 4.5 (a number); give a whole number."],
    ),
    (
        "cells = [2, 2, 4]",
        'cells = "many"',
        ["bodies.0.shape.cells: found 'many'", "give a whole number or give a list"],
    ),
    (
        "iterations = 4",
        "iterations = 0",
        ["line 10: solver.solver.iterations: VBD: iterations is 0: give a whole number"],
    ),
    ("iterations = 4", 'start = "warm"', ["line 10: solver.solver.start", "start is 'warm': choose one of previous"]),
    (
        'kind = "face", side = "-z"',
        'kind = "box", low = [9, 9, 9], high = [9, 9, 9]',
        ["line 23", "where: it selects no"],
    ),
    ('kind = "face", side = "-z"', 'kind = "box", low = [0, 0, 1], high = [9, 9, 0]', ["line 23", "is above high"]),
    (
        'kind = "face", side = "-z"',
        'kind = "indices", indices = [45]',
        ["line 23", "vertex 45 does not exist; block has"],
    ),
    ('kind = "face", side = "-z"', 'kind = "indices", indices = []', ["line 23", "give a list of at least 1"]),
    ("[[bodies]]", "[bodies]", ["line 12: bodies: found a table", "begins with [[...]]"]),
    (
        "duration = 0.1",
        "duration = -1",
        ["line 5: simulation.duration: found -1 (a whole number); give a number above 0 [s]."],
    ),
    ("substeps = 2", "dt = 0.01", ["line 4: simulation.dt: this key is not known. Known here: frame_rate, substeps"]),
    (
        "material = {",
        "#",
        ["line 12: bodies.0.material: this key is missing; found here: kind, name, shape, transform"],
    ),
    ("block.npz", "run.npz", ["outputs.0.file", "this is the checkpoint's name"]),
    ('file = "block.npz"', 'file = "a.obj"\nvolume = true', ["outputs.0:", "can hold surfaces only", ".npz or .pvd"]),
    ('side = "-z"', 'side = "z"', ["line 23", "'z' (a string)", "-z"]),
    ("point = [0.0, 0.0, 0.6]", "point = [0.0, 0.0, 6.0]", ["line 27", "selects no vertex of block", "0.6]"]),
    ("velocity = [0.1, 0.0, 0.0]", "velocity = [0.1, 0.0]", ["line 28", "three numbers [m/s]"]),
    ("velocity = [0.1, 0.0, 0.0]", "", ["bodies.0.holds.1.velocity", "missing"]),
    ("rho = 0.8", "rho = 1.5", ["line 9: solver.rho", "rho is 1.5"]),
    ("iterations = 4", "iterations = 4.5", ["line 10", "solver.solver.iterations", "4.5 (a number)"]),
    ('name = "VBD"', 'name = "VDB"', ["line 10", "Did you mean 'VBD'?"]),
    ("block.npz", "../block.npz", ["outputs.0.file", "within the output folder"]),
    ("block.npz", "/tmp/block.npz", ["outputs.0.file", "within the output folder"]),
    ("block.npz", "C:\\\\block.npz", ["outputs.0.file", "within the output folder"]),
    ("block.npz", "block.pvdd", ["outputs.0.file", "Did you mean '.pvd'?"]),
    ("substeps = 2", "substeps = 0", ["line 4", "whole number of at least 1"]),
    ("[simulation]", "[simulation", ["not valid TOML", "line 3"]),
]


@pytest.mark.parametrize(("old", "new", "words"), BAD, ids=[new or f"no {old[:20]}" for old, new, _ in BAD])
def test_errors_name_file_line_key_and_remedy(written, old, new, words):
    text = SCENE.lstrip("\n")
    assert old in text
    path = written(text.replace(old, new, 1))
    with pytest.raises(pl.SceneError) as error:
        pl.load_simulation(path)
    message = str(error.value)
    for word in [str(path), *words]:
        assert word in message, message
    assert "\n" not in message


def test_missing_files_are_told(written, tmp_path):
    path = written(
        SCENE.replace('shape = { kind = "box", size = [1.0, 1.0, 2.0], cells = [2, 2, 4] }', 'mesh = "a.vtu"')
    )
    with pytest.raises(pl.SceneError, match=r"line 16: bodies.0.mesh: .*a.vtu: there is no such file"):
        pl.load_scene(path)
    pl.save_mesh(tmp_path / "b.vtu", pl.shapes.box(cells=1))
    with pytest.raises(pl.SceneError, match=r"a.vtu: there is no such file. Did you mean 'b.vtu'\?"):
        pl.load_scene(path)
    path = written(SCENE.replace("density = 500", 'start = "a.npz"'))
    with pytest.raises(pl.SceneError, match=r"line 19: bodies.0.start: .*a.npz: there is no such file.$"):
        pl.load_scene(path)
    with pytest.raises(pl.FileError, match=r"scen.toml: there is no such file. Did you mean 'scene.toml'\?"):
        pl.load_scene(tmp_path / "scen.toml")


def test_two_bodies_of_one_name_are_refused(written):
    path = written(TWO_BLOCKS.replace('"lower"', '"upper"'))
    with pytest.raises(pl.SceneError, match=r"line 10: bodies.1: the scene already has a body named 'upper'"):
        pl.load_scene(path)


def test_all_errors_are_told_in_the_order_of_the_lines(written):
    wrong = SCENE.replace("density = 500", "densty = 3\ndamping = -1\nflavour = 2").replace(
        "substeps = 2", "substeps = 0"
    )
    with pytest.raises(pl.SceneError) as told:
        pl.load_scene(written(wrong))
    lines = str(told.value).splitlines()
    assert len(lines) == 4
    for line, words in zip(lines, ("simulation.substeps", "densty", "bodies.0.damping", "flavour"), strict=True):
        assert words in line
    assert "Did you mean 'density'?" in lines[1]


def test_a_byte_order_mark_is_read_over(written, tmp_path):
    path = tmp_path / "marked.toml"
    path.write_bytes(b"\xef\xbb\xbf" + written().read_bytes())
    assert pl.load_scene(path).bodies


def test_settings_of_the_usual_solver_need_no_table(written):
    source = read_source(written(SCENE[: SCENE.index("[solver]")] + SCENE[SCENE.index("[[bodies]]") :]))
    apply_setting(source, "solver.iterations=80")
    assert make_simulation(check(source), source).solver == pl.VBD(iterations=80)
    source = read_source(written(SCENE[: SCENE.index("[solver]")] + SCENE[SCENE.index("[[bodies]]") :]))
    apply_setting(source, "solver.tolerance=1e-3")
    assert make_simulation(check(source), source).solver == pl.Auto(tolerance=1e-3)


def test_settings_change_keys_and_errors_name_them(written):
    source = read_source(written())
    for setting in ("solver.rho=0.7", "solver.solver.start=inertial", "bodies.0.density=250", "simulation.substeps=3"):
        apply_setting(source, setting)
    sim = make_simulation(check(source), source)
    assert sim.solver == pl.Chebyshev(pl.VBD(iterations=4, start="inertial"), rho=0.7)
    assert sim.model.mass.sum() == pytest.approx(250 * 0.002)
    assert sim.substeps == 3
    apply_setting(source, "bodies.0.density=0")
    with pytest.raises(pl.SceneError, match=r"changed by --set bodies.0.density=0: bodies.0.density: found 0"):
        check(source)
    for bad in ("density", "bodies.3.density=1", "bodies.x=1", "title.x=1"):
        with pytest.raises(pl.SceneError, match="--set"):
            apply_setting(source, bad)


def test_lines_of_dotted_quoted_and_long_keys():
    text = 'a.b = 1\n"c d" = [\n  1,\n  2,\n]\n[t]\ne = """\nx = 1\n"""\n'
    text += "[[l]]\nf = { g = 1 }\n[[l.m]]\nh = 1\n[[l]]\nf = 2\n"
    expected = {("a", "b"): 1, ("c d", 1): 2, ("t", "e"): 7, ("l", 0, "f", "g"): 11, ("l", 0, "m", 0, "h"): 13}
    expected[("l", 1, "f")] = 15
    for path, line in expected.items():
        assert line_of(text, path) == line
    assert line_of(text, ("nothing",)) is None


OUTSIDE = """
[wind]
velocity = [3.0, 0.0, 0.0]
[world_box]
lower = [-inf, -inf, -0.5]
stiffness = 1e4
[[obstacles]]
kind = "sphere"
centre = [0.0, 0.0, -9.0]
radius = 1.0
[[attachments]]
bodies = ["upper", "lower"]
where = { kind = "face", side = "-z" }
stiffness = 100.0
"""
TWO_BLOCKS = "".join(
    f"""
[[bodies]]
kind = "solid"
name = "{name}"
shape = {{ kind = "box", cells = 2 }}
transform = {{ translation = [0.0, 0.0, {z}] }}
material = {{ law = "StableNeoHookean", mu = 1e4, lam = 1e4 }}
friction = 0.7
"""
    for name, z in (("upper", 1.1), ("lower", 0.0))
)


def test_what_acts_from_outside(written):
    """Each vertex of the upper block's lower face is linked to the one 0.1 m below it."""
    scene = pl.load_scene(written(OUTSIDE + TWO_BLOCKS))
    np.testing.assert_array_equal(scene.wind.velocity, (3, 0, 0))
    assert scene.world_box.lower.tolist() == [-np.inf, -np.inf, -0.5]
    assert scene.contact == pl.Contact()
    assert scene.bodies[0].friction == 0.7
    (link,) = scene.attachments
    upper, lower = (body.initial_positions for body in scene.bodies)
    ways = upper[link.vertices_a[:, 0]] - lower[link.vertices_b[:, 0]]
    np.testing.assert_allclose(ways, np.tile((0, 0, 0.1), (9, 1)), atol=1e-15)
    with pytest.raises(pl.SceneError, match=r"line 11: attachments.0: there is no body 'uper'. Did you mean 'upper'\?"):
        pl.load_scene(written(OUTSIDE.replace('["upper"', '["uper"') + TWO_BLOCKS))
    with pytest.raises(pl.SceneError, match=r"line 5: world_box.lower: WorldBox: lower is"):
        pl.load_scene(
            written(OUTSIDE.replace("stiffness = 1e4", "stiffness = 1e4\nupper = [-1.0, -1.0, -1.0]") + TWO_BLOCKS)
        )


MOVING = """
ignore_contact = [["upper", "lower"]]
[wind]
velocity = { times = [0.0, 1.0], values = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0]] }
[[obstacles]]
kind = "sphere"
centre = [1.0, 0.0, 0.0]
radius = 0.5
motion = { kind = "turn", turns = 0.25, seconds = 1.0, smooth = false }
[[attachments]]
bodies = ["upper", "lower"]
pairs = [[0, 2], [1, 3]]
stiffness = 100.0
[[bodies]]
kind = "obstacle"
name = "stairs"
shape = { kind = "cloth", cells = 1 }
motion = { kind = "slide", velocity = [0.0, 0.0, 2.0] }
"""


def test_what_moves_and_what_is_left_out(written):
    """A quarter of a turn about z takes the ball from x to y; half a second of 2 m/s lifts the stairs by 1 m."""
    scene = pl.load_scene(written(MOVING + TWO_BLOCKS))
    np.testing.assert_allclose(scene.shapes[0].row(1.0)[:3], (0, 1, 0), atol=1e-15)
    np.testing.assert_allclose(scene.shapes[0].row(1.0)[3:12].reshape(3, 3)[:, 0], (0, 1, 0), atol=1e-15)
    np.testing.assert_allclose(scene.wind.velocity_at(0.25), (1, 0, 0))
    assert scene.apart == {("upper", "lower")}
    assert scene.attachments[0].vertices_b.ravel().tolist() == [2, 3]
    vertices, motion = scene.bodies[0].motions[0]
    np.testing.assert_allclose(motion(0.5) - scene.bodies[0].mesh.points, [(0, 0, 1)] * len(vertices))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            'kind = "turn"',
            'kind = "trun"',
            "line 9: obstacles.0.motion.kind: found 'trun' (a string). Did you mean 'turn'?",
        ),
        ("pairs = [[0, 2], [1, 3]]", "", "line 10: attachments.0: found a table"),
        (
            "pairs = [[0, 2], [1, 3]]",
            "pairs = [[0, 99]]",
            "line 10: attachments.0: attach: vertices_b of lower: link 0",
        ),
        ("values = [[0.0, 0.0, 0.0], ", "values = [", "line 3: wind: Schedule: values are"),
        ("velocity = {", "velocity = 3.0 #", "line 4: wind.velocity: found 3.0 (a number); give three numbers [m/s]"),
        ('["upper", "lower"]]\n', '["upper", "lwoer"]]\n', "line 2: ignore_contact.0: there is no body 'lwoer'."),
        ("friction = 0.7", "edge_length = 0.1", "bodies.1.edge_length: it fills a surface with tets, but the mesh has"),
        (
            "lam = 1e4 }",
            "lam = 1e4, invertible = { upper = 2.0 } }",
            "invertible.upper: found 2.0 (a number); give a num",
        ),
    ],
)
def test_errors_of_what_moves(written, old, new, words):
    text = MOVING + TWO_BLOCKS
    assert old in text
    with pytest.raises(pl.PliantError) as error:
        pl.load_scene(written(text.replace(old, new, 1)))
    assert words in str(error.value)
