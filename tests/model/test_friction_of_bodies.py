"""Every kind of body takes a friction of its own when it is added."""

import numpy as np
import pytest

import pliant as pl
from pliant.model import build_model

LAW = pl.StVenantKirchhoff.from_young(1e4, 0.3)
POINTS, EDGES = np.eye(3), np.array([[0, 1], [1, 2]])
ADDERS = {
    "solid": lambda scene, **given: scene.add_solid(pl.shapes.box(cells=1), LAW, **given),
    "cloth": lambda scene, **given: scene.add_cloth(pl.shapes.cloth(cells=(2, 2)), LAW, **given),
    "springs": lambda scene, **given: scene.add_springs(POINTS, EDGES, stiffness=1e3, mass=0.1, **given),
    "rigid": lambda scene, **given: scene.add_rigid(pl.Sphere(0.1), **given),
    "particles": lambda scene, **given: scene.add_particles(POINTS, **given),
}


@pytest.mark.parametrize("kind", ADDERS)
def test_a_body_is_added_with_its_friction(kind: str) -> None:
    scene = pl.Scene(contact=pl.Contact(friction=0.1))
    assert ADDERS[kind](scene).friction is None
    assert ADDERS[kind](scene, friction=0.7).friction == 0.7
    contact = build_model(scene).contact
    assert contact is not None
    np.testing.assert_equal(contact.friction[[0, -1]], [np.nan, 0.7])  # of vertices: that of the scene, its own


@pytest.mark.parametrize("kind", ADDERS)
def test_a_friction_that_is_none_is_refused_with_the_body(kind: str) -> None:
    with pytest.raises(pl.PliantError, match=f"{kind}0: friction.*'rough'"):
        ADDERS[kind](pl.Scene(), friction="rough")
