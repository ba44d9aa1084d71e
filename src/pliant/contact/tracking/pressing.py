"""Which vertices were in contact with which bodies and obstacles in the step before, and how deep they pressed.

A vertex that slides from triangle to triangle of a body stays in contact with that body. What penetrates without having
been known begins to press from zero: its depth is its offset, which falls by as much as it may be pushed out in a step
(decision 0024). What is nearer than the distance it should keep as a simulation starts keeps the distance that it has,
until the motion opens it: its *shortfall* stays part of the offset. Only what overlaps is pushed out (decision 0134).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import ContactSet
from pliant.contact.tracking.shortfalls import Shortfalls
from pliant.elements.closest import (
    FACE_OBSTACLE,
    VERTEX_OBSTACLE,
    VERTEX_TRIANGLE,
    closest_separation,
    positions_of,
    row,
)
from pliant.kernels.threads import Team, share
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import add, dot

HELD = 0.75  # of the thickness: contacts that were pressed deeper get stiffer
STIFFER = 30.0  # times, at most
GROWTH = 1.1  # times from one step to the next: the load of an impact does not last
AT_OBSTACLES = 2.0  # the same where an obstacle is pressed on: no load moves it
HELD_PUSH = 0.1  # of a push: for what presses by one already
TOUCHING = 0.01  # of the thickness: what started nearer is pushed apart as far
OF_A_CONTACT = 50  # nanoseconds that it takes to look up what is known of one
SLOWLY = 0.01  # of an edge: what started with a smaller overlap is pushed out more slowly, in proportion


class Pressing(NamedTuple):
    """Pairs of a vertex and a body or an obstacle that it was in contact with, sorted, each once."""

    keys: np.ndarray  # (m,) int64 vertex * parties + party (`pair_key`)
    depths: np.ndarray  # (m,) the largest with which it pressed at the end of the step [m]
    loads: np.ndarray  # (m,) the largest force with which it did [N]
    shortfalls: np.ndarray  # (m,) how much nearer than it should be it may be, since it started so [m]


def pressing_arrays(pressing: Pressing | None) -> dict[str, np.ndarray]:
    """For checkpoints; the keys are missing if nothing is known."""
    known = {} if pressing is None else {"pressing_keys": pressing.keys}
    rest = (np.zeros(0),) * 3 if pressing is None else pressing[1:]
    return known | dict(zip(("pressing_depths", "pressing_loads", "pressing_shortfalls"), rest, strict=True))


def pressing_from(state: dict[str, np.ndarray]) -> Pressing | None:
    """From what `pressing_arrays` gave."""
    keys = state.get("pressing_keys")
    rest = (state[f"pressing_{name}"] for name in Pressing._fields[1:])
    return None if keys is None else Pressing(keys, *rest)


def no_pressing() -> Pressing:
    """Nobody was in contact."""
    return Pressing(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros(0))


class Parties(NamedTuple):
    """Who takes part: bodies first, then obstacles with formulas at vertices, then the same at edges and triangles."""

    body: np.ndarray  # (n,) int32 of each vertex
    bodies: int
    size: int  # how many of both


def pressing_of(
    contacts: ContactSet, d: np.ndarray, shortfalls: np.ndarray, parties: Parties, is_found_again: bool = False
) -> Pressing:
    """For contacts that press with depths d (k,) [m] and have shortfalls (k,) [m]; corners of weight 0 do not take
    part. is_found_again: contacts press without depth, and all that touches is found in each step, so that nothing need
    be remembered.
    """
    if is_found_again:
        return no_pressing()
    keys, owner = np.empty(4 * contacts.size, np.int64), np.empty(4 * contacts.size, np.int64)
    count = cached(write_pair_keys)(contacts, parties, keys, owner)
    starts, order = np.zeros(len(parties.body) + 1, np.int64), np.empty(count, np.int64)
    cached(sort_keys)(keys, parties.size, starts, order)
    pressing = Pressing(np.empty(count, np.int64), np.empty(count), np.empty(count), np.empty(count))
    count = cached(write_largest)(keys, owner, order, d, contacts.stiffness, shortfalls, pressing)
    return Pressing(*(array[:count] for array in pressing))


class Pressed(NamedTuple):
    """What is known of k contacts."""

    is_known: np.ndarray  # (k,) bool
    depths: np.ndarray  # (k,) [m]
    loads: np.ndarray  # (k,) [N]
    shortfalls: np.ndarray  # (k,) [m]


def pressed_before(team: Team, contacts: ContactSet, parties: Parties, known: Pressing | None) -> Pressed:
    """Whether contacts were known, how deep and how strongly they pressed, and their shortfalls: those of a vertex that
    touched that body or obstacle, and of edges of which an end did.
    """
    pressed = Pressed(np.zeros(contacts.size, bool), *(np.zeros(contacts.size) for _ in range(3)))
    if known is not None and len(known.keys):
        starts = np.zeros(len(parties.body) + 1, np.int64)
        cached(first_keys)(known.keys, parties.size, starts)
        team.run_for(OF_A_CONTACT * contacts.size, cached(look_up), contacts, parties, known, starts, pressed)
    return pressed


def hold_loads(contacts: ContactSet, pressed: Pressed, follows: np.ndarray) -> np.ndarray:
    """Make contacts stiffer that were pressed through more than HELD of their thickness, up to STIFFER times, so that
    they hold the same force within it; how deep (k,) [m] each presses then with the force that it had. follows (n,)
    bool: vertices of bodies whose contacts with others do so; at obstacles all do.

    The stiffness that masses and materials give is no measure of what lies on a contact, or is drawn through it.
    """
    needed = pressed.loads / np.maximum(HELD * contacts.thickness, 1e-300)
    v = contacts.vertices
    at_obstacle = contacts.obstacle >= 0
    needed[(contacts.thickness <= 0) | ~(at_obstacle | follows[v[:, 0]] | follows[v[:, 2]])] = 0.0
    before = np.divide(pressed.loads, pressed.depths, out=np.zeros_like(needed), where=pressed.depths > 0)
    growth = np.where(at_obstacle, AT_OBSTACLES, GROWTH)
    most = np.minimum(growth * np.maximum(before, contacts.stiffness), STIFFER * contacts.stiffness)
    stiffer = np.maximum(np.minimum(needed, most), contacts.stiffness)
    is_stiffer = stiffer > contacts.stiffness
    contacts.stiffness[:] = stiffer
    return np.where(is_stiffer, np.minimum(pressed.depths, pressed.loads / stiffer), pressed.depths)


@inlined
def pair_key(c, i, contacts, parties):
    """A number for corner i of a contact and who is on the other side."""
    vertices, body = contacts.vertices, parties.body
    if contacts.kind[c] == FACE_OBSTACLE:
        shapes = (parties.size - parties.bodies) // 2
        return vertices[c, i] * np.int64(parties.size) + parties.bodies + shapes + contacts.obstacle[c]
    if contacts.obstacle[c] >= 0:
        return vertices[c, i] * np.int64(parties.size) + parties.bodies + contacts.obstacle[c]
    is_first = i == 0 or (i == 1 and contacts.kind[c] != VERTEX_TRIANGLE)
    return vertices[c, i] * np.int64(parties.size) + body[vertices[c, 2] if is_first else vertices[c, 0]]


@compiled
def write_pair_keys(contacts, parties, keys, owner):
    """Keys of corners that take part, and the contact of each; how many there are."""
    count = 0
    for c in range(len(contacts.kind)):
        for i in range(4):
            if contacts.weights[c, i] != 0.0:
                keys[count], owner[count] = pair_key(c, i, contacts, parties), c
                count += 1
    return count


@compiled
def sort_keys(keys, size, starts, order):
    """Places of keys in ascending order, equal ones as they come; starts (n + 1,) of vertices: zero, scratch.

    A vertex has few: its keys are counted, and then sorted among themselves.
    """
    for k in range(len(order)):
        starts[keys[k] // size + 1] += 1
    for i in range(len(starts) - 1):
        starts[i + 1] += starts[i]
    for k in range(len(order)):
        vertex = keys[k] // size
        order[starts[vertex]] = k
        starts[vertex] += 1
    first = 0  # of the keys of a vertex, which end where those of the next begin
    for vertex in range(len(starts) - 1):
        for k in range(first + 1, starts[vertex]):
            moved, place = order[k], k
            while place > first and keys[order[place - 1]] > keys[moved]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = moved
        first = starts[vertex]


@compiled
def write_largest(keys, owner, order, d, stiffness, shortfalls, pressing):
    """Each key once, with the largest depth, force and shortfall of its contacts; how many there are."""
    count = 0
    for k in order:
        c = owner[k]
        if count == 0 or pressing.keys[count - 1] != keys[k]:
            pressing.keys[count], pressing.depths[count], pressing.loads[count] = keys[k], d[c], stiffness[c] * d[c]
            pressing.shortfalls[count] = shortfalls[c]
            count += 1
        else:
            pressing.shortfalls[count - 1] = max(pressing.shortfalls[count - 1], shortfalls[c])
            pressing.depths[count - 1] = max(pressing.depths[count - 1], d[c])
            pressing.loads[count - 1] = max(pressing.loads[count - 1], stiffness[c] * d[c])
    return count


@compiled
def first_keys(keys, size, starts):
    """Where the keys of each vertex begin, of sorted ones; starts (n + 1,): zero before."""
    for k in range(len(keys)):
        starts[keys[k] // size + 1] += 1
    for i in range(len(starts) - 1):
        starts[i + 1] += starts[i]


@compiled
def look_up(thread, threads, barrier, contacts, parties, known, starts, pressed):
    is_known, d, loads = pressed.is_known, pressed.depths, pressed.loads
    begin, end = share(0, len(is_known), thread, threads)
    for c in range(begin, end):
        is_of_one = contacts.kind[c] == VERTEX_TRIANGLE or contacts.kind[c] == VERTEX_OBSTACLE
        for i in range(1 if is_of_one else 4):
            if contacts.weights[c, i] == 0.0:
                continue
            vertex, number = contacts.vertices[c, i], pair_key(c, i, contacts, parties)
            for place in range(starts[vertex], starts[vertex + 1]):
                if known.keys[place] == number:
                    is_known[c], d[c] = True, max(d[c], known.depths[place])
                    loads[c] = max(loads[c], known.loads[place])
                    pressed.shortfalls[c] = max(pressed.shortfalls[c], known.shortfalls[place])


class Pushes(NamedTuple):
    """How far contacts may be pushed out in a step."""

    most: np.ndarray  # (k,) [m]
    edge: np.ndarray  # (k,) [m] the shorter mean edge of both sides


def begin_pressing(
    team: Team,
    contacts: ContactSet,
    x: np.ndarray,
    known: tuple[Parties, Pressing | None],
    short: Shortfalls,
    pushes: Pushes,
    kept: float,
    follows: np.ndarray | None,
) -> np.ndarray:
    """Let contacts begin a step at x (n, 3) [m] with what they pressed with before; their shortfalls (k,) [m], which of
    a simulation that starts, of which nothing is known, are as they are placed. short: what they had before; kept: as
    of `start_with_offset`; follows (n,) bool: vertices of bodies whose contacts follow the load, None for none.
    """
    before = pressed_before(team, contacts, *known)
    depths = before.depths if follows is None else hold_loads(contacts, before, follows)
    starts = known[1] is None and kept == 0.0
    others = np.full(contacts.size, np.inf) if starts else before.shortfalls
    shortfalls, is_known = short.known_of(contacts, others)
    start_with_offset(contacts, x, depths, pushes, (shortfalls, is_known), kept)
    return shortfalls


def start_with_offset(
    contacts: ContactSet, x: np.ndarray, pressed: np.ndarray, pushes: Pushes, short: tuple[np.ndarray, np.ndarray],
    kept: float = 0.0,
) -> None:  # fmt: skip
    """Let contacts press at the start of a step, at x (n, 3) [m], with no more than what they pressed with before (k,)
    and what they may be pushed out by; of the rest, a part `kept` of the penetration stays for later steps. short:
    shortfalls (k,) [m], which are brought up to date, and (k,) bool which contacts had them before: others have at most
    what they are too near now. What has opened as far as it should has none any more.

    What is pushed and does not yield is held by something: it is pushed further at a small part of the speed alone, so
    that contacts which contradict each other (a fold that is caught) do not store ever more energy.
    """
    cached(write_offsets)(contacts, x, pressed, pushes.most, pushes.edge, *short, kept)


def press_at_obstacles(contacts: ContactSet) -> None:
    """Take the offsets of contacts with obstacles away: they press as deep as they are."""
    which = contacts.obstacle >= 0
    contacts.thickness[which] += contacts.offset[which]
    contacts.offset[which] = 0.0


@compiled
def write_offsets(contacts, x, pressed, push, edge, shortfalls, is_known, kept):
    for place in range(len(pressed)):
        c = np.uint64(place)
        s = add(closest_separation(c, positions_of(c, contacts, x), contacts), row(contacts.motions, c))
        gap, thickness = dot(s, row(contacts.normals, c)), contacts.thickness[c]
        held = HELD_PUSH if contacts.obstacle[c] < 0 else 1.0  # an obstacle is not what yields
        further = push[c] * max(1.0 - pressed[c] / push[c], held) if push[c] > 0.0 else 0.0
        short = shortfalls[c] if is_known[c] and gap < thickness else min(shortfalls[c], max(thickness - gap, 0.0))
        late = thickness - gap - short - pressed[c]  # what begins without force
        if short > 0.0:
            overlap = max(TOUCHING * thickness - gap, 0.0)
            short = max(short - further * min(overlap / (SLOWLY * edge[c]), 1.0), 0.0)
        shortfalls[c] = short
        contacts.offset[c] = max(short + max(late - further, 0.0), kept * late)
        contacts.thickness[c] -= contacts.offset[c]
