"""Energy of a contact and its friction: VBD Equations 12 to 16.

With signed weights w_i (sum 0), normal n and gap g, a contact of vertices x_i is

    d = max(0, g - n . sum_i w_i x_i)           depth, with n and w held constant                        Eq. 12
    E = k_c / 2 d^2,   lambda = k_c d           energy and normal force
    f_i = lambda w_i n,   H_i = k_c w_i^2 n n^T   on each vertex, where d > 0
    u = (1 - n n^T) sum_i w_i (x_i - x_i^t)     tangential motion in the step                            Eq. 13
    f_i = -mu lambda w_i f1(|u|) u / |u|        friction                                                 Eq. 14, 15
    H_i = mu lambda w_i^2 f1(|u|) / |u| (1 - n n^T)   the paper's derivative, |u| held constant          Eq. 16

Deviation: the paper's Equation 14 multiplies by lambda_i = dE/dx_i . n, which holds w_i a second time and has its
sign: such forces would not sum to zero over a contact, and at the vertex they would point along the motion.  Here
lambda is the one normal force of the contact, as in IPC (Li et al. 2020), so that the four forces sum to zero because
the weights do.
"""

from __future__ import annotations

import numpy as np

from pliant.contact.contact_set import Contacts, depths


def energy(contacts: Contacts, x: np.ndarray, stiffness: float) -> np.ndarray:
    """k_c / 2 d^2 (k,) [J]; stiffness k_c [N/m]."""
    return 0.5 * stiffness * depths(contacts, x) ** 2


def forces(contacts: Contacts, x: np.ndarray, stiffness: float) -> np.ndarray:
    """-dE/dx_i (k, 4, 3) [N] on the four vertices."""
    normal_force = stiffness * depths(contacts, x)
    return np.einsum("k,ki,ka->kia", normal_force, contacts.weights, contacts.normals)


def hessians(contacts: Contacts, x: np.ndarray, stiffness: float) -> np.ndarray:
    """d2E / dx_i dx_j (k, 4, 4, 3, 3) [N/m], normals and weights held constant; positive semi-definite."""
    k = stiffness * (depths(contacts, x) > 0)
    w, n = contacts.weights, contacts.normals
    return np.einsum("k,ki,kj,ka,kb->kijab", k, w, w, n, n)


def tangential_motion(contacts: Contacts, dx: np.ndarray) -> np.ndarray:
    """u (k, 3) [m] of displacements dx (n, 3) since the start of the step."""
    motion = np.einsum("ki,kia->ka", contacts.weights, dx[contacts.vertices])
    return motion - np.einsum("ka,ka->k", motion, contacts.normals)[:, None] * contacts.normals


def friction_forces(
    contacts: Contacts, dx: np.ndarray, normal_force: np.ndarray, friction: np.ndarray, slip: float
) -> np.ndarray:
    """(k, 4, 3) [N], for normal forces (k,) [N], coefficients mu (k,) and slip = epsilon_v h [m]."""
    u = tangential_motion(contacts, dx)
    size = friction * normal_force * f1_over_u_array(np.linalg.norm(u, axis=1), slip)
    return -np.einsum("k,ki,ka->kia", size, contacts.weights, u)


def friction_hessians(
    contacts: Contacts, dx: np.ndarray, normal_force: np.ndarray, friction: np.ndarray, slip: float
) -> np.ndarray:
    """Equation 16 between all pairs of the four vertices: (k, 4, 4, 3, 3) [N/m], positive semi-definite."""
    u, n, w = tangential_motion(contacts, dx), contacts.normals, contacts.weights
    size = friction * normal_force * f1_over_u_array(np.linalg.norm(u, axis=1), slip)
    tangent = np.eye(3) - np.einsum("ka,kb->kab", n, n)
    return np.einsum("k,ki,kj,kab->kijab", size, w, w, tangent)


def friction_energy(
    contacts: Contacts, dx: np.ndarray, normal_force: np.ndarray, friction: np.ndarray, slip: float
) -> np.ndarray:
    """mu lambda f0(|u|) (k,) [J], whose negative gradient the friction is, for a normal force held constant (IPC)."""
    length = np.linalg.norm(tangential_motion(contacts, dx), axis=1)
    return friction * normal_force * f0_array(length, slip)


def f0_array(u: np.ndarray, slip: float) -> np.ndarray:
    """Integral of f1 [m], equal to u once sliding: f0' = f1."""
    y = np.minimum(u / slip, 1.0)
    return np.where(u < slip, slip * (y * y - y**3 / 3.0 + 1.0 / 3.0), u)


def f1_over_u_array(u: np.ndarray, slip: float) -> np.ndarray:
    """f1(u) / u [1/m] of Equation 15, finite at u = 0."""
    return np.where(u < slip, (2.0 - u / slip) / slip, 1.0 / np.maximum(u, slip))
