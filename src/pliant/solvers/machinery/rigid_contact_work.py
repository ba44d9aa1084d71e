"""Rigid bodies that only contacts join, as augmented vertex block descent solves them (decision 0075)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.contact.contact_set import no_contacts
from pliant.energies import IncrementalPotential
from pliant.kernels.rigid_blocks import MassPoints
from pliant.kernels.rigid_contacts import COLUMNS, MOST_COLOURS, RigidContacts
from pliant.kernels.rigid_errors import DONE, ENDED, SINGULAR
from pliant.kernels.rigid_packs import WINDOW, RigidPacks, begin_bodies, fill_packs, load_table, packs_for, padded
from pliant.kernels.rigid_sweep import RigidBodies, sweep_bodies
from pliant.kernels.threads import Team
from pliant.model import CARRIED, CarriedPoints, Model
from pliant.solvers.contract import Execution, StepError, SweepResult
from pliant.solvers.machinery.hard_work import HardWork

ERROR, SEEN, OWED, RATE = 0, 1, 2, 3  # columns of errors
CONTACTS_A_THREAD = 4000  # fewer are solved sooner by one thread than by two that wait for each other


def is_rigid_alone(model: Model) -> bool:
    """Whether all that moves is rigid bodies, and nothing but contacts acts between them."""
    return model.carried is not None and not model.blocks and bool((model.subspace[model.is_free] == CARRIED).all())


@dataclass
class RigidContactWork(HardWork):
    """Bodies and contacts of the current step."""

    bodies: RigidBodies
    table: RigidContacts | None  # None before any detection
    packs: RigidPacks | None  # of the same
    team: Team
    carrier: np.ndarray  # (n,) body of each vertex, -1 for held ones
    rows: np.ndarray  # (n,) its row of the offsets
    masses: MassPoints
    scene_body: np.ndarray  # (b,) number of each body among all bodies of the scene
    body_count: int  # of the scene
    x_start: np.ndarray  # (n, 3) [m]

    @property
    def is_blind_to_rounding(self) -> bool:
        return False

    @property
    def singular_blocks(self) -> int:
        return int(self.bodies.progress[SINGULAR])

    def begin_step(self, problem: IncrementalPotential) -> None:
        """Load targets, masses and contacts."""
        own = (self.bodies, self.masses, _carried(problem).offsets, problem.model.gravity, problem.h)
        self.x_start = problem.x_start
        begin_bodies(*own, problem.y, self.x_start)
        self.update_contacts(problem)

    def update_contacts(self, problem: IncrementalPotential) -> None:
        """Take up what was detected last."""
        potential: Any = problem.contacts
        b = len(self.bodies.weight)
        contacts = no_contacts() if potential is None else potential.contacts
        k = contacts.size
        table = RigidContacts(
            contacts,
            np.empty(k, np.int64),
            np.empty(k, np.int64),
            np.empty((padded(k), COLUMNS)),
            np.empty(b + 1, np.int64),
            np.empty(2 * k, np.int64),
            np.empty(b, np.int64),
            np.empty(b, np.int64),
            np.empty(MOST_COLOURS + 1, np.int64),
            np.zeros(b + 1, np.int64),
            np.empty(0, np.int64),
            np.empty(b, np.int64),
            np.array([0.0 if potential is None else potential.compliance]),
            np.zeros(1, np.int64),
        )
        places, sizes = (_carried(problem).offsets, problem.x_guess, self.x_start), np.empty(2, np.int64)
        load_table(table, self.carrier, self.rows, *places, sizes)
        packs = packs_for(table, sizes, self.team.threads)
        fill_packs(table, self.bodies, packs)
        self.table, self.packs = table, packs

    def iterate(self, problem: IncrementalPotential, x: np.ndarray, n: int, tolerance: float | None) -> SweepResult:
        """n iterations, or as many as a tolerance asks for."""
        bodies, before = self.bodies, int(self.bodies.progress[DONE])
        state = (problem.poses, bodies, self.table, self.packs)
        places = (self.rows, _carried(problem).rows, x, self.x_start)
        limit = -1.0 if tolerance is None else tolerance
        amount = lambda: float(bodies.progress[DONE] - before)  # noqa: E731
        self.team.run(sweep_bodies, n, limit, *state, *places, amount=amount)
        done = int(bodies.progress[DONE]) - before
        if not bodies.progress[ENDED]:
            return SweepResult(done)
        largest = float(bodies.errors[:, ERROR].max(initial=0.0))
        words = f"converged: error {largest:.2g} of the step's forces is at most {limit:g}"
        if largest > limit:
            words = f"converged: error {largest:.2g} of the step's forces is at most a thousandth of motions"
        return SweepResult(done, words, converged=True)

    @property
    def measures_error(self) -> bool:
        return True

    def measured_error(self) -> StepError:
        count = self.body_count
        columns = np.zeros((4, count))
        columns[:, self.scene_body] = self.bodies.errors.T
        nothing = np.zeros(count)
        error, seen, owed, rates = (columns[k] for k in (ERROR, SEEN, OWED, RATE))
        return StepError(error, seen, owed, rates, nothing, np.ones(count), nothing, nothing)


def _carried(problem: IncrementalPotential) -> CarriedPoints:
    assert problem.model.carried is not None
    return problem.model.carried


def rigid_contact_work(problem: IncrementalPotential, execution: Execution) -> RigidContactWork:
    """For a model of which `is_rigid_alone` holds."""
    model = problem.model
    carried, n = _carried(problem), model.n_vertices
    b = carried.count
    carrier, rows = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    carrier[carried.points], rows[carried.points] = carried.body, np.arange(len(carried.points))
    masses = carried.points[problem.inertia[carried.points] > 0].reshape(b, -1)
    own, w = carried.offsets[rows[masses]], problem.inertia[masses]
    weight = w.sum(axis=1)
    moments = np.einsum("bi,bir,bis->brs", w, own, own)
    inertia = np.trace(moments, axis1=1, axis2=2)[:, None, None] * np.eye(3) - moments
    team = execution.team(8 * b, CONTACTS_A_THREAD)
    nine = lambda: np.zeros((b, 9))  # noqa: E731
    bodies = RigidBodies(
        poses=problem.poses.copy(),
        R=nine(),
        weight=weight,
        moments=moments.reshape(b, 9),
        inverse=np.linalg.inv(inertia).reshape(b, 9),
        targets=np.zeros((b, 3)),
        start_places=np.zeros((b, 3)),
        spread=nine(),
        target_R=nine(),
        gravity=np.zeros(b),
        moved=np.zeros((b, 2 * WINDOW)),
        owed=np.zeros(b),
        errors=np.zeros((b, 4)),
        ways=np.zeros(b),
        worst=np.zeros(b),
        is_solved=np.zeros(b, bool),
        progress=np.zeros(4, np.int64),
    )
    body = np.zeros(n, np.int64)
    for k in range(len(model.body_names)):
        body[model.vertices_of(k)] = k
    scene_body, count = body[masses[:, 0]], len(model.body_names)
    points = MassPoints(masses, rows[masses], w)
    return RigidContactWork(bodies, None, None, team, carrier, rows, points, scene_body, count, problem.x_prev.copy())
