"""Beginning and end of a step: inertial target, start of the iterations, new velocity."""

from __future__ import annotations

from pliant.lanes.entry import entry

STARTS = ("previous", "inertial", "accelerated", "adaptive", "extrapolated", "optimised")
EXTRAPOLATION = 0.2  # the part eta of the last change of velocity that "extrapolated" expects again


@entry(nogil=True, error_model="numpy")
def predict(x, v, v_previous, acceleration, air_damping, follows, h, start_policy, y, start):
    """Inertial target y (Equation 3) and the start x of the iterations by policy (index into STARTS); of vertices that
    follow others (n,), which `predict_bodies` places, neither is written.

    The first four are VBD's (3.7). "extrapolated" is constant acceleration as of Wang and Yang (4.4). "optimised",
    their Equation 10, is "previous" here: how far to go along v depends on the potential.

    Air damping c adds c m / (2 h) |x - x_t|^2 to the potential (Wang and Yang, Equation 20). Together with inertia
    that is one quadratic of weight (1 + c h) m / h^2 around the mean of y and x_t. The start follows damping as far as
    gravity: what creeps is driven by as much as damps it, and an error of its start would come again in every step.
    """
    for i in range(len(x)):
        if follows[i]:
            continue
        carried = 1.0 / (1.0 + air_damping[i] * h)
        fall, size = 0.0, 0.0  # of the last step's acceleration along the one by gravity and damping, and its square
        for k in range(3):
            outer = carried * (acceleration[i, k] - air_damping[i] * v[i, k])
            fall += (v[i, k] - v_previous[i, k]) / h * outer
            size += outer**2
        part = 1.0 if start_policy == 2 else 0.0
        if start_policy == 3 and size > 0.0:  # Equation 17: the part of gravity that the last step followed
            part = min(max(fall / size, 0.0), 1.0)
        for k in range(3):
            y[i, k] = x[i, k] + carried * (h * v[i, k] + h * h * acceleration[i, k])
            start[i, k] = x[i, k]
            if start_policy == 4:
                start[i, k] += h * (v[i, k] + EXTRAPOLATION * (v[i, k] - v_previous[i, k]))
            elif 0 < start_policy < 4:
                outer = carried * (acceleration[i, k] - air_damping[i] * v[i, k])
                start[i, k] += h * v[i, k] + h * h * part * outer


@entry(nogil=True, error_model="numpy")
def velocities(x_new, x, follows, h, v):
    """v = (x_new - x) / h (Equation 6), but for vertices that follow others (n,); False if anything is not finite."""
    finite = True
    for i in range(len(x)):
        if follows[i]:
            continue
        for k in range(3):
            v[i, k] = (x_new[i, k] - x[i, k]) / h
            finite &= abs(v[i, k]) < 1e300
    return finite
