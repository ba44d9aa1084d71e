"""Taking bodies apart where a scene starts in intersection (scene.untangle, decision 0050).

Solids move as wholes, the shortest way out of each other; sheets and ropes move vertex by vertex: out
of solids and obstacles, and of sheets in the direction that shortens the intersection contour (search/contours.py).
Sheets and ropes that this does not part, as those that cut each other from rim to rim and ropes that go through sheets,
move as wholes (parting.py).
All of it is done in rounds of small motions, shared by masses; what is held does not move, nor do rigid bodies.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import ContactSet, gaps, joined
from pliant.contact.detection import colliders_of, inside_contacts
from pliant.contact.intersections import Intersections, crossing_points, find_intersections
from pliant.contact.parting import Cut, shortest_way
from pliant.contact.search.colliders import Colliders
from pliant.contact.search.contours import contours_of
from pliant.contact.search.edge_depths import deepest_edge
from pliant.contact.search.faces_near_obstacles import edges_and_triangles, face_contacts_at
from pliant.contact.search.initial_intersections import piercing_pairs
from pliant.contact.search.near_obstacles import obstacle_contacts_at
from pliant.contact.search.start_pairs import touching_pairs
from pliant.errors import SceneError
from pliant.kernels.threads import Team
from pliant.model import CARRIED, Model, Scene, build_model, checks

GAP = 1e-3  # of an edge: between bodies that were in each other, if they have no thickness
CONTOUR_STEP = 0.1  # of an edge: that the surfaces of a contour move against each other in a round
WEAK = 1e-9  # sum of gradients for each point of a contour, below which rounding decides on its direction
PATIENCE = 60  # rounds without fewer crossings after which sheets move as wholes
FAR = 2.0  # edges: sheets that were drawn further may be parted more easily as wholes
PARTINGS = 5  # of all pairs of bodies: what has moved may be in another
SMOOTHED = 2  # rounds in which neighbours of vertices that move along with a contour follow


class Way(NamedTuple):
    """A motion that parts two units: `one` along a direction against the `other`, or an obstacle (-1)."""

    one: int
    other: int
    direction: np.ndarray  # (3,) unit vector
    distance: float  # [m]


class Untangled(NamedTuple):
    """What scene.untangle did."""

    rounds: int
    furthest: float  # [m] that a vertex was moved
    left: Intersections  # what still intersects


def untangle(scene: Scene, rounds: int = 500) -> Untangled:
    """Change the positions with which the bodies of a scene start until nothing intersects, or for so many rounds."""
    checks.count(rounds, "untangle: rounds")
    if scene.contact is None:
        raise SceneError("untangle: the scene has no contact, so nothing intersects: set scene.contact = pl.Contact().")
    model = build_model(scene)
    assert model.contact is not None
    if model.particles is not None:
        raise SceneError("untangle: particles are not moved apart: place them apart, or add them after untangle.")
    work = Untangling(model, Team(1))
    start = model.positions
    x = start.copy()
    done, is_stuck = work.take_apart(x, rounds)
    if is_stuck or work.has_drawn_thin_bodies(start, x):
        other = (start if len(work.thin_pairs(start)) else x).copy()  # what only touched may go through by now
        work.part_thin_bodies(other)
        more, is_stuck_too = work.take_apart(other, rounds)
        if (is_stuck_too, _furthest(start, other)) < (is_stuck, _furthest(start, x)):
            x, done = other, more
    for k, body in enumerate(scene.bodies):
        own = slice(*model.body_start[k : k + 2])
        if not np.array_equal(x[own], start[own]):
            body.set_positions(x[own])
    left = find_intersections(work.team, work.colliders, model.contact, tuple(model.body_names), x, 0.0)
    return Untangled(done, _furthest(start, x), left)


def _furthest(start: np.ndarray, x: np.ndarray) -> float:
    """[m] that a vertex is away from where it was, of positions (n, 3)."""
    return float(np.linalg.norm(x - start, axis=1).max(initial=0.0))


@dataclass
class Untangling:
    """Moves the vertices of a model apart, round by round."""

    model: Model
    team: Team
    colliders: Colliders = field(init=False)
    _unit: np.ndarray = field(init=False)  # (n,) what moves as a whole: a body, or a vertex alone
    _inverse_mass: np.ndarray = field(init=False)  # (units,) [1/kg], zero for who is held
    _is_whole: np.ndarray = field(init=False)  # (n,) bool
    _is_rope: np.ndarray = field(init=False)  # (n,) bool: of no triangle
    _body: np.ndarray = field(init=False)  # (n,) of each vertex
    _faces: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        model, contact = self.model, self.model.contact
        assert contact is not None
        self.colliders = colliders_of(self.team, replace(contact, clearance=np.zeros_like(contact.clearance)))
        self._faces = edges_and_triangles(self.colliders.surface)
        n, bodies = model.n_vertices, len(model.body_names)
        self._body = body = contact.body.astype(np.int64)
        is_whole = np.zeros(bodies, bool)
        is_whole[body[self.colliders.has_inside | (model.subspace == CARRIED)]] = True
        self._is_whole = is_whole[body]
        self._is_rope = np.ones(n, bool)
        self._is_rope[self.colliders.surface.triangles] = False
        self._unit = np.where(self._is_whole, body, bodies + np.arange(n))
        mass = np.bincount(self._unit, model.mass, bodies + n)
        self._inverse_mass = np.where(mass > 0, 1.0 / np.maximum(mass, 1e-300), 0.0)
        self._inverse_mass[self._unit[~model.is_free | (model.subspace == CARRIED)]] = 0.0

    def take_apart(self, x: np.ndarray, rounds: int) -> tuple[int, bool]:
        """Change positions x (n, 3) [m] by up to so many rounds; how many, and whether sheets or ropes are still in
        each other, and no fewer of their edges and triangles than many rounds before.
        """
        fewest, since = np.inf, 0
        for done in range(rounds):
            crossing = len(self.thin_pairs(x))
            since = 0 if crossing < fewest else since + 1
            fewest = min(fewest, crossing)
            if (crossing and since > PATIENCE) or not self.move_apart(x):
                return done, crossing > 0
        return rounds, len(self.thin_pairs(x)) > 0

    def has_drawn_thin_bodies(self, start: np.ndarray, x: np.ndarray) -> bool:
        """Whether sheets that were in each other at the start (n, 3) [m] have been drawn far to get to x."""
        assert self.model.contact is not None
        far = FAR * self.model.contact.edge
        away = np.linalg.norm(x - start, axis=1) > far
        return bool((away & ~self._is_whole).any()) and len(self.thin_pairs(start)) > 0

    def part_thin_bodies(self, x: np.ndarray) -> None:
        """Move sheets and ropes that are in each other apart as wholes, the shortest way (contact.parting)."""
        for _ in range(PARTINGS):
            pairs = self.thin_pairs(x)
            if not len(pairs):
                return
            both = np.sort(self._body[pairs[:, [0, 2]]], axis=1)
            for one, other in np.unique(both[both[:, 0] != both[:, 1]], axis=0).tolist():
                self._part(one, other, pairs[(both == (one, other)).all(axis=1)], x)

    def _part(self, one: int, other: int, pairs: np.ndarray, x: np.ndarray) -> None:
        """Move two bodies apart, of whose edges and triangles those of pairs (k, 5) intersect; x (n, 3) [m]."""
        ours, theirs = self._body == one, self._body == other
        w, v = (0.0 if self._is_held(own) else 1.0 / self.model.mass[own].sum() for own in (ours, theirs))
        if w + v == 0:
            return

        def crosses(way: np.ndarray) -> bool:
            found = touching_pairs(self.team, self.colliders, x + ours[:, None] * way)
            return bool((np.sort(self._body[found[:, [0, 2]]], axis=1) == (one, other)).all(axis=1).any())

        way = shortest_way(Cut(x[ours], x[theirs], crossing_points(pairs, x)[0]), crosses)
        x[ours] += w / (w + v) * way
        x[theirs] -= v / (w + v) * way

    def _is_held(self, own: np.ndarray) -> bool:
        """Whether a vertex of some (n,) bool does not move."""
        return bool((self._inverse_mass[self._unit[own]] == 0).any())

    def thin_pairs(self, x: np.ndarray) -> np.ndarray:
        """(k, 5) vertices of edges and triangles that intersect at x (n, 3) [m], neither of a solid; ropes also if they
        only touch, as where a vertex of a rope that goes through a sheet lies in it.
        """
        surface = self.colliders.surface
        if not len(surface.edges):
            return np.zeros((0, 5), np.int64)
        pairs = piercing_pairs(self.team, self.colliders, x)
        vertices = np.column_stack([surface.edges[pairs[:, 0]], surface.triangles[pairs[:, 1]]])
        if self._is_rope.any():
            touching = touching_pairs(self.team, self.colliders, x)
            of_ropes = touching[self._is_rope[touching[:, 0]]]
            vertices = np.concatenate([vertices[~self._is_rope[vertices[:, 0]]], of_ropes])
        return vertices[~self._is_whole[vertices[:, [0, 2]]].any(axis=1)]

    def move_apart(self, x: np.ndarray) -> bool:
        """Change positions x (n, 3) [m] by one round; whether there was anything to do that could be done."""
        moved, surface = np.zeros_like(x), self.colliders.surface
        pairs = piercing_pairs(self.team, self.colliders, x) if len(surface.edges) else np.zeros((0, 2), np.int64)
        are_whole = self._is_whole[surface.edges[pairs[:, 0], 0]] & self._is_whole[surface.triangles[pairs[:, 1], 0]]
        is_any = self._out_of_solids(pairs[are_whole], x, moved) | self._out_of_sheets(pairs[~are_whole], x, moved)
        if not is_any and len(surface.edges):
            is_any = self._off_faces(x, moved)
        x += moved
        return is_any and bool(moved.any())

    def _out_of_solids(self, pairs: np.ndarray, x: np.ndarray, moved: np.ndarray) -> bool:
        """Motions (n, 3) [m] of what is in solids and obstacles, the shortest way out; whether anything is.

        pairs (k, 2): edges and triangles of bodies that move as wholes and intersect.
        """
        contact, colliders = self.model.contact, self.colliders
        assert contact is not None
        nobody = np.zeros(len(contact.allowed), bool)
        sets = [inside_contacts(self.team, colliders, x, nobody)[0]]
        for k in range(len(contact.shapes)):
            sets.append(obstacle_contacts_at(self.team, contact, k, x, x, 0.0, 0.0, 0.0))
            sets.append(face_contacts_at(self.team, contact, k, self._faces, x, x, 0.0, 0.0, 0.0))
        contacts = joined(*sets)
        least = GAP * contact.edge[contacts.vertices[:, 0]]
        lack = np.maximum(least - contacts.thickness, 0.0) - gaps(contacts, x)
        is_deep = lack > 1e-9 * least
        found = self._ways(contacts, np.flatnonzero(is_deep), lack)
        edge = deepest_edge(self.team, colliders, x)
        if edge is not None:
            distance = edge.depth + GAP * contact.edge[edge.vertices[0]]
            found += [
                Way(unit, edge.body, edge.outward, distance) for unit in {int(self._unit[v]) for v in edge.vertices}
            ]
        known = {frozenset(way[:2]) for way in found}
        found += [way for way in self._off_triangles(pairs, x) if frozenset(way[:2]) not in known]
        self._move_units(found, moved)
        return bool(found)

    def _off_triangles(self, pairs: np.ndarray, x: np.ndarray) -> list[Way]:
        """For bodies of which only edges (k, 2) that are not sharp are in each other: the shortest motion that takes
        one off its triangle.
        """
        surface, contact = self.colliders.surface, self.model.contact
        assert contact is not None
        shortest: dict[tuple[int, int], Way] = {}
        for edge, triangle in zip(surface.edges[pairs[:, 0]], surface.triangles[pairs[:, 1]], strict=True):
            a, b, c = x[triangle]
            normal = np.cross(b - a, c - a)
            normal /= max(float(np.linalg.norm(normal)), 1e-300)
            distance = GAP * contact.edge[edge[0]] - float(((x[edge] - a) @ normal).min())
            key = int(self._unit[edge[0]]), int(self._unit[triangle[0]])
            if key not in shortest or distance < shortest[key].distance:
                shortest[key] = Way(*key, normal, distance)
        return list(shortest.values())

    def _off_faces(self, x: np.ndarray, moved: np.ndarray) -> bool:
        """Motions (n, 3) [m] that open a gap where nothing crosses but edges and triangles touch; whether any do."""
        contact = self.model.contact
        assert contact is not None
        found = touching_pairs(self.team, self.colliders, x)
        found = found[~(self._is_rope[found[:, 0]] & ~self._is_whole[found[:, 2]])]  # ropes and sheets part as wholes
        if not len(found):
            return False
        p, q, a, b, c = np.moveaxis(x[found], 1, 0)
        normal = np.cross(b - a, c - a)
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
        heights = np.stack([np.einsum("ka,ka->k", normal, ends - a) for ends in (p, q)])
        side = np.where(self.colliders.has_inside[found[:, 2]] | (heights.sum(axis=0) >= 0), 1.0, -1.0)
        gap = GAP * contact.edge[found[:, 0]]
        lack = 2.0 * gap - np.minimum(*(side * heights))
        ways: list[Way] = []
        for k in np.flatnonzero(lack < 3.0 * gap).tolist():
            for vertex in found[k, :2]:
                ways.append(Way(int(self._unit[vertex]), int(self._unit[found[k, 2]]), side[k] * normal[k], lack[k]))
        self._move_units(ways, moved)
        return bool(ways)

    def _ways(self, contacts: ContactSet, chosen: np.ndarray, lack: np.ndarray) -> list[Way]:
        """For each pair of what moves as a whole the deepest contact."""
        deepest: dict[tuple[int, int], int] = {}
        for k in chosen.tolist():
            v = contacts.vertices[k]
            other = -1 if contacts.obstacle[k] >= 0 else int(self._unit[v[2]])
            key = int(self._unit[v[0]]), other
            if key not in deepest or lack[k] > lack[deepest[key]]:
                deepest[key] = k
        return [Way(*key, contacts.normals[k], float(lack[k])) for key, k in deepest.items()]

    def _move_units(self, ways: list[Way], moved: np.ndarray) -> None:
        """Add motions that part units, shared by their masses; of several of one unit the mean, of bodies the sum."""
        total, count = np.zeros((len(self._inverse_mass), 3)), np.zeros(len(self._inverse_mass))
        for one, other, normal, distance in ways:
            w, v = self._inverse_mass[one], 0.0 if other < 0 else self._inverse_mass[other]
            if w + v == 0:
                continue
            for unit, part in ((one, w / (w + v)), (other, -v / (w + v))):
                if unit >= 0 and part:
                    total[unit] += part * distance * normal
                    count[unit] += 1
        moved += (total / np.maximum(count, 1.0)[:, None])[self._unit]

    def _out_of_sheets(self, pairs: np.ndarray, x: np.ndarray, moved: np.ndarray) -> bool:
        """Motions (n, 3) [m] that shorten the contours of pairs (k, 2) of edges and triangles; whether any are."""
        surface, contact = self.colliders.surface, self.model.contact
        assert contact is not None
        contours = contours_of(self.colliders, pairs, x)
        if not len(contours.pairs):
            return bool(len(pairs))
        edges, triangles = surface.edges[contours.pairs[:, 0]], surface.triangles[contours.pairs[:, 1]]
        strength = np.linalg.norm(contours.towards, axis=1, keepdims=True)
        points = np.bincount(contours.label)[:, None]
        towards = np.where(strength > WEAK * points, contours.towards / np.maximum(strength, 1e-300), 0.0)
        step = CONTOUR_STEP * contact.edge[edges[:, 0]][:, None] * towards[contours.label] * contours.side[:, None]
        w = self._inverse_mass[self._unit]
        ours, theirs = w[edges].mean(axis=1), w[triangles].mean(axis=1)
        share = np.divide(ours, ours + theirs, out=np.zeros_like(ours), where=ours + theirs > 0)[:, None]
        total, count = np.zeros_like(x), np.zeros(len(x))
        for corners, motion in ((edges, share * step), (triangles, (share - 1.0) * step)):
            for k in range(corners.shape[1]):
                np.add.at(total, corners[:, k], motion)
                np.add.at(count, corners[:, k], 1.0)
        own = total / np.maximum(count, 1.0)[:, None]
        own[w == 0] = 0.0
        moved += self._followed(own, count > 0)
        return True

    def _followed(self, own: np.ndarray, is_fixed: np.ndarray) -> np.ndarray:
        """Motions (n, 3) [m] of contours, with those of their neighbours."""
        a, b = self.colliders.surface.edges.T
        free = (self._inverse_mass[self._unit] > 0) & ~self._is_whole & ~is_fixed
        for _ in range(SMOOTHED):
            total, count = np.zeros_like(own), np.zeros(len(own))
            for one, other in ((a, b), (b, a)):
                np.add.at(total, one, own[other])
                np.add.at(count, one, 1.0)
            own = np.where(free[:, None], total / np.maximum(count, 1.0)[:, None], own)
        return own
