"""Contacts before an iteration: the closest point of a vertex and a triangle, and the friction limit, in double
precision, as kernels.contact_refresh has them.

They are differences of positions, small compared with these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pliant.device.c_text import Helpers
from pliant.device.functions import Argument, c_function
from pliant.elements.closest import combine, normal_there, on_rim, over_triangle
from pliant.elements.contact import depth
from pliant.lanes.vectors import add_scaled, subtract

_POINTS = [Argument(name, 3) for name in "pabc"]
_WEIGHTS = tuple(f"w[{k}] = {{}};" for k in range(4))


def separation(w, d, xi, anchor, has_anchor):
    """s of a contact from the positions d of three corners relative to that of the fourth, xi."""
    s = (0.0, 0.0, 0.0)
    for weight, way in zip(w, d, strict=True):
        s = add_scaled(s, weight, way)
    return add_scaled(s, has_anchor, subtract(xi, anchor))


def _limit(p, a, b, c, w, anchor, has_anchor, n, thickness, most):
    d = tuple(subtract(corner, p) for corner in (a, b, c))
    return most * depth(separation(w[1:], d, p, anchor, has_anchor), n, thickness)


def follow_functions(helpers: Helpers) -> str:
    """Functions of closest points and friction limits, and the kernel `refresh_contacts`."""
    weights = Argument("w", 4)
    texts = [
        _function(
            "int over_triangle", "double *w, int *lies_inside", lambda *y: over_triangle(y), _POINTS,
            [*_WEIGHTS, "*lies_inside = {};", "return {};"], over_triangle.__doc__, helpers,
        ),
        _function(
            "void on_rim", "double *w",
            lambda p, a, b, c, inside, is_inside: on_rim((p, a, b, c), inside, is_inside > 0.0),
            [*_POINTS, Argument("inside", 4), Argument("is_inside")], _WEIGHTS, on_rim.__doc__, helpers,
        ),
        _function(
            "void normal_there", "double *result",
            lambda p, a, b, c, w, n, side: normal_there((p, a, b, c), w, n, side),
            [*_POINTS, weights, Argument("n", 3), Argument("side")], _results("result"), normal_there.__doc__, helpers,
        ),
        _function(
            "void combine", "double *s", lambda p, a, b, c, w: combine(w, (p, a, b, c)), [*_POINTS, weights],
            _results("s"), combine.__doc__, helpers,
        ),
        _function(
            "double friction_limit", "", _limit,
            [*_POINTS, weights, Argument("anchor", 3), Argument("has_anchor"), Argument("n", 3), Argument("thickness"),
             Argument("most")],
            ["return {};"], "mu k d.", helpers,
        ),
    ]  # fmt: skip
    return "\n\n".join([*texts, _REFRESH])


def _results(name: str) -> tuple[str, ...]:
    return tuple(f"{name}[{k}] = {{}};" for k in range(3))


def _function(
    head: str, more: str, call: Callable, arguments: Sequence[Argument], targets: Sequence[str], comment: str | None,
    helpers: Helpers,
) -> str:  # fmt: skip
    """The text of a function in double precision; more: what it takes beside the arguments."""
    declared = ", ".join([*(argument.declared for argument in arguments), *([more] if more else [])])
    words = " ".join((comment or "").split())
    text = c_function(f"inline {head}({declared})", call, arguments, targets, words, "double", helpers)
    return text.replace("real", "double")


#: Tables of the kernel after the number of contacts and the positions, with their kinds.
REFRESHED = {
    "contact_rows": "const int",
    "exact_sides": "const int",  # of the triangle that a closest point moves on; 0 where it does not move
    "exact_start": "const double",  # (contacts, 9) positions of corners 1, 2, 3 less that of 0 when the step began [m]
    "exact_weights": "double",
    "exact_normals": "double",
    "exact_anchors": "const double",
    "exact_most": "const double",  # mu k [N/m]
    "exact_thickness": "const double",
    "exact_limits": "double",
    "contact_weights": "real",
    "contact_normals": "real4",
    "contact_prev": "real4",
}

_REFRESH = """
// Closest points that move with the positions (VBD 3.5) and friction limits (decision 0021), before an iteration.
KERNEL void refresh_contacts(const int contacts, GLOBAL const real4 *x, <tables>)
{
    const int k = GLOBAL_ID;
    if (k >= contacts)
        return;
    GLOBAL const int *at = contact_rows + 4 * k;
    const real4 x0 = x[at[0]], x1 = x[at[1]], x2 = x[at[2]], x3 = x[at[3]];
    const double3 p = DOUBLES(x0.x, x0.y, x0.z), a = DOUBLES(x1.x, x1.y, x1.z);
    const double3 b = DOUBLES(x2.x, x2.y, x2.z), c = DOUBLES(x3.x, x3.y, x3.z);
    GLOBAL double *weights = exact_weights + 4 * k, *normal = exact_normals + 3 * k;
    double w[4] = {weights[0], weights[1], weights[2], weights[3]};
    if (exact_sides[k]) {
        double inside[4], n[3], s[3];
        int is_inside;
        if (over_triangle(p, a, b, c, inside, &is_inside))
            for (int j = 0; j < 4; j++)
                w[j] = inside[j];
        else
            on_rim(p, a, b, c, inside, is_inside, w);
        normal_there(p, a, b, c, w, DOUBLES(normal[0], normal[1], normal[2]), exact_sides[k], n);
        GLOBAL const double *d = exact_start + 9 * k;
        const double3 d1 = DOUBLES(d[0], d[1], d[2]), d2 = DOUBLES(d[3], d[4], d[5]), d3 = DOUBLES(d[6], d[7], d[8]);
        combine(DOUBLES(0, 0, 0), d1, d2, d3, w, s);
        for (int j = 0; j < 4; j++)
            contact_weights[4 * k + j] = weights[j] = w[j];
        for (int j = 0; j < 3; j++)
            normal[j] = n[j];
        contact_normals[k].x = n[0];
        contact_normals[k].y = n[1];
        contact_normals[k].z = n[2];
        contact_prev[k].x = s[0];
        contact_prev[k].y = s[1];
        contact_prev[k].z = s[2];
    }
    if (exact_most[k] > 0) {
        GLOBAL const double *q = exact_anchors + 4 * k;
        exact_limits[k] = friction_limit(p, a, b, c, w, DOUBLES(q[0], q[1], q[2]), q[3],
            DOUBLES(normal[0], normal[1], normal[2]), exact_thickness[k], exact_most[k]);
        contact_normals[k].w = exact_limits[k];
    }
}
""".strip("\n").replace("<tables>", ", ".join(f"GLOBAL {kind} *{name}" for name, kind in REFRESHED.items()))
