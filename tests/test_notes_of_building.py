"""What is said when a simulation is built."""

import numpy as np
import pytest

import pliant as pl
from pliant.default_solver import default_solver
from pliant.model import build_model
from pliant.notes_of_building import notes_of_building


def link(stiffness: float = np.inf) -> pl.Scene:
    scene = pl.Scene()
    body = scene.add_rigid(pl.Box((0.2, 0.1, 0.1)), density=1000.0, name="link")
    scene.add_joint("ball", body, None, point=(-0.1, 0, 0), stiffness=stiffness)
    return scene


def rope() -> pl.Scene:
    scene = pl.Scene()
    points = np.column_stack([np.linspace(0, 1, 5), np.zeros(5), np.zeros(5)])
    edges = np.column_stack([np.arange(4), np.arange(1, 5)])
    scene.add_springs(points, edges, stiffness=np.inf, mass=0.1, name="rope").pin([0])
    return scene


def said(scene: pl.Scene, solver: pl.Solver) -> list[str]:
    return [note for note, entry in notes_of_building(scene, build_model(scene), solver) if entry == "soft-joints"]


@pytest.mark.parametrize("solver", [pl.VBD(), pl.Newton(), pl.Auto(multipliers=False)], ids=lambda s: type(s).__name__)
def test_penalties_in_place_of_an_infinite_stiffness_are_told(solver: pl.Solver) -> None:
    (note,) = said(link(), solver)
    assert type(solver).__name__ in note
    assert "of link" in note
    assert "pl.AVBD()" in note


@pytest.mark.parametrize("solver", [pl.AVBD(), pl.Auto()], ids=lambda s: type(s).__name__)
def test_multipliers_are_not(solver: pl.Solver) -> None:
    assert said(link(), solver) == []


def crate(shape: object, friction: float) -> pl.Scene:
    scene = pl.Scene(contact=pl.Contact(friction=friction))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=friction)
    scene.add_rigid(shape, position=(0, 0, 0.1), name="crate")
    return scene


@pytest.mark.parametrize(
    ("scene", "solver", "count"),
    [
        (crate(pl.Box((0.2, 0.2, 0.2)), 0.5), pl.Auto(), 1),
        (crate(pl.Box((0.2, 0.2, 0.2)), 0.5), pl.AVBD(), 0),
        (crate(pl.Box((0.2, 0.2, 0.2)), 0.0), pl.Auto(), 0),
        (crate(pl.Sphere(0.1), 0.5), pl.Auto(), 0),
    ],
    ids=["penalties", "multipliers", "smooth", "rolls"],
)
def test_friction_that_creeps_is_told(scene: pl.Scene, solver: pl.Solver, count: int) -> None:
    notes = [note for note, entry in notes_of_building(scene, build_model(scene), solver) if entry == "creeping"]
    assert len(notes) == count
    assert all("crate may creep" in note for note in notes)


def test_a_finite_stiffness_is_not() -> None:
    assert said(link(1e5), pl.VBD()) == []


@pytest.mark.parametrize("solver", [pl.AVBD(), pl.Auto()], ids=lambda s: type(s).__name__)
def test_a_rope_of_rods_is_held_by_multipliers(solver: pl.Solver) -> None:
    assert said(rope(), solver) == []
    assert len(said(rope(), pl.VBD())) == 1


def test_the_default_of_ropes_of_rods_is_that_of_rigid_bodies() -> None:
    assert default_solver(rope()) == default_solver(link())


def stacked(shift: float = 0.0, contact: pl.Contact | None = None) -> pl.Scene:
    """Two boxes of 0.2 m, one 0.5 m above the other and shifted."""
    scene = pl.Scene(contact=contact)
    for name, place in (("lower", (0, 0, 0)), ("upper", (shift, 0, 0.5))):
        scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), density=1000.0, position=place, name=name)
    return scene


def untouched(scene: pl.Scene) -> list[str]:
    notes = notes_of_building(scene, build_model(scene), pl.AVBD())
    return [note for note, entry in notes if entry == "no-contact"]


def test_bodies_above_each_other_without_contact_are_told() -> None:
    (note,) = untouched(stacked(0.1))
    assert "such as lower and upper" in note
    assert "pl.Contact()" in note


@pytest.mark.parametrize(
    ("velocity", "is_told"), [((3.0, 0.0, 0.5), True), ((-3.0, 0.0, 0.0), False), ((0.0, 3.0, 0.0), False)]
)
def test_bodies_that_start_towards_each_other_without_contact_are_told(velocity, is_told) -> None:
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_rigid(pl.Sphere(0.1), velocity=velocity, name="ball")
    scene.add_rigid(pl.Box((0.1, 1.0, 1.0)), position=(1.0, 0.0, 0.0), name="wall").pin()
    told = [note for note, entry in notes_of_building(scene, build_model(scene), pl.AVBD()) if entry == "no-contact"]
    assert len(told) == is_told
    assert all("such as ball and wall, one of which starts towards the other" in note for note in told)


def test_bodies_with_contact_or_beside_each_other_or_joined_are_not() -> None:
    assert untouched(stacked(contact=pl.Contact())) == []
    assert untouched(stacked(0.3)) == []
    joined = stacked()
    joined.add_joint("distance", *joined.bodies, point=(0, 0, 0), other_point=(0, 0, 0.5), length=0.5)
    assert untouched(joined) == []


def test_particles_that_pass_through_springs_are_told() -> None:
    scene = rope()
    scene.add_particles([[0, 0, 0.1]], radius=0.01, name="sand")
    notes = notes_of_building(scene, build_model(scene), default_solver(scene))
    (note,) = (note for note, entry in notes if entry == "untested-contact")
    assert "sand pass through rope" in note


@pytest.mark.parametrize(
    ("about", "named"),
    [({"restitution": 1.0}, "ball has a restitution"), ({"friction": 0.4}, "ball has a friction"), ({}, None)],
)
def test_what_concerns_contacts_alone_is_no_use_without_contact(about: dict[str, float], named: str | None) -> None:
    scene = pl.Scene()
    scene.add_rigid(pl.Sphere(0.1), name="post")
    scene.add_rigid(pl.Sphere(0.1), position=(1, 0, 0), name="ball", **about)
    notes = [note for note, _ in notes_of_building(scene, build_model(scene), default_solver(scene))]
    assert [named is not None and named in note for note in notes] == ([] if named is None else [True])
