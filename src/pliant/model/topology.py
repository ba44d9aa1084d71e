"""Which elements of a scene are left, and at which vertices the corners of its sheets are: what tearing and deleting
change.

Vertices that tearing adds come after those of the scene, in the order in which they were made.  Elements keep their
order, so that a model that was changed bit by bit equals one that gets its topology at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.elements.patch import patches_of_left
from pliant.geometry.surface import boundary_triangles
from pliant.geometry.tearing import rewired
from pliant.model.blocks import Block, Patches, PatchTets, Springs, Tearing
from pliant.model.body import FIXED, FREE, Body
from pliant.model.contact import ContactModel
from pliant.model.forces import ForceField
from pliant.model.tear_topology import Surfaces, TearTopology, rows_of, seams_of
from pliant.model.wind import WindForce

if TYPE_CHECKING:
    from pliant.model.model import Model


@dataclass(frozen=True)
class Topology:
    """What has become of a scene's elements."""

    tear_topology: TearTopology
    corners: np.ndarray  # (3 m,) vertex of each corner of the sheets now; -1 where the triangle was deleted
    origin: np.ndarray  # (n,) vertex of the scene that each vertex was
    left: tuple[np.ndarray, ...]  # of each block: numbers of the elements that are left, ascending
    tets_left: np.ndarray  # numbers of the tets that are left, body by body, ascending

    def vertices_of(self, body: int) -> np.ndarray:
        """A body's vertices: those of its mesh, then those that tearing added."""
        first, last = self.tear_topology.body_start[body : body + 2]
        return np.flatnonzero((self.origin >= first) & (self.origin < last))

    def drawn(self, body: int) -> np.ndarray | None:
        """Vertices at the corners of all triangles of a sheet, or the ends of all springs of a net, three or two each,
        however it is torn: points of a picture whose triangles and lines never change. What was deleted shrinks to a
        point. None for a body that has neither.
        """
        tear_topology = self.tear_topology
        first, last = 3 * tear_topology.triangle_start[body : body + 2]
        if last > first:
            now, whole = self.corners[first:last], tear_topology.corners[first:last]
            return np.where(now >= 0, now, np.repeat(whole[::3], 3))
        for k, limits in enumerate(tear_topology.spring_limits):
            own = rows_of(tear_topology.elements[k], *tear_topology.body_start[body : body + 2])
            if limits is not None and len(own):
                ends, is_left = tear_topology.elements[k][own], np.isin(own, self.left[k])
                return np.where(is_left[:, None], ends, ends[:, :1]).ravel()
        return None


def whole_topology(model: Model, bodies: Sequence[Body]) -> Topology:
    """The topology of a scene that was just frozen."""
    tear_topology = seams_of(model, bodies)
    left = tuple(np.arange(len(elements)) for elements in tear_topology.elements)
    return Topology(
        tear_topology, tear_topology.corners, np.arange(model.n_vertices), left, np.arange(len(tear_topology.tets))
    )


def with_topology(model: Model, after: Topology, mass: np.ndarray) -> Model:
    """The model with vertices and elements as a topology says that came from its own; mass: (n,) [kg]."""
    before = model.topology
    assert before is not None
    n = model.n_vertices
    grown = np.concatenate([np.arange(n), after.origin[n:]])
    subspace = model.subspace[grown]
    subspace[n:] = FREE  # only free vertices are split
    rewired_blocks = tuple(_rewired(k, block, before, after, grown) for k, block in enumerate(model.blocks))
    blocks = tuple(_of_tets_left(k, rewired_blocks, after) for k in range(len(rewired_blocks)))
    return replace(
        model,
        positions=model.positions[grown],
        velocities=model.velocities[grown],
        mass=mass,
        gravity=model.gravity[grown],
        air_damping=model.air_damping[grown],
        damping=model.damping[grown],
        vertex_damping=model.vertex_damping[grown],
        subspace=subspace,
        directions=model.directions[grown],
        blocks=blocks,
        forces=tuple(_reached(force, before, after) for force in model.forces),
        contact=None if model.contact is None else _touching(model.contact, after, blocks),
        topology=after,
    )


def held_where_loose(model: Model, loose: np.ndarray, x: np.ndarray) -> Model:
    """The model with vertices (n,) that have lost all their elements, and hence their mass, held at x (n, 3) [m]."""
    return replace(
        model,
        mass=np.where(loose, 0.0, model.mass),
        subspace=np.where(loose, FIXED, model.subspace),
        positions=np.where(loose[:, None], x, model.positions),
    )


