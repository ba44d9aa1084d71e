"""All contacts of a step in one list: between vertices of the scene, and of vertices with obstacles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.contacts import Contacts
from pliant.contact.penalty import combined_friction
from pliant.model import ContactModel


class Touches(NamedTuple):
    """Contacts of up to four vertices, and perhaps a point of an obstacle.

    s = sum_i w_i x_i + outside point  leads from one side to the other; all weights sum to zero.
    """

    vertices: np.ndarray  # (k, 4) of the scene, -1 where there are fewer
    weights: np.ndarray  # (k, 4)
    outside: np.ndarray  # (k,) weight of the obstacle's point: -1, or 0 where there is none
    points: np.ndarray  # (k, 3) of the obstacle at the end of the step [m]
    motions: np.ndarray  # (k, 3) of that point in the step [m]
    normals: np.ndarray  # (k, 3) towards the first vertex's side
    gaps: np.ndarray  # (k,) distance to be kept [m]
    friction: np.ndarray  # (k,) coefficient
    follows: np.ndarray  # (k,) bool: the closest point moves with the vertices


def touches_of_pairs(contacts: Contacts, model: ContactModel) -> Touches:
    """Contacts between vertices, with the friction of their bodies."""
    k = len(contacts.kind)
    first, second = model.friction[contacts.vertices[:, 0]], model.friction[contacts.vertices[:, 2]]
    return Touches(
        contacts.vertices.astype(np.int64),
        contacts.weights,
        np.zeros(k),
        np.zeros((k, 3)),
        np.zeros((k, 3)),
        contacts.normals,
        contacts.gap,
        friction_of(first, second, model.settings.friction),
        contacts.is_discrete & (contacts.kind == 0),
    )


def friction_of(one: np.ndarray, other: np.ndarray, otherwise: float) -> np.ndarray:
    """The geometric mean where both sides have a coefficient, one's where only one has, `otherwise` where none has."""
    one_is_silent, other_is_silent = np.isnan(one), np.isnan(other)
    both = combined_friction(np.where(one_is_silent, 0.0, one), np.where(other_is_silent, 0.0, other))
    single = np.where(one_is_silent, other, one)
    return np.where(one_is_silent & other_is_silent, otherwise, np.where(one_is_silent | other_is_silent, single, both))


def joined_touches(*lists: Touches) -> Touches:
    """One list after another."""
    return Touches(*(np.concatenate(arrays) for arrays in zip(*lists, strict=True)))
