"""What intersects at one moment: as a list that people read, and as points to draw."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from pliant.contact.contact_set import gaps
from pliant.contact.detection import find_penetrations
from pliant.contact.rigid_overlaps import RigidOverlaps, no_overlaps
from pliant.contact.search.colliders import Colliders, check_positions
from pliant.contact.search.initial_intersections import piercing_pairs
from pliant.contact.search.near_obstacles import obstacle_contacts_at
from pliant.elements.closest import VERTEX_TRIANGLE
from pliant.kernels.threads import Team
from pliant.model import ContactModel

TOUCHING = 1e-6  # of an edge: what is less deep only touches
# of an edge: how deep a vertex is at most in an obstacle at which it just rests; of a rigid body, of a soft one
RESTS_RIGID, RESTS_SOFT = 1e-3, 0.1


@dataclass(frozen=True)
class Intersections:
    """Edges that go through triangles, vertices inside solids and obstacles. Print it for a list by bodies."""

    crossing: np.ndarray  # (k, 5) vertices: two of an edge, three of the triangle it goes through
    points: np.ndarray  # (k + m + o, 3) [m] where: of the edges, then of the vertices inside solids and obstacles
    inside: np.ndarray  # (m, 2) a vertex, and the number of the body that it is inside of
    inside_depths: np.ndarray  # (m,) [m]
    in_obstacles: np.ndarray  # (o, 2) a vertex, and the number of the obstacle in Scene.shapes
    obstacle_depths: np.ndarray  # (o,) [m]
    near: int  # pairs that are nearer than the thickness of sheets, which are no intersections
    nearest: float  # [m] by how much one of them is
    body: np.ndarray  # (n,) of the vertices
    names: tuple[str, ...]  # of the bodies
    overlaps: RigidOverlaps  # rigid bodies that overlap, of which no vertex is inside the other
    sunk: int  # vertices that nothing holds, and that are deeper in obstacles than what rests there

    def __len__(self) -> int:
        return len(self.crossing) + len(self.inside) + len(self.in_obstacles) + len(self.overlaps.depths)

    @property
    def deepest(self) -> float:
        """[m] of vertices; edges that go through sheets have no depth."""
        depths = np.concatenate([self.inside_depths, self.obstacle_depths, self.overlaps.depths])
        return max(float(depths.max(initial=0.0)), self.nearest)

    @property
    def is_reported(self) -> bool:
        """Whether a start like this is worth a warning: vertices that rest at obstacles are not."""
        return len(self.crossing) + len(self.inside) + self.near + self.sunk + len(self.overlaps.depths) > 0

    def __str__(self) -> str:
        """A line for each pair of bodies."""
        lines = []
        pairs = [tuple(sorted((int(self.body[v[0]]), int(self.body[v[2]])))) for v in self.crossing]
        for (one, other), count in sorted(Counter(pairs).items()):
            first = self.points[pairs.index((one, other))]
            others = "itself" if one == other else self.names[other]
            lines.append(f"{self.names[one]} and {others}: {count} edges go through triangles, one at {_place(first)}")
        lines += self._lines(self.inside, self.inside_depths, self.names)
        obstacles = [f"obstacle {k}" for k in range(int(self.in_obstacles[:, 1].max(initial=-1)) + 1)]
        lines += self._lines(self.in_obstacles, self.obstacle_depths, obstacles)
        for body, other, depth in zip(*self.overlaps, strict=True):
            name = self.names[other] if other >= 0 else f"obstacle {-1 - other}"
            lines.append(f"{self.names[body]} and {name} overlap by {1e3 * depth:.3g} mm")
        return "\n".join(lines) or "nothing intersects"

    def _lines(self, found: np.ndarray, deep: np.ndarray, others: list[str] | tuple[str, ...]) -> list[str]:
        own = self.body[found[:, 0]]
        return [
            f"{self.names[one]} in {others[other]}: {int(chosen.sum())} vertices, the deepest by "
            f"{1e3 * deep[chosen].max():.3g} mm"
            for one, other in sorted(set(zip(own.tolist(), found[:, 1].tolist(), strict=True)))
            for chosen in [(own == one) & (found[:, 1] == other)]
        ]


def find_intersections(
    team: Team,
    colliders: Colliders,
    model: ContactModel,
    names: tuple[str, ...],
    x: np.ndarray,
    time: float,
    overlaps: RigidOverlaps | None = None,
    rests: np.ndarray | None = None,
) -> Intersections:
    """At positions x (n, 3) [m], with obstacles where they are at a time [s]; overlaps: of rigid bodies; rests (n,):
    part of an edge by which a vertex that just rests at an obstacle is inside it at most.
    """
    x = check_positions(x, colliders, "the position")
    surface, touching = colliders.surface, TOUCHING * float(np.min(model.edge, initial=np.inf))
    pairs = piercing_pairs(team, colliders, x) if len(surface.edges) else np.zeros((0, 2), np.int64)
    crossing = np.column_stack([surface.edges[pairs[:, 0]], surface.triangles[pairs[:, 1]]])
    vertices, bodies, deep, near, nearest = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), 0, 0.0
    if len(surface.edges):
        found = find_penetrations(team, colliders, x).contacts
        gap = gaps(found, x)
        deep = -(gap + found.thickness)
        of_solid = (found.kind == VERTEX_TRIANGLE) & colliders.has_inside[found.vertices[:, 2]]
        is_inside = of_solid & (deep > touching)
        clearance = colliders.clearance[found.vertices[:, 0]] + colliders.clearance[found.vertices[:, 2]]
        is_near = ~is_inside & (gap < -touching - clearance)
        vertices, bodies = found.vertices[is_inside, 0], model.body[found.vertices[is_inside, 2]]
        deep, near, nearest = deep[is_inside], int(is_near.sum()), float(-gap[is_near].min(initial=0.0))
    at_obstacles, deep_there = [np.zeros((0, 2), np.int64)], [np.zeros(0)]
    for k in range(len(model.shapes)):
        close = obstacle_contacts_at(team, model, k, x, x, time, 0.0, 0.0)
        own = close.vertices[:, 0]
        depth = -np.einsum("ka,ka->k", x[own] - close.points, close.normals)
        is_in = depth > touching
        at_obstacles.append(np.column_stack([own[is_in], np.full(int(is_in.sum()), k)]))
        deep_there.append(depth[is_in])
    in_obstacles = np.concatenate(at_obstacles)
    points = np.concatenate([crossing_points(crossing, x)[0], x[vertices], x[in_obstacles[:, 0]]])
    inside = np.column_stack([vertices, bodies])
    deep_in = np.concatenate(deep_there)
    own = in_obstacles[:, 0]
    sunk = np.zeros(len(own), bool) if rests is None else deep_in > rests[own] * model.edge[own]
    others = _without(no_overlaps() if overlaps is None else overlaps, inside, model.body, touching)
    rest = (in_obstacles, deep_in, near, nearest, model.body, names, others, int(sunk.sum()))
    return Intersections(crossing, points, inside, deep, *rest)


def _without(overlaps: RigidOverlaps, inside: np.ndarray, body: np.ndarray, touching: float) -> RigidOverlaps:
    """Those deeper than what touches, of pairs of which no vertex is inside (m, 2) the other body."""
    known = {tuple(sorted(pair)) for pair in zip(body[inside[:, 0]].tolist(), inside[:, 1].tolist(), strict=True)}
    pairs = zip(overlaps.bodies.tolist(), overlaps.others.tolist(), strict=True)
    is_new = np.array([pair not in known for pair in pairs], bool) & (overlaps.depths > touching)
    return RigidOverlaps(*(column[is_new] for column in overlaps))


def words_of_start(found: Intersections) -> str:
    """The note that a scene starts in intersection."""
    counts = (
        (len(found.inside), "vertex is inside a solid", "vertices are inside solids"),
        (len(found.in_obstacles), "vertex is inside an obstacle", "vertices are inside obstacles"),
        (found.near, "pair is nearer than the thickness of sheets", "pairs are nearer than the thickness of sheets"),
        (len(found.crossing), "edge goes through a triangle", "edges go through triangles"),
        (
            len(found.overlaps.depths),
            "pair of rigid bodies, or of one and an obstacle, overlaps",
            "pairs of rigid bodies, or of one and an obstacle, overlap",
        ),
    )
    said = ", ".join(f"{count} {one if count == 1 else several}" for count, one, several in counts if count)
    return (
        f"contact: the scene starts in intersection: {said}, the deepest by {1e3 * found.deepest:.3g} mm. Solids, "
        "rigid bodies and obstacles with an inside push others out; sheets and other mesh obstacles keep the side on "
        "which each vertex is now; what is only nearer than its thickness stays as near until the motion parts it. "
        "print(sim.intersections()) lists them, sim.plot(marks=sim.intersections().points) shows where; "
        "scene.untangle() takes bodies apart before the run."
    )


def crossing_points(crossing: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(k, 3) [m] where edges go through triangles, by vertices (k, 5), and (k,) how far along the edge, from 0 to 1."""
    p, q, a, b, c = np.moveaxis(x[crossing], 1, 0)
    n = np.cross(b - a, c - a)
    above, below = np.einsum("ka,ka->k", n, p - a), np.einsum("ka,ka->k", n, q - a)
    s = above / np.where(above == below, 1.0, above - below)
    return p + s[:, None] * (q - p), s


def _place(point: np.ndarray) -> str:
    return "(" + ", ".join(f"{value:.3g}" for value in point) + ") m"
