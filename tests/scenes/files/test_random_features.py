"""Random scenes of everything a file can say: built, written back and read again they are the same; damaged ones give
one sentence. They are not run: every set of elements would be compiled again.
"""

import copy
import tomllib

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.model import build_model
from pliant.scenes.files import Source, check
from pliant.scenes.files.build import build_scene
from pliant.scenes.files.toml_text import toml_text

number = st.floats(0.1, 10.0)
vector = st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3)
axis = vector.filter(lambda v: max(map(abs, v)) > 1e-3)
two_times = st.just([0.0, 0.5])


def table(optional=None, **keys):
    fixed = {key: value if isinstance(value, st.SearchStrategy) else st.just(value) for key, value in keys.items()}
    return st.fixed_dictionaries(fixed, optional=optional or {})


laws = st.one_of(
    table({"invertible": table(upper=0.2, lower=0.1)}, law="StableNeoHookean", mu=number, lam=number),
    table(law="MooneyRivlin", youngs_modulus=number, poissons_ratio=st.floats(0.0, 0.45), share=st.floats(0, 1)),
    table({"invertible": st.just({})}, law="ARAP", mu=number),
)
sheet_laws = table(law="StVenantKirchhoff", mu=number, lam=number)
some = st.one_of(
    table(kind="face", side=st.sampled_from(["+x", "-z"])),
    table(kind="nearest", point=vector, count=st.integers(1, 3)),
    table(kind="indices", indices=st.just([0, 2])),
)
places = st.one_of(
    some,
    table(kind="all"),
    table(kind="box", low=st.just([-9.0] * 3), high=st.just([9.0] * 3)),
)
motions = st.one_of(
    table({"begin": number, "seconds": number}, kind="slide", velocity=vector),
    table({"smooth": st.booleans()}, kind="turn", axis=axis, centre=vector, turns=number, seconds=number),
    table(
        {"repeat": st.booleans()}, kind="keyframes", times=two_times, offsets=st.lists(vector, min_size=2, max_size=2)
    ),
)
holds = st.one_of(
    table({"until": number}, kind="pin", where=some),
    table(kind="plane", where=some, normal=axis),
    st.builds(lambda motion, where: {**motion, "where": where}, motions, some),
)
pressure = st.one_of(
    number, table({"repeat": st.booleans()}, times=two_times, values=st.lists(number, min_size=2, max_size=2))
)
transform = table({"scale": number, "translation": vector, "rotation": table(axis=axis, degrees=number)})
common = {
    "transform": transform,
    "damping": st.floats(0.0, 1e-3),
    "air_damping": number,
    "gravity": vector,
    "velocity": vector,
    "friction": number,
    "colour": st.sampled_from(["#102030", [0.1, 0.2, 0.3]]),
    "ignore_contact": places,
    "holds": st.lists(holds, max_size=1),
}
solids = table(
    {**common, "pressure": pressure, "viscosity": number},
    kind="solid",
    shape=st.sampled_from([{"kind": "box", "cells": 2}, {"kind": "ball", "cells": 1}, {"kind": "torus"}]),
    material=laws,
)
stretch = st.floats(1.01, 3.0)
cloths = table(
    {
        **common,
        "tear_at": stretch,
        "bending": number,
        "warp": number,
        "weft": number,
        "warp_direction": st.just([1.0, 1.0, 0.0]),
    },
    kind="cloth",
    shape=table(kind="cloth", cells=st.integers(1, 3)),
    material=sheet_laws,
)
springs = {**common, "one_sided": st.booleans(), "lengths": number, "tear_at": stretch}
branched = st.sampled_from([{"kind": "net", "cells": 2, "diagonals": True}, {"kind": "wheel"}])
ropes = st.sampled_from([{"kind": "rope", "segments": 3}, {"kind": "polygon"}, {"kind": "chain"}])
nets = st.one_of(
    table(springs, kind="springs", shape=branched, stiffness=number, mass=number),
    table({**springs, "bending": number}, kind="springs", shape=ropes, stiffness=number, mass=number),
)
surfaces = table(
    {"friction": number, "motion": motions, "transform": transform},
    kind="obstacle",
    shape=st.sampled_from([{"kind": "box", "cells": 1}, {"kind": "cloth", "cells": 2}]),
)
obstacles = st.one_of(
    table({"friction": number, "motion": motions}, kind="plane", point=vector, normal=axis),
    table({"motion": motions}, kind="sphere", centre=vector, radius=number),
    table(
        {"motion": motions}, kind=st.sampled_from(["box", "container"]), centre=vector, size=st.just([1.0, 2.0, 3.0])
    ),
    table({"motion": motions}, kind="cylinder", start=st.just([0, 0, 0]), end=st.just([0, 0, 1]), radius=number),
)
contact = table({"friction": number, "thickness": number, "detect_every": st.integers(1, 5)}, stiffness=number)
wind_velocity = st.one_of(vector, table(times=two_times, values=st.lists(vector, min_size=2, max_size=2)))
links = st.one_of(table(where=places), table(pairs=st.just([[0, 1], [2, 0]])))
attachments = st.builds(
    lambda names, link, k: {"bodies": names, "stiffness": k, **link}, st.just(["first", "second"]), links, number
)


