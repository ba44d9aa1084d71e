"""Detection for a simulation: which contacts a step has, from where it starts and where it seems to go."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pliant.contact.contact_set import Contacts, depths, joined, no_contacts, without
from pliant.contact.detection import Penetrations, continuous_contacts, find_penetrations, track_edge_sides, track_sides
from pliant.contact.response.potential import ContactPotential
from pliant.contact.response.report import ContactReport, missed_depths, softest_contact, touched_bodies, words_of_start
from pliant.contact.response.touches import all_touches
from pliant.contact.search.broad_phase import Rules
from pliant.contact.search.colliders import Colliders, make_colliders
from pliant.contact.search.initial_intersections import pierced_triangles
from pliant.contact.search.motion import largest_motion, spread_of_motion
from pliant.contact.search.near_obstacles import touches_of_shape
from pliant.contact.search.solid import thinnest
from pliant.contact.tracking.side_history import SideHistory, no_side_history
from pliant.kernels.threads import Team
from pliant.model import ContactModel

TOUCHING = 1e-6  # of an edge: what starts less deep only touches


@dataclass
class Detector:
    """Keeps trees, the sides of what is near, and the contacts of the step.

    begin (the start of a step), detect (as often as one likes), end (the step is done), and so on.  A contact that was
    detected once stays until the end of the step.
    """

    model: ContactModel
    h: float
    team: Team
    colliders: Colliders = field(init=False)
    side_history: SideHistory = field(default_factory=no_side_history)
    seen: np.ndarray | None = None  # (n, 3) positions that the side history is of [m]
    known: np.ndarray | None = None  # sorted: vertices that met bodies in the step before (report.touched_bodies)
    no_self_contact: np.ndarray | None = None  # (bodies,) bool: who is no_self_contact at the positions seen last
    _at_start: Penetrations = field(default_factory=lambda: Penetrations(no_contacts(), 0, 0, 0))
    _latest: ContactPotential | None = None  # that was detected last
    _missed: np.ndarray = field(default_factory=lambda: np.zeros(0))  # depths [m] at the start of the step
    _found: Contacts = field(default_factory=no_contacts)
    _thinnest: float = field(init=False)  # [m] of all tets as they start
    _edge: float = field(init=False)  # [m] mean of the surface as it starts, infinite if there is none

    def __post_init__(self) -> None:
        m = self.model
        rules = Rules(m.body.astype(np.int32), m.allowed, m.excluded)
        self.colliders = make_colliders(m.triangles, m.tets, rules, m.radius, m.positions)
        self._thinnest = thinnest(m.tets, m.positions)
        ends = m.positions[self.colliders.surface.edges]
        self._edge = float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).mean()) if len(ends) else np.inf

    def begin_step(self, x_prev: np.ndarray) -> None:
        """What penetrates at the start of a step (VBD 3.5)."""
        if not self._has_pairs:
            return
        if self.seen is None or not np.array_equal(self.seen, x_prev):  # put there by hand: there was no way to it
            self.side_history = track_sides(self.team, self.colliders, no_side_history(), x_prev, x_prev)
            self.known, self.no_self_contact = None, None
            self.seen = x_prev.copy()
        self._at_start = find_penetrations(self.team, self.colliders, x_prev, self.side_history, self.no_self_contact)
        self._found = no_contacts()

    def detect(self, x_prev: np.ndarray, x: np.ndarray, time: float) -> ContactPotential:
        """All contacts of the step from `time` [s] on, of which x is the current iterate."""
        if self._has_pairs:
            hits = continuous_contacts(self.team, self.colliders, x_prev, x, self.side_history)
            self._found = joined(self._found, without(hits, self._found))
        model, pairs = self.model, (self._at_start.contacts, self._found)
        reach = 2.0 * largest_motion(x_prev, x) if model.shapes else 0.0
        near = [touches_of_shape(self.team, model, shape, x_prev, x, time, self.h, reach) for shape in model.shapes]
        settings = model.settings
        slip, damping = settings.friction_speed * self.h, settings.damping / self.h
        self._latest = ContactPotential(all_touches(pairs, near, model), settings.stiffness, slip, damping, x_prev)
        return self._latest

    def end(self, x_prev: np.ndarray, x: np.ndarray) -> ContactReport:
        """Take note of all that came near or crossed in the step from x_prev to x, whether it was detected or not."""
        assert self._latest is not None
        if self._has_pairs:
            contacts, body = self._at_start.contacts, self.colliders.rules.body
            self._missed = np.zeros(0) if self.known is None else missed_depths(contacts, x_prev, body, self.known)
            is_fast = spread_of_motion(x_prev, x) > self._thinnest  # who moves less than that cannot pass a solid
            looks_at_all = is_fast or len(self.model.triangles) > 0
            if looks_at_all:
                self.side_history = track_sides(self.team, self.colliders, self.side_history, x_prev, x, is_fast)
            self.no_self_contact = self.colliders.self_collision_culling.mark(
                self.team, x_prev, x, 0.0, len(self.colliders.rules.allowed)
            )
            if len(self.colliders.sharp_tree.corners) or not looks_at_all:
                self.side_history = track_edge_sides(
                    self.team, self.colliders, self.side_history, x_prev, x, self.no_self_contact
                )
            self.seen = x.copy()
            self.known = touched_bodies(joined(contacts, self._found), body)
        d, start = self._latest.depths(x), self._at_start
        softest, bound, needed = softest_contact(self._latest, d, self._edge)
        return ContactReport(
            listed=len(d),
            touching=int((d > 0).sum()),
            deepest=float(d.max(initial=0.0)),
            missed=len(self._missed),
            deepest_missed=self.deepest_missed,
            crossed=len(np.unique(self.side_history.vertices[self.side_history.crossed])),
            without_straight_path=start.without_straight_path,
            without_surface_point=start.without_surface_point,
            softest=softest,
            bound=bound,
            needed_stiffness=needed,
        )

    @property
    def deepest_missed(self) -> float:
        """[m] of what penetrates at the start of the step, although the step before knew nothing of it."""
        return float(self._missed.max(initial=0.0))

    def numbers(self, potential: ContactPotential, x: np.ndarray) -> dict[str, float]:
        """Contact's part of Simulation.energies at positions x (n, 3) [m]."""
        d = potential.depths(x)
        return {
            "contact": potential.stored(x),
            "contacts": float((d > 0).sum()),
            "deepest_penetration": float(d.max(initial=0.0)),
            "missed_penetration": self.deepest_missed,
        }

    def intersections(self, x: np.ndarray) -> str:
        """A sentence on what intersects at positions x (n, 3) [m] with which a scene starts; empty if nothing does."""
        if not self._has_pairs:
            return ""
        self.begin_step(x)
        contacts, inside = self._at_start.contacts, self._at_start.inside
        near, pierced = len(contacts.kind) - inside, pierced_triangles(self.team, self.colliders, x)
        deepest = float(depths(contacts, x).max(initial=0.0))
        if deepest <= TOUCHING * self._edge and pierced == 0:
            return ""
        return words_of_start(inside, max(near, 0), pierced, deepest)

    def state_dict(self) -> dict[str, np.ndarray]:
        """What a later step depends on beside positions, for checkpoints."""
        optional = {"known": self.known, "no_self_contact": self.no_self_contact}
        return {**self.side_history._asdict(), **{name: array for name, array in optional.items() if array is not None}}

    def load_state_dict(self, state: dict[str, np.ndarray], x: np.ndarray) -> None:
        """Go on from what `state_dict` gave at positions x (n, 3) [m]."""
        self.side_history = SideHistory(*(state[name] for name in SideHistory._fields))
        self.known, self.no_self_contact = state.get("known"), state.get("no_self_contact")
        self.seen = x.copy()

    @property
    def _has_pairs(self) -> bool:
        return len(self.colliders.surface.triangles) > 0 and bool(self.model.allowed.any())
