"""Parts of one tet do not touch each other: when they meet, the tet turns inside out or back."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

import pliant as pl
from pliant.contact.detection import continuous_contacts, find_penetrations, track_sides
from pliant.contact.search.broad_phase import surface_of
from pliant.contact.search.inversion import apexes, are_opposite, opposite_edges
from pliant.contact.search.solid import solid_of
from pliant.contact.tracking.side_history import no_side_history
from pliant.kernels.threads import Team

TET = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.2, 0.3, 1.0]])


def turned_inside_out(kind: str) -> np.ndarray:
    """The last corner below the opposite face, or the edge 0-1 on the other side of the edge 2-3."""
    points = TET.copy()
    if kind == "corner":
        points[3, 2] = -0.5
    else:
        points[:2] += 2.0 * (points[2:].mean(axis=0) - points[:2].mean(axis=0))
    a, b, c = points[1:] - points[0]
    assert np.dot(np.cross(a, b), c) < 0
    return points


@pytest.mark.parametrize("kind", ["corner", "edge"])
@pytest.mark.parametrize("is_return", [False, True], ids=["out", "back"])
def test_nothing_meets_when_a_tet_turns_inside_out_or_back(
    team: Team, assemble: Callable, kind: str, is_return: bool
) -> None:
    _, colliders, _ = assemble(solids=[(TET, np.array([[0, 1, 2, 3]]))])
    start, end = (turned_inside_out(kind), TET) if is_return else (TET, turned_inside_out(kind))
    assert len(continuous_contacts(team, colliders, start, end, no_side_history()).kind) == 0
    history = track_sides(team, colliders, no_side_history(), start, end, solids_too=True)
    assert len(history.vertices) == len(history.edges) == 0
    assert len(find_penetrations(team, colliders, end).contacts.kind) == 0


def test_a_vertex_of_another_tet_still_meets(team: Team, assemble: Callable) -> None:
    """The same way back, by a corner of another body."""
    start, _, _ = assemble(
        solids=[(TET, np.array([[0, 1, 2, 3]])), (TET * [1, 1, 0.3] - [0, 0, 0.5], np.array([[0, 1, 2, 3]]))]
    )
    x, colliders, _ = assemble(solids=[(start[:4], np.array([[0, 1, 2, 3]])), (start[4:], np.array([[0, 1, 2, 3]]))])
    end = x.copy()
    end[4:, 2] += 0.4
    contacts = continuous_contacts(team, colliders, x, end, no_side_history())
    assert 7 in contacts.vertices[:, 0]


def test_opposite_edges_are_those_of_some_tet() -> None:
    """Against all pairs, on boxes where some tets have all their corners on the surface and others have not."""
    mesh = pl.shapes.box((1, 1, 1), (3, 2, 2))
    solid = solid_of(mesh.tets, mesh.n_vertices)
    surface = surface_of(solid.faces, mesh.n_vertices)
    tets = {frozenset(t) for t in mesh.tets.tolist()}
    expected = [
        (i, j)
        for i, j in combinations(range(len(surface.edges)), 2)
        if frozenset((*surface.edges[i].tolist(), *surface.edges[j].tolist())) in tets
    ]
    pairs, e = opposite_edges(solid, surface, mesh.n_vertices), len(surface.edges)
    assert [(int(k) // e, int(k) % e) for k in pairs] == expected
    first, second = np.array(list(combinations(range(e), 2))).T
    is_found = are_opposite(pairs, e, first, second)
    assert list(zip(first[is_found].tolist(), second[is_found].tolist(), strict=True)) == expected
    for face, apex in zip(solid.faces.tolist(), apexes(solid).tolist(), strict=True):
        assert frozenset((*face, apex)) in tets
