"""Multipliers of contacts, kept by id from detection to detection and from step to step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import ContactSet
from pliant.contact.tracking.identity import ID, find_places, table_size, write_id, write_ids
from pliant.lanes.compiled import cached, compiled, inlined


class Multipliers(NamedTuple):
    """Of contacts that have any; the others are zero."""

    ids: np.ndarray  # (m, 5) int32
    normal: np.ndarray  # (m,) [N]
    tangential: np.ndarray  # (m, 3) [N]
    earlier: np.ndarray  # (m,) [N] normal, at the end of the step before; of hard contacts
    drift: np.ndarray  # (m, 3) [m] of hard contacts that stick


def no_multipliers() -> Multipliers:
    """All are zero."""
    return Multipliers(np.zeros((0, ID), np.int32), np.zeros(0), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)))


def multipliers_from(state: dict[str, np.ndarray]) -> Multipliers:
    """Those of a checkpoint, of older versions too."""
    ids, normal, tangential = (state[f"multipliers_{name}"] for name in ("ids", "normal", "tangential"))
    earlier = state.get("multipliers_earlier", np.zeros_like(normal))
    drift = state.get("multipliers_drift", np.zeros_like(tangential))
    return Multipliers(ids, normal, tangential, earlier, drift)


def multipliers_of(contacts: ContactSet) -> Multipliers:
    """Those of a set of contacts."""
    m = int(np.count_nonzero(contacts.normal_multiplier))
    if not m:
        return no_multipliers()
    kept = Multipliers(np.empty((m, ID), np.int32), np.empty(m), np.empty((m, 3)), np.empty(m), np.empty((m, 3)))
    cached(write_kept)(contacts, kept)
    return kept


@compiled
def write_kept(contacts, kept):
    k = 0
    for c in range(len(contacts.kind)):
        if contacts.normal_multiplier[c] != 0.0:
            write_id(c, k, contacts.kind, contacts.vertices, contacts.obstacle, kept.ids)
            kept.normal[k], kept.earlier[k] = contacts.normal_multiplier[c], contacts.earlier_multiplier[c]
            for axis in range(3):
                kept.tangential[k, axis] = contacts.tangential_multiplier[c, axis]
                kept.drift[k, axis] = contacts.drift[c, axis]
            k += 1


def restore_multipliers(contacts: ContactSet, kept: Multipliers) -> None:
    """Give contacts the multipliers that are kept for them."""
    if not len(kept.ids) or not contacts.size:
        return
    k = contacts.size
    ids, places = np.empty((k, ID), np.int32), np.full(k, -1, np.int64)
    table = np.full(table_size(len(kept.ids)), -1, np.int32)
    cached(write_multipliers)(contacts, kept, ids, table, places)


@compiled
def write_multipliers(contacts, kept, ids, table, places):
    write_ids(contacts.kind, contacts.vertices, contacts.obstacle, ids)
    find_places(ids, kept.ids, table, places)
    for c in range(len(places)):
        if places[c] >= 0:
            write_multiplier(c, places[c], kept, contacts)


@inlined
def write_multiplier(c, k, kept, contacts):
    contacts.normal_multiplier[c], contacts.earlier_multiplier[c] = kept.normal[k], kept.earlier[k]
    for axis in range(3):
        contacts.tangential_multiplier[c, axis] = kept.tangential[k, axis]
        contacts.drift[c, axis] = kept.drift[k, axis]
