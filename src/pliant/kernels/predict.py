"""Beginning and end of a step: inertial target, start of the iterations, new velocity."""

from __future__ import annotations

import math

from pliant.lanes.entry import entry

STARTS = ("previous", "inertial", "accelerated", "adaptive", "extrapolated", "optimised")
EXTRAPOLATION = 0.2  # the part eta of the last change of velocity that "extrapolated" expects again


@entry(nogil=True, error_model="numpy")
def predict(x, v, v_previous, acceleration, air_damping, h, start_policy, y, start):
    """Inertial target y (Equation 3) and the start x of the iterations by policy (index into STARTS).

    The first four are VBD's (3.7). "extrapolated" is constant acceleration as of Wang and Yang (4.4). "optimised",
    their Equation 10, is "previous" here: how far to go along v depends on the potential.

    Air damping c adds c m / (2 h) |x - x_t|^2 to the potential (Wang and Yang, Equation 20). Together with inertia
    that is one quadratic of weight (1 + c h) m / h^2 around the mean of y and x_t.
    """
    for i in range(len(x)):
        a = acceleration[i]
        a2 = a[0] ** 2 + a[1] ** 2 + a[2] ** 2
        part = 1.0 if start_policy == 2 else 0.0
        if start_policy == 3 and a2 > 0.0:  # Equation 17: the part of gravity that the last step followed
            fall = 0.0
            for k in range(3):
                fall += (v[i, k] - v_previous[i, k]) / h * a[k]
            part = min(max(fall / a2, 0.0), 1.0)
        carried = 1.0 / (1.0 + air_damping[i] * h)
        for k in range(3):
            y[i, k] = x[i, k] + carried * (h * v[i, k] + h * h * a[k])
            start[i, k] = x[i, k]
            if start_policy == 4:
                start[i, k] += h * (v[i, k] + EXTRAPOLATION * (v[i, k] - v_previous[i, k]))
            elif 0 < start_policy < 4:
                start[i, k] += carried * (h * v[i, k] + h * h * part * a[k])


@entry(nogil=True, error_model="numpy")
def velocities(x_new, x, h, v):
    """v = (x_new - x) / h (Equation 6); False if anything is not finite."""
    finite = True
    for i in range(len(x)):
        for k in range(3):
            v[i, k] = (x_new[i, k] - x[i, k]) / h
            finite &= abs(v[i, k]) < 1e300
    return finite


SPIN_ITERATIONS = 60  # at most; each halves the error, or better
SPIN_ACCURACY = 1e-13  # of the angular velocity


@entry(nogil=True, error_model="numpy")
def free_spin(orientations, twists, inertia, torque, air_damping, h, spins):
    """Angular velocities w (b, 3) [rad/s] of free bodies at the end of a step of implicit Euler, in world axes:

        I(exp(h w) R) w = L,    L = (I(R) w_t + h torque) / (1 + c h)

    orientations (b, 4), twists (b, 6), inertia (b, 3, 3) in the bodies' axes [kg m^2], torque (b, 3) [N m], air damping
    c (b,) [1/s]. Solved by fixed point iteration, half of each step, in the body's axes, where w turns L back.
    """
    for b in range(len(orientations)):
        I = inertia[b]
        w, x, y, z = orientations[b, 0], orientations[b, 1], orientations[b, 2], orientations[b, 3]
        R = ((1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
             (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
             (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)))  # fmt: skip
        # in the body's axes at the start: angular velocity u, momentum p
        u = [0.0, 0.0, 0.0]
        pull = [0.0, 0.0, 0.0]
        for i in range(3):
            for j in range(3):
                u[i] += R[j][i] * twists[b, 3 + j]
                pull[i] += R[j][i] * torque[b, j]
        shrink = 1.0 / (1.0 + air_damping[b] * h)
        p = [0.0, 0.0, 0.0]
        for i in range(3):
            p[i] = shrink * (I[i, 0] * u[0] + I[i, 1] * u[1] + I[i, 2] * u[2] + h * pull[i])
        det = (I[0, 0] * (I[1, 1] * I[2, 2] - I[1, 2] ** 2) - I[0, 1] * (I[0, 1] * I[2, 2] - I[1, 2] * I[0, 2])
               + I[0, 2] * (I[0, 1] * I[1, 2] - I[1, 1] * I[0, 2]))  # fmt: skip
        for _ in range(SPIN_ITERATIONS):
            # the momentum in the axes that the body has after turning by h u: turned back about u
            size = math.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
            angle = -h * size
            c, s = math.cos(angle), math.sin(angle)
            k0, k1, k2 = (u[0] / size, u[1] / size, u[2] / size) if size > 0.0 else (0.0, 0.0, 0.0)
            along = (1.0 - c) * (k0 * p[0] + k1 * p[1] + k2 * p[2])
            q0 = c * p[0] + s * (k1 * p[2] - k2 * p[1]) + along * k0
            q1 = c * p[1] + s * (k2 * p[0] - k0 * p[2]) + along * k1
            q2 = c * p[2] + s * (k0 * p[1] - k1 * p[0]) + along * k2
            n0 = ((I[1, 1] * I[2, 2] - I[1, 2] ** 2) * q0 + (I[0, 2] * I[1, 2] - I[0, 1] * I[2, 2]) * q1
                  + (I[0, 1] * I[1, 2] - I[0, 2] * I[1, 1]) * q2) / det  # fmt: skip
            n1 = ((I[0, 2] * I[1, 2] - I[0, 1] * I[2, 2]) * q0 + (I[0, 0] * I[2, 2] - I[0, 2] ** 2) * q1
                  + (I[0, 1] * I[0, 2] - I[0, 0] * I[1, 2]) * q2) / det  # fmt: skip
            n2 = ((I[0, 1] * I[1, 2] - I[0, 2] * I[1, 1]) * q0 + (I[0, 1] * I[0, 2] - I[0, 0] * I[1, 2]) * q1
                  + (I[0, 0] * I[1, 1] - I[0, 1] ** 2) * q2) / det  # fmt: skip
            change = abs(n0 - u[0]) + abs(n1 - u[1]) + abs(n2 - u[2])
            u[0], u[1], u[2] = 0.5 * (u[0] + n0), 0.5 * (u[1] + n1), 0.5 * (u[2] + n2)
            if change <= SPIN_ACCURACY * (abs(n0) + abs(n1) + abs(n2)):
                break
        for i in range(3):
            # u is the same vector in the axes at the start and at the end: the turn is about it
            spins[b, i] = R[i][0] * u[0] + R[i][1] * u[1] + R[i][2] * u[2]
