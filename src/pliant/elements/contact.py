"""One contact as one of its vertices sees it: a penalty across the normal and smoothed friction along the surface.

    s = sum_j w_j x_j           from the contact point b on one side to a on the other; the weights sum to zero
    d = max(0, thickness - s . n)                            depth (VBD, Equation 12), the normal n held constant
    u = sum_j w_j (x_j - x_j^t)                              relative motion since the start of the step (13)
    E = k/2 d^2 + limit f0(|u_T|)                            limit = mu k d of the last refresh (14, 15)

With damping, k_d / h = c, the normal force resists changes of the depth since the start of the step, d_t:

    force = k max(0, d + c (d - d_t)),    D + k/2 d^2 = k / (2 (1 + c)) (p^2 + c d_t^2),  p = max(0, (1 + c) d - c d_t)

It never pulls and has no jump where a vertex arrives or leaves, so that the step stays a convex minimisation in d.

Deviation: the paper takes the normal force k d at the current iterate inside the friction force. Held from one refresh
to the next it makes friction a potential, which a line search and Newton's method need; both agree once the step
converges (decision 0021).
"""

from __future__ import annotations

from pliant.lanes import maximum, number, select, sqrt
from pliant.lanes.vectors import add_identity, add_scaled, add_square, dot, physics

STIFFEST = 10.0  # of friction that sticks, over the stiffness of its contact
LEAST_LENGTH = 1e-30  # [m] divides in place of a shorter motion, which has no direction


@physics
def depth(s, n, thickness):
    """d [m]."""
    return maximum(thickness - dot(s, n), number(0.0, thickness))


@physics
def damped_depth(s, u, n, thickness, damping):
    """p = max(0, (1 + c) d - c d_t) and d_t [m], c the damping k_d / h: the force is k p."""
    zero = number(0.0, thickness)
    gap = thickness - dot(s, n)
    before = maximum(gap + dot(u, n), zero)
    return maximum(gap + damping * (gap - before), zero), before


@physics
def is_felt(s, n, thickness, limit):
    """Where there is any force: the rest need not be found."""
    zero = number(0.0, limit)
    return (thickness - dot(s, n) > zero) | (limit > zero)


@physics
def tangential(u, n):
    """The part of u across n."""
    return add_scaled(u, -dot(u, n), n)


@physics
def smoothing(stiffness, limit, slip):
    """[m] over which friction rises to its limit: slip, and as much as leaves it STIFFEST times as stiff as the
    contact. In an impact the limit is hundreds of times that of the weight, and with slip alone bodies that stick would
    be held hundreds of times as firmly along the surface as across it, which iterations take long to solve.
    """
    own = limit * (2.0 / STIFFEST) / maximum(stiffness, number(LEAST_LENGTH, stiffness))
    return maximum(maximum(slip, own), number(LEAST_LENGTH, slip))


@physics
def friction_slope(length, stiffness, limit, slip):
    """Friction over length [N/m]: limit f1(length) / length of Equation 15, full friction beyond `slip` [m], rising
    smoothly to it before.

    With slip 0 it sticks, as a spring of the contact's stiffness that slides at the limit: min(k, limit / length).
    """
    smooth = smoothing(stiffness, limit, slip)
    inside = (2.0 - length / smooth) / smooth
    rubbing = limit * select(length < smooth, inside, number(1.0, length) / maximum(length, smooth))
    sticks = (slip <= number(0.0, slip)) & (stiffness * length < limit)
    return select(sticks, stiffness, rubbing)


@physics
def sticking_slope(length, stiffness, limit):
    """friction_slope with slip 0 [N/m], for those who know that it is."""
    return select(stiffness * length < limit, stiffness, limit / maximum(length, number(LEAST_LENGTH, length)))


@physics
def friction_energy(length, stiffness, limit, slip):
    """limit f0(length) [J], f0 the integral of f1: l - slip / 3 beyond slip. With slip 0: k/2 l^2 where it sticks."""
    smooth = smoothing(stiffness, limit, slip)
    inside = length * length * (1.0 - length / (3.0 * smooth)) / smooth
    rubbing = limit * select(length < smooth, inside, length - smooth / 3.0)
    is_sticky = slip <= number(0.0, slip)
    slides = limit * (length - 0.5 * limit / maximum(stiffness, number(LEAST_LENGTH, stiffness)))
    held = select(stiffness * length < limit, 0.5 * stiffness * length * length, slides)
    return select(is_sticky, held, rubbing)


@physics
def add_friction_curvature(H, u, n, stiffness, limit, slip):
    """Add to a block of weight 1 what Equation 16 leaves out of the exact Hessian of friction, where |u_T| is held:

        limit (f1'(l) - f1(l) / l) t t^T / l^2  with  t = u_T,  l = |t|,

    so that the block is limit f1' >= 0 along the motion and as before across it: positive semidefinite.
    """
    t = tangential(u, n)
    least = number(LEAST_LENGTH, limit)
    length = maximum(sqrt(dot(t, t)), least)
    far = maximum(length, smoothing(stiffness, limit, slip))
    sticks = (slip <= number(0.0, slip)) & (stiffness * length < limit)
    return add_square(H, select(sticks, number(0.0, limit), -limit / (length * far * far)), t)


@physics
def add_contact(f, H, w, s, u, n, thickness, stiffness, limit, slip, damping, colour_multiplicity, way):
    """Add force and block on a vertex of weight w (Equation 16 for friction); damping: k_d / h.

    way: where the vertex would go without the contact. A hard contact that it would press has its block already, so
    that the vertex does not go deep and its multiplier does not become large for an iteration; zero for others.

    colour_multiplicity m: how many vertices of the contact are moved at the same time. Each would take back the whole
    depth; blocks that are m times larger make them share it: (sum_i w_i d_i)^2 <= m sum_i (w_i d_i)^2.
    """
    zero = number(0.0, w)
    push, _ = damped_depth(s, u, n, thickness, damping)
    touches = select(push > zero, w * stiffness, zero)
    f = add_scaled(f, touches * push, n)
    ahead = -(w * dot(way, n))
    is_met = (ahead > zero) & (thickness - dot(s, n) + ahead > zero)
    touches = select(is_met, w * stiffness, touches)
    H = add_square(H, touches * w * (1.0 + damping) * colour_multiplicity, n)
    t = tangential(u, n)
    c = friction_slope(sqrt(dot(t, t)), stiffness, limit, slip)
    f = add_scaled(f, -(w * c), t)
    c = w * w * c * colour_multiplicity
    return f, add_square(add_identity(H, c), -c, n)


@physics
def contact_energy(s, u, n, thickness, stiffness, limit, slip, damping):
    """E [J]."""
    push, before = damped_depth(s, u, n, thickness, damping)
    t = tangential(u, n)
    normal = 0.5 * stiffness * (push * push + damping * before * before) / (1.0 + damping)
    return normal + friction_energy(sqrt(dot(t, t)), stiffness, limit, slip)
