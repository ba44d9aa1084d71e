"""Random scene files: valid ones run a step, damaged ones give one sentence and no traceback."""

import copy
import tomllib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.materials import SOLID_LAWS
from pliant.scenes.files import Source, check, make_simulation, read_source
from pliant.scenes.files.toml_text import toml_text

number = st.floats(0.1, 10.0)
vector = st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3)
axis = vector.filter(lambda v: max(map(abs, v)) > 1e-3)
cells = st.integers(1, 3)

shapes = st.one_of(
    st.fixed_dictionaries({"kind": st.just("box"), "cells": st.one_of(cells, st.lists(cells, min_size=3, max_size=3))}),
    st.fixed_dictionaries({"kind": st.just("ball"), "radius": number, "cells": st.integers(1, 2)}),
    st.fixed_dictionaries({"kind": st.just("cylinder"), "height": number, "cells": st.just(1)}),
)
# one law: every set of laws in a scene is compiled again, which takes minutes
materials = st.fixed_dictionaries(
    {
        "law": st.just("StableNeoHookean"),
        "youngs_modulus": st.floats(1e3, 1e6),
        "poissons_ratio": st.floats(0.0, 0.45),
    }
)
places = st.one_of(
    st.fixed_dictionaries({"kind": st.just("face"), "side": st.sampled_from(["+x", "-y", "+z"])}),
    st.fixed_dictionaries({"kind": st.just("nearest"), "point": vector, "count": st.integers(1, 3)}),
    st.fixed_dictionaries({"kind": st.just("indices"), "indices": st.just([0])}),
)
holds = st.one_of(
    st.fixed_dictionaries({"kind": st.just("pin"), "where": places}, optional={"until": number}),
    st.fixed_dictionaries({"kind": st.just("slide"), "where": places, "velocity": vector}),
    st.fixed_dictionaries({"kind": st.just("turn"), "where": places, "axis": axis, "turns": number, "seconds": number}),
    st.fixed_dictionaries({"kind": st.just("line"), "where": places, "direction": axis}),
)
bodies = st.fixed_dictionaries(
    {"kind": st.just("solid"), "shape": shapes, "material": materials},
    optional={
        "density": st.floats(10.0, 1e4),
        "damping": st.floats(0.0, 1e-3),
        "velocity": vector,
        "colour": st.sampled_from(["#102030", [0.1, 0.2, 0.3]]),
        "holds": st.lists(holds, max_size=1),
        "transform": st.fixed_dictionaries(
            {},
            optional={"scale": number, "translation": vector, "rotation": st.just({"axis": [1, 0, 0], "degrees": 30})},
        ),
    },
)
scenes = st.fixed_dictionaries(
    {"bodies": st.lists(bodies, min_size=1, max_size=2)},
    optional={
        "gravity": vector,
        "simulation": st.fixed_dictionaries(
            {}, optional={"frame_rate": st.floats(10, 200), "substeps": st.integers(1, 9)}
        ),
        "solver": st.fixed_dictionaries({"name": st.just("VBD"), "iterations": st.integers(1, 5)}),
        "title": st.text(max_size=20),
    },
)
quick = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def as_source(data, path="random.toml"):
    """Through the text of a file and back."""
    text = toml_text(data)
    return Source(path, text, tomllib.loads(text))


@quick
@given(scenes)
def test_valid_scenes_run_a_step(data):
    """The step keeps held vertices where they are to be, to single precision; the text says what the table says."""
    source = as_source(data)
    assert source.data == data
    sim = make_simulation(check(source), source, threads=1)
    pinned = ~sim.model.is_free
    for kinematic in sim.model.kinematic:
        pinned[kinematic.vertices] = False
    before = sim.positions
    sim.step()
    np.testing.assert_allclose(sim.positions[pinned], before[pinned], rtol=1e-6, atol=1e-6)
    for kinematic in sim.model.kinematic:
        np.testing.assert_allclose(sim.positions[kinematic.vertices], kinematic.positions(sim.h), rtol=1e-6, atol=1e-6)
    assert np.isfinite(sim.positions).all()


def all_paths(value, path=()):
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from all_paths(inner, (*path, key))


WRONG = st.one_of(
    st.sampled_from(
        [None, "nonsense", "", -1, 1e308, float("nan"), float("inf"), True, [], {}, [[]], {"kind": 3}, [1, 2]]
    ),
    st.text(max_size=8),
    st.integers(-(2**70), 2**70),
)


@settings(quick, max_examples=150)
@given(scenes, st.data())
def test_damaged_scenes_give_one_sentence(data, draw):
    """Any value replaced, removed or renamed: either it still builds or one PliantError names the file."""
    damaged = copy.deepcopy(data)
    path = draw.draw(st.sampled_from([p for p in all_paths(damaged) if p]))
    table = damaged
    for key in path[:-1]:
        table = table[key]
    how = draw.draw(st.sampled_from(["replace", "remove", "rename"]))
    value = draw.draw(WRONG)
    if how == "replace" and value is not None:
        table[path[-1]] = value
    elif how == "rename" and isinstance(table, dict):
        table[f"{path[-1]}x"] = table.pop(path[-1])
    else:
        del table[path[-1]]
    try:
        source = as_source(damaged)
    except (tomllib.TOMLDecodeError, UnicodeEncodeError):
        return  # an integer beyond what TOML holds, and the like
    message = error_of(source)
    assert message is None or all(line.startswith("random.toml") for line in message.splitlines())


def error_of(source):
    """What a file's error says; None if it has none."""
    try:
        table = check(source)
        shapes = [body.shape for body in table.bodies if body.shape is not None]
        counts = [count for shape in shapes for count in np.ravel(getattr(shape, "cells", 1)).tolist()]
        if any(50 < count < 1e9 for count in counts):
            return None  # a valid scene of very many tets, which takes its time
        make_simulation(table, source, threads=1)
    except pl.PliantError as error:
        return str(error)
    return None


@settings(quick, max_examples=100)
@given(st.binary(max_size=60))
def test_files_of_noise_are_told(tmp_path_factory, noise):
    path = tmp_path_factory.mktemp("noise") / "noise.toml"
    path.write_bytes(noise)
    with pytest.raises(pl.PliantError, match=r"noise\.toml"):
        check(read_source(path))


@pytest.mark.parametrize("law", SOLID_LAWS)
def test_every_law_can_be_named(law):
    """With mu and lam, and with Young's modulus and Poisson's ratio: the same material."""
    from pliant.scenes.files.generated import make_law

    def material(**parameters):
        body = {"kind": "solid", "shape": {"kind": "box"}, "material": {"law": law, **parameters}}
        return make_law(check(Source("x.toml", "", {"bodies": [body]})).bodies[0].material)

    if law == "ARAP":  # has no parameter but mu
        assert material(mu=1e5) == pl.ARAP(1e5)
        return
    expected = SOLID_LAWS[law].from_young(1e5, 0.3)
    assert material(youngs_modulus=1e5, poissons_ratio=0.3) == expected
    assert material(mu=expected.mu, lam=expected.lam) == expected