def _rewired(k: int, block: Block, before: Topology, after: Topology, grown: np.ndarray) -> Block:
    """A block with the elements that are left, at the vertices where they are now."""
    if block.tearing is Tearing.GROWS:
        return replace(block.taken(grown), elements=np.arange(len(grown))[:, None])
    if len(after.left[k]) < len(before.left[k]):
        block = block.taken(np.searchsorted(before.left[k], after.left[k]))
    follow = after.tear_topology.follow[k]
    if follow is None:
        return block
    return replace(block, elements=rewired(follow, after.left[k], after.corners, block.elements)[0])


def _of_tets_left(k: int, blocks: tuple[Block, ...], after: Topology) -> Block:
    """Block k; patches as means of their tets that are left."""
    members, patches = after.tear_topology.patches[k], blocks[k]
    if members is None or len(after.left[members.block]) == len(members.patch):
        return patches
    tets = blocks[members.block]
    assert isinstance(patches, Patches)
    assert isinstance(tets, PatchTets)
    return patches_of_left(patches, tets, np.searchsorted(after.left[k], members.patch[after.left[members.block]]))


def _reached(force: Any, before: Topology, after: Topology) -> Any:
    """An outside force on what is left."""
    if isinstance(force, ForceField):
        n = len(before.origin)
        own = n + np.flatnonzero(np.isin(after.origin[n:], force.vertices))
        return replace(force, vertices=np.concatenate([force.vertices, own]))
    assert isinstance(force, WindForce)
    tear_topology, sheets = after.tear_topology, _present(after.tear_topology.wind, after)
    skin = tear_topology.wind_skin
    if len(skin) and len(after.tets_left) < len(tear_topology.tets):
        skin = boundary_triangles(tear_topology.tets[after.tets_left], int(tear_topology.body_start[-1]))
    has_inside = np.repeat([False, True], [len(sheets), len(skin)])
    return replace(force, triangles=np.concatenate([sheets, skin]), has_inside=has_inside)


def _present(surfaces: Surfaces, after: Topology) -> np.ndarray:
    """Triangles that are left, at the vertices where they are now."""
    now = np.where(surfaces.corners >= 0, after.corners[surfaces.corners], surfaces.triangles)
    return now[now[:, 0] >= 0]


def _touching(contact: ContactModel, after: Topology, blocks: tuple[Block, ...]) -> ContactModel:
    origin, springs = after.origin, contact.springs
    if len(springs):  # they break, but their vertices are not split
        left = np.concatenate([block.elements for block in blocks if isinstance(block, Springs)])
        springs = springs[np.isin(springs @ (len(origin), 1), left @ (len(origin), 1))]
    return replace(
        contact,
        triangles=_present(after.tear_topology.contact, after),
        tets=after.tear_topology.tets[after.tets_left],
        springs=springs,
        body=contact.body[origin],
        excluded=contact.excluded[origin],
        radius=contact.radius[origin],
        clearance=contact.clearance[origin],
        is_closed=contact.is_closed[origin],
        friction=contact.friction[origin],
        edge=contact.edge[origin],
        positions=contact.positions[origin],
        skips_obstacles=contact.skips_obstacles[origin],
    )


# --- for files --------------------------------------------------------------------------------------------------------

_ARRAYS = ("corners", "origin", "tets_left")
_OF_MODEL = ("mass", "positions")  # what splitting and deleting change beside elements


def topology_arrays(model: Model) -> dict[str, np.ndarray]:
    """What has become of a model's elements, as arrays by name; nothing if it cannot change."""
    topology = model.topology
    if topology is None:
        return {}
    arrays = {name: getattr(topology, name) for name in _ARRAYS} | {name: getattr(model, name) for name in _OF_MODEL}
    return arrays | {f"left{k}": left for k, left in enumerate(topology.left)}


def with_topology_arrays(model: Model, bodies: Sequence[Body], arrays: dict[str, np.ndarray]) -> Model:
    """A model that was just frozen, with what `topology_arrays` has given of an older one."""
    whole = model.topology or whole_topology(model, bodies)
    left = tuple(arrays[f"left{k}"] for k in range(len(whole.left)))
    topology = Topology(whole.tear_topology, arrays["corners"], arrays["origin"], left, arrays["tets_left"])
    changed = with_topology(replace(model, topology=whole), topology, arrays["mass"])
    loose = (changed.mass == 0) & (model.mass[topology.origin] > 0)
    return held_where_loose(changed, loose, arrays["positions"])
