"""Detection for a simulation: which contacts a step has, from where it starts and where it seems to go."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from pliant.contact.contact_set import ContactSet, chosen, depths, joined, no_contacts
from pliant.contact.detection import (
    Penetrations,
    colliders_of,
    continuous_contacts,
    find_penetrations,
    sides_after,
    sides_at,
)
from pliant.contact.detector_state import detector_state, load_detector_state
from pliant.contact.response.edge_watch import EdgeWatch
from pliant.contact.response.energy_budget import EnergyBudget
from pliant.contact.response.friction import set_friction
from pliant.contact.response.hard_answers import hard_potential
from pliant.contact.response.hardness import KEPT, begin_multipliers, end_hard, penalties
from pliant.contact.response.overload import Overload
from pliant.contact.response.potential import ContactPotential
from pliant.contact.response.report import ContactReport, softest_contact
from pliant.contact.response.scale import ContactScale, chosen_stiffness, friction_speed, pushes
from pliant.contact.response.step_account import Rise, StepEnds
from pliant.contact.round_bodies import RoundDetector
from pliant.contact.search.colliders import Colliders
from pliant.contact.search.convex_bodies import ConvexBodies, convex_bodies
from pliant.contact.search.convex_pairs import NEAR, Bounds, PlaneSearch, bounds_of, with_planes
from pliant.contact.search.edge_depths import deepest_edge
from pliant.contact.search.faces_near_obstacles import edges_and_triangles, faces_near_obstacles
from pliant.contact.search.near_obstacles import Way, obstacle_contacts_at, reach_of
from pliant.contact.search.planes_and_obstacles import RigidSearch
from pliant.contact.search.solid import least_width
from pliant.contact.search.solids_at_convex import SolidsAtConvex
from pliant.contact.search.straight_ways import StraightWays
from pliant.contact.sphere_search import SphereSearch
from pliant.contact.tracking.false_sides import without_false_sides
from pliant.contact.tracking.identity import contact_ids, places_among
from pliant.contact.tracking.multipliers import Multipliers, multipliers_of, no_multipliers, restore_multipliers
from pliant.contact.tracking.passing import Ahead, Skipped, passing
from pliant.contact.tracking.pressing import (
    Parties,
    Pressing,
    begin_pressing,
    no_pressing,
    pressed_before,
    pressing_of,
)
from pliant.contact.tracking.shortfalls import Shortfalls, no_shortfalls, shortfalls_of
from pliant.contact.tracking.side_history import SideHistory, as_placed, no_side_history
from pliant.contact.tracking.topology import Inheritance
from pliant.contact.tracking.tracked import Tracked, tracked_of
from pliant.kernels.threads import Team
from pliant.model import CarriedPoints, ContactModel, Model


@dataclass
class Detector:
    """Keeps trees, the sides of what is near, who presses, multipliers, and the contacts of the step: begin_step,
    detect (as often as one likes), end, and so on. What was detected stays until the end of the step.
    """

    model: ContactModel
    h: float
    team: Team
    scale: ContactScale
    is_hard: bool = False  # whether the solver holds contacts by multipliers
    spheres: SphereSearch | None = None  # None: there are no particles
    budget: EnergyBudget | None = None  # of steps whose energy may not rise
    is_static: bool = False  # for equilibria: what starts too near is brought to its distance
    way: float | None = None  # [s] of the motion of obstacles that a step takes in; None: h
    colliders: Colliders = field(init=False)
    round_bodies: RoundDetector = field(init=False)
    side_history: SideHistory = field(default_factory=no_side_history)
    multipliers: Multipliers = field(default_factory=no_multipliers)  # of the step before
    seen: np.ndarray | None = None  # (n, 3) positions that the side history is of [m]
    pressing: Pressing | None = None  # who was in contact with whom in the step before; None: it is not known
    shortfalls: Shortfalls = field(default_factory=no_shortfalls)  # of contacts in the step before
    stored: float = 0.0  # [J] at the end of the step before
    no_self_contact: np.ndarray | None = None  # (bodies,) bool: who does not touch itself at the positions seen last
    least_width: float = field(init=False)  # [m] of all tets at the positions seen last, at most
    convex: ConvexBodies = field(init=False)  # rigid ones
    at_convex: SolidsAtConvex | None = None  # None: their sides are tracked, or there are none
    _at_start: Penetrations = field(default_factory=lambda: Penetrations(no_contacts(), 0, 0, 0))
    _latest: ContactPotential | None = None  # that was detected last in this step
    _shortfalls: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (k,) [m] of the contacts detected last
    _missed: np.ndarray = field(default_factory=lambda: np.zeros(0))  # [m] what the step before knew nothing of
    _found: ContactSet = field(default_factory=no_contacts)
    _parties: Parties = field(init=False)
    _overload: Overload = field(init=False)
    _edges: EdgeWatch = field(init=False)
    _rise: Rise = field(default_factory=Rise)  # of energy in the last step
    _faces: np.ndarray = field(init=False)  # edges and triangles that obstacles with formulas are asked for
    _planes: PlaneSearch = field(init=False)
    _rigid: RigidSearch = field(init=False)  # of scenes in which these are all
    _planes_suffice: bool = field(init=False)  # whether all that has a surface is among them
    _finds_all_again: bool = field(init=False)  # likewise, and nothing else need be known of the step before
    _has_pairs: bool = field(init=False)  # whether any two things with surfaces may touch
    _nearest: float = field(init=False)  # [m] from obstacles in which hard contacts, which do not sink in, are listed
    _edge: float = field(init=False)  # [m] mean of the surface as it starts, infinite if there is none
    _tracked: Tracked = field(init=False)
    _straight: StraightWays = field(init=False)
    _ahead: Ahead | None = None  # sides at the end of the step as it was looked at last

    def __post_init__(self) -> None:
        if self.is_hard:  # they rest without penetration
            self.model = replace(self.model, clearance=np.zeros_like(self.model.clearance))
        m = self.model
        self.colliders = colliders_of(self.team, m)
        self._has_pairs = len(self.colliders.surface.edges) > 0 and bool(m.allowed.any())
        self.round_bodies = RoundDetector(m, self.colliders)
        self.least_width = least_width(self.team, m.tets, m.positions)
        self._faces = edges_and_triangles(self.colliders.surface)
        ends = m.positions[self.colliders.surface.edges]
        bodies = len(m.allowed)
        self._parties = Parties(m.body.astype(np.int32), bodies, bodies + 2 * len(m.shapes))
        self._overload = Overload(m.body, bodies, len(m.shapes))
        is_rigid = np.bincount(m.body, self.scale.elastic, bodies) == 0
        is_rigid[m.round_bodies.body] = False
        self.convex = convex_bodies(self.colliders.surface.triangles, m.positions, m.body, is_rigid)
        self._planes = PlaneSearch(self.convex)
        self._rigid = RigidSearch(self._planes, m)
        at_convex = SolidsAtConvex(self.colliders, self.convex)
        self.at_convex = at_convex if at_convex and not (self.is_hard or m.settings.guarantee) else None
        self._tracked = tracked_of(m, self.colliders, self.at_convex)
        can_look_ahead = self.is_hard and not m.settings.guarantee and self.spheres is None
        self._planes_suffice = can_look_ahead and self.convex.include(self.colliders.surface, m.body, m.excluded)
        self._finds_all_again = self._planes_suffice and m.settings.stiffness is None and not self.round_bodies
        self._nearest = NEAR * float(m.edge.min(initial=np.inf)) if self.is_hard else 0.0
        self._edge = float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).mean()) if len(ends) else np.inf
        self._straight = StraightWays(self.colliders.edge)
        self._edges = EdgeWatch(self.team, self.colliders, self._edge)

    def inherit(self, old: Detector, before: np.ndarray, x: np.ndarray) -> None:
        """Take over what an older detector knows, before a mesh was torn or elements were deleted; before (n,): the
        vertex that each vertex was; x (n, 3) [m]: where they are, no vertex has moved.
        """
        inheritance = Inheritance(old.colliders, self.colliders, before)
        self.multipliers = inheritance.multipliers(old.multipliers)
        if old.pressing is not None:
            self.pressing = inheritance.pressing(old.pressing, self._parties.size)
        self.shortfalls, self.stored = old.shortfalls, old.stored
        if self._has_pairs and old.seen is not None and np.array_equal(old.seen[before], x):
            self._begin_at(x, inheritance.sides(old.side_history))

    def begin_step(self, x_prev: np.ndarray) -> None:
        """What penetrates at the start of a step (VBD 3.5)."""
        self._latest, self._found = None, no_contacts()
        self._overload.forget()
        self._straight.keep(self.colliders.searches, x_prev)
        if not self._has_pairs:
            return
        if self.seen is None or not np.array_equal(self.seen, x_prev):  # put there by hand: there was no way to it
            self._begin_at(x_prev, no_side_history())
            self.pressing, self.shortfalls, self.stored = None, no_shortfalls(), 0.0
            self._edges.forget()
        if not self._planes_suffice:
            about = (x_prev, self.side_history, self.no_self_contact, self.at_convex)
            self._at_start = find_penetrations(self.team, self.colliders, *about)

    def has_new_neighbours(self, x: np.ndarray, time: float) -> bool:
        """Whether spheres at x (n, 3) [m] and `time` [s] have other neighbours, which colours should keep apart."""
        return self.spheres is not None and self.spheres.finds_new_neighbours(x, time)

    def stop_passages(self, x_prev: np.ndarray, x: np.ndarray, time: float) -> int:
        """Change x (n, 3) [m], where a step from `time` [s] ends, so that no sphere has passed a sheet; how often."""
        if self.spheres is None or self._latest is None:
            return 0
        return self.spheres.stop_passages(x_prev, x, time, self.h, self._latest.contacts)

    def slide_points(
        self, x_prev: np.ndarray, x_guess: np.ndarray, y: np.ndarray, time: float, carried: CarriedPoints | None
    ) -> None:
        """Put the sliding points of round bodies, in all three positions (n, 3) [m], where they will touch."""
        if self.round_bodies:
            self.round_bodies.slide(x_prev, x_guess, time, self.h if self.way is None else self.way, carried, y)

    def _begin_at(self, x: np.ndarray, sides: SideHistory) -> None:
        """Go on from positions x (n, 3) [m] of which only these sides are known."""
        self.seen = x.copy()
        if self._planes_suffice:
            return
        self.side_history = sides_at(self.team, self.colliders, sides, x, self.at_convex)
        self.no_self_contact = None
        self.least_width = least_width(self.team, self.model.tets, x)

    def note_overload(self, x: np.ndarray, skipped: Skipped | None) -> None:
        """Let contacts be stiffer in this step that do not hold vertices which a solver would have at x (n, 3) [m]."""
        if self._latest is not None and not self.is_hard:
            self._overload.note(self._latest.contacts, x, skipped)

    def detect(self, x_prev: np.ndarray, x: np.ndarray, time: float) -> ContactPotential:
        """All contacts of the step from `time` [s] on, of which x is the current iterate."""
        bounds = bounds_of(self.convex, x_prev, x, self.model.edge) if self._planes_suffice else None
        if self._has_pairs and not (bounds is not None and bounds.is_slow.all()):
            hits = continuous_contacts(self.team, self.colliders, x_prev, x, self.side_history)
            if hits.size and self._found.size:
                hits = chosen(hits, places_among(contact_ids(hits), contact_ids(self._found)) < 0)
            self._found = joined(self._found, hits)
        is_first = self._latest is None
        if is_first:
            self._straight.meet(x_prev, x)
        kept = self.multipliers if self._latest is None else multipliers_of(self._latest.contacts)
        way, faces = self._near_obstacles(x_prev, x, time, self.h)
        pairs = (self._at_start.contacts, self._found)
        if bounds is not None and self._finds_all_again and not any(part.size for part in (*pairs, *faces)):
            found = self._rigid.find(*way, bounds)
            self._latest = hard_potential(self._rigid, found, self.scale, x_prev, self.h, kept, is_first)
            self._shortfalls = np.zeros(self._latest.count)
            return self._latest
        self._latest = self._potential(pairs, faces, way, self.h, bounds)
        restore_multipliers(self._latest.contacts, kept)
        if self.is_hard:
            begin_multipliers(self._latest.contacts, self._compliance, is_first)
        return self._latest

    def contacts_at(self, x: np.ndarray, time: float) -> tuple[ContactPotential, np.ndarray]:
        """What touches at x (n, 3) [m], obstacles as at `time` [s], and x with sliding points where they touch."""
        self.begin_step(x)
        kept, x = self.round_bodies.contacts, x.copy()
        if self.round_bodies:
            self.round_bodies.slide(x, x, time, 0.0, None)
        way, faces = self._near_obstacles(x, x, time, 0.0)
        potential = self._potential((self._at_start.contacts,), faces, way, 0.0)
        self.round_bodies.contacts = kept
        return potential, x

    def _near_obstacles(self, x0: np.ndarray, x1: np.ndarray, time: float, h: float) -> tuple[Way, list[ContactSet]]:
        """The way from x0 to x1 with how near to obstacles [m] things are listed; contacts of edges and triangles."""
        at = (x0, x1, time, h if self.way is None or h == 0 else self.way)
        way = (*at, reach_of(self.model, *at, self._nearest, self.is_static))
        return way, faces_near_obstacles(self.team, self.model, self._faces, *way, self.is_static)

    def _potential(
        self, pairs: tuple[ContactSet, ...], faces: list[ContactSet], way: Way, h: float, bounds: Bounds | None = None
    ) -> ContactPotential:
        """Contacts between vertices, and with obstacles on a way that takes h [s]; faces: of edges and triangles."""
        x0, x1, time = way[:3]
        model, settings, numbers = self.model, self.model.settings, range(len(self.model.shapes))
        near = [obstacle_contacts_at(self.team, model, k, *way, self.is_static) for k in numbers]
        pairs = (*pairs, self.round_bodies.contacts)
        if self.spheres is not None:
            near.append(self.spheres.find(x0, x1, time, h, self.scale, self.is_hard))
        near += faces
        if self.is_hard or h > 0:
            pairs = with_planes(self._planes, pairs, x0, x1, model, bounds)
        contacts = joined(no_contacts(), *pairs, *near)
        if any(contacts is part for part in pairs):  # what was detected stays as it was: solvers change their own
            contacts = ContactSet(*(array.copy() for array in contacts))
        contacts.stiffness[:] = self._stiffness(contacts) * self._overload.factors(contacts)
        set_friction(contacts, model)
        self.round_bodies.share_answers(contacts, self.is_hard)
        self._shortfalls = np.zeros(contacts.size)
        if settings.stiffness is None or self.pressing is not None:  # with one, what overlaps at the start presses
            most = pushes(contacts, model, self.h if h > 0 else 0.0)
            follows = self.colliders.has_inside if not self.is_hard and settings.stiffness is None else None
            before = no_pressing() if self.pressing is None and self.is_static else self.pressing
            known = (contacts, x0, (self._parties, before), self.shortfalls)
            self._shortfalls = begin_pressing(self.team, *known, most, KEPT if self.is_hard else 0.0, follows)
        if self.is_hard:
            potential = ContactPotential(contacts, 0.0, 0.0, x0, has_multipliers=True, compliance=self._compliance)
        else:
            slip = friction_speed(model, self.h) * self.h
            potential = ContactPotential(contacts, slip, settings.damping / self.h, x0)
        if self.spheres is not None:
            potential.neighbours = self.spheres.neighbours
        return potential

    @property
    def _compliance(self) -> float:
        """1 / K [m/N] of the material of contacts, 0 where nothing is given."""
        return 0.0 if self.model.settings.stiffness is None else 1.0 / self.model.settings.stiffness

    def _stiffness(self, contacts: ContactSet) -> np.ndarray:
        """(k,) [N/m] with which contacts press."""
        if self.is_hard:
            own = penalties(contacts, self.scale, self.model.body, len(self.model.allowed))
            rho = np.maximum(own, contacts.stiffness)
            return rho / (1 + rho * self._compliance)
        if (given := self.model.settings.stiffness) is not None:
            return np.full(contacts.size, given)
        return np.maximum(self._chosen(contacts), contacts.stiffness)

    def _chosen(self, contacts: ContactSet) -> np.ndarray:
        """(k,) [N/m] that contacts have where no stiffness is given."""
        solids = None if self.is_static else self.colliders.has_inside  # equilibria have a scale of their own
        stiffness = chosen_stiffness(contacts, self.scale, solids)
        return stiffness if self.at_convex is None else self.at_convex.harder(contacts) * stiffness

    def settle(self, ends: StepEnds, is_enforced: bool) -> None:
        """Measure what energy a step has gained, and if that is enforced take it out of its velocities, in place."""
        if self.budget is not None:
            self._rise = self.budget.settle(ends, is_enforced)

    def ends_of(
        self, model: Model, acceleration: np.ndarray, start: tuple[np.ndarray, np.ndarray],
        end: tuple[np.ndarray, np.ndarray],
    ) -> StepEnds:  # fmt: skip
        """Of the step with the contacts detected last; positions and velocities (n, 3); acceleration (n, 3) [m/s^2]: by
        gravity and other forces; the model has the internal state of the end.
        """
        assert self._latest is not None
        before = self._latest.contacts.stiffness / self._overload.factors(self._latest.contacts)
        return StepEnds(model, self._latest, before, acceleration, *start, *end)

    def end(self, x_prev: np.ndarray, x: np.ndarray) -> ContactReport:
        """Take note of all that came near or crossed in the step from x_prev to x, whether it was detected or not."""
        assert self._latest is not None
        latest, start = self._latest, self._at_start
        d, ending = end_hard(latest, x) if self.is_hard else latest.at_end(x)
        if self.is_hard:
            self.round_bodies.forget_drifts(latest.contacts)
        self.multipliers = multipliers_of(latest.contacts)
        if self._has_pairs:
            self._track(x_prev, x)
        given = self.model.settings.stiffness
        pressed = self._compliance * latest.contacts.normal_multiplier if self.is_hard else d
        own = (self._parties, self._planes_suffice and given is None)
        self.pressing = pressing_of(latest.contacts, pressed, self._shortfalls, *own)
        self.shortfalls = shortfalls_of(latest.contacts, self._shortfalls)
        has_no_edges = not self._has_pairs or self._planes_suffice or self.model.settings.guarantee
        edge = None if has_no_edges else self._edges.after_step(x)
        before, self.stored = self.stored, ending.stored
        wanted = latest.contacts.stiffness if given is None else self._chosen(latest.contacts)
        asked_for = (self._edge, wanted, given is not None, self.model.clearance)
        return ContactReport(
            listed=len(d),
            touching=ending.touching,
            deepest=max(ending.deepest, edge.depth if edge else 0.0),
            missed=len(self._missed),
            deepest_missed=float(self._missed.max(initial=0.0)),
            crossed=self.side_history.count_crossed(),
            without_straight_path=start.without_straight_path,
            without_surface_point=start.without_surface_point,
            energy_gain=ending.work + ending.friction_work + self.stored - before,
            energy_rise=self._rise.risen,
            energy_removed=self._rise.removed,
            friction_work=ending.friction_work,
            stored=self.stored,
            softest=softest_contact(latest, self._straight.guess, d, ending.most, *asked_for),
            edge_inside=edge,
        )

    def _track(self, x_prev: np.ndarray, x: np.ndarray) -> None:
        """Bring the sides from x_prev to x."""
        self.seen, self._missed, contacts = x.copy(), np.zeros(0), self._at_start.contacts
        self._straight.go_on(x_prev, x)
        if self._planes_suffice:
            return
        if self.pressing is not None and contacts.size:
            d = depths(contacts, x_prev)
            self._missed = d[(d > 0) & ~pressed_before(self.team, contacts, self._parties, self.pressing).is_known]
        ahead = self._ahead
        if ahead is None or not np.array_equal(ahead.x, x):
            ahead = self._sides_after(x_prev, x)
        self.seen, self.side_history, self.no_self_contact, self.least_width = ahead
        if self.model.settings.guarantee:
            self.side_history = as_placed(self.side_history, self.colliders.surface.edges, x)
        else:
            self.side_history = without_false_sides(self.team, self.colliders, self.side_history, x)
        self._ahead = None

    def _sides_after(self, x_prev: np.ndarray, x: np.ndarray) -> Ahead:
        """Sides at the end of a step from x_prev to x (n, 3) [m]."""
        is_fast, width = self._tracked.may_pass_solids(self.team, x_prev, x, self.least_width)
        about = (is_fast, self._tracked.has_thin, self.at_convex, self._straight.reach)
        sides = sides_after(self.team, self.colliders, self.side_history, x_prev, x, *about)
        return Ahead(x.copy(), *sides, width)

    def passing(self, x_prev: np.ndarray, x: np.ndarray) -> Skipped | None:
        """What `contact.tracking.passing.passing` says of a step from x_prev to x (n, 3) [m]."""
        if not self._has_pairs or self._planes_suffice or self._latest is None:
            return None
        self._ahead, about = self._sides_after(x_prev, x), (self.model.edge, self.convex.width > 0)
        known = (self._parties, self.pressing)
        are_near = self.at_convex is not None and self.at_convex.are_near(x)
        return passing(self.team, self.colliders, *about, self._ahead, self._latest.contacts, x_prev, known, are_near)

    def numbers(self, potential: ContactPotential, x: np.ndarray) -> dict[str, float]:
        """Contact's part of Simulation.energies, of what `contacts_at` gave."""
        edge = deepest_edge(self.team, self.colliders, x)
        return {
            "contact": potential.stored(x),
            "contacts": float((potential.depths(x) > 0).sum()),
            "deepest_penetration": max(potential.deepest(x), edge.depth if edge else 0.0),
            "missed_penetration": float(self._missed.max(initial=0.0)),
        }

    def state_dict(self) -> dict[str, np.ndarray]:
        """What a later step depends on beside positions, for checkpoints."""
        return detector_state(self)

    def load_state_dict(self, state: dict[str, np.ndarray], x: np.ndarray) -> None:
        """Go on from what `state_dict` gave at positions x (n, 3) [m]."""
        load_detector_state(self, state)
        self.seen = x.copy()