@st.composite
def scenes(draw):
    bodies = [draw(solids), draw(st.one_of(cloths, nets)), *draw(st.lists(surfaces, max_size=1))]
    bodies[0]["name"], bodies[1]["name"] = "first", "second"
    rest = table(
        {
            "contact": contact,
            "obstacles": st.lists(obstacles, max_size=2),
            "attachments": st.lists(attachments, max_size=1),
            "ignore_contact": st.just([["first", "second"], ["second", "second"]]),
            "wind": table({"lift": number}, velocity=wind_velocity),
            "world_box": table(lower=st.just([-1.0, float("-inf"), 0.0]), stiffness=number),
        }
    )
    return {"bodies": bodies, **draw(rest)}


quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def build(data, folder):
    text = toml_text(data)
    source = Source(folder / "random.toml", text, tomllib.loads(text))
    assert source.data == data
    return build_scene(check(source), source)


@quick
@given(scenes())
def test_written_back_it_is_the_same(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("random")
    scene = build(data, folder)
    pl.save_scene(scene, folder / "kept.toml")
    again = pl.load_scene(folder / "kept.toml")
    one, other = build_model(scene), build_model(again)
    for name in ("positions", "velocities", "mass", "gravity", "air_damping", "damping", "subspace", "directions"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for block, kept in zip(one.blocks, other.blocks, strict=True):
        np.testing.assert_array_equal(block.elements, kept.elements)
    for kinematic, kept in zip(one.kinematic, other.kinematic, strict=True):
        np.testing.assert_array_equal(kinematic.positions(0.37), kept.positions(0.37))
    for shape, kept in zip(scene.shapes, again.shapes, strict=True):
        np.testing.assert_array_equal(shape.row(0.37), kept.row(0.37))
    first = (folder / "kept.toml").read_text()
    pl.save_scene(again, folder / "kept.toml")
    assert (folder / "kept.toml").read_text() == first


def all_paths(value, path=()):
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from all_paths(inner, (*path, key))


@settings(quick, max_examples=200)
@given(scenes(), st.data())
def test_damaged_it_gives_one_sentence_per_error(tmp_path_factory, data, draw):
    """A value of the wrong kind, a key removed or misspelt: it still builds, or one PliantError says what is wrong."""
    damaged = copy.deepcopy(data)
    path = draw.draw(st.sampled_from([p for p in all_paths(damaged) if p]))
    inner = damaged
    for key in path[:-1]:
        inner = inner[key]
    how = draw.draw(st.sampled_from(["replace", "remove", "rename"]))
    if how == "replace":
        inner[path[-1]] = draw.draw(st.sampled_from(["nonsense", "", -1, float("nan"), True, [], {}, [[]], [1, 2]]))
    elif how == "rename" and isinstance(inner, dict):
        inner[f"{path[-1]}x"] = inner.pop(path[-1])
    else:
        del inner[path[-1]]
    text = toml_text(damaged)
    source = Source(tmp_path_factory.getbasetemp() / "random.toml", text, tomllib.loads(text))
    assert all(line.startswith(str(source.path)) for line in error_of(source).splitlines())


def error_of(source):
    """What a file's error says; empty if it has none."""
    try:
        build_model(build_scene(check(source), source))
    except pl.PliantError as error:
        return str(error)
    return ""
