"""Lane functions written down as C: common parts once, constants folded, readable, and the same numbers."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest

import pliant as pl
from pliant.device.c_text import Helpers
from pliant.device.functions import FORCE_AND_BLOCK, NOTHING, Argument, c_function
from pliant.device.trace import Node, Trace
from pliant.elements.hinge import add_at_edge
from pliant.elements.spring import add_spring
from pliant.lanes import absolute, exp, inverse_cube_root, log, maximum, minimum, select, sqrt
from pliant.lanes.angles import atan2
from pliant.lanes.functions import physics
from pliant.materials.calculus import law_code
from pliant.materials.stretch import smallest_stretch, trace_of_stretch
from pliant.model import build_model
from pliant.solvers.machinery.device_work import kernel_source

PRELUDE = """
#include <math.h>
typedef double real;
typedef struct { double x, y, z; } real3;
static real inverse_cube_root(const real a) { return a < 0 ? NAN : 1 / cbrt(a); }
#define inline static
"""


def text_of(function, names: str) -> str:
    """C that writes the results of a function of plain numbers to out[]."""
    helpers, arguments = Helpers(), [Argument(name) for name in names.split()]
    trace = Trace("double")
    results = function(*(argument.symbols(trace) for argument in arguments))
    count = len(results) if isinstance(results, tuple) else 1
    declared = ", ".join(["real *out", *(argument.declared for argument in arguments)])
    targets = [f"out[{k}] = {{}};" for k in range(count)]
    text = c_function(f"void traced({declared})", function, arguments, targets, "", "double", helpers)
    return "\n".join([*helpers.texts, text])


def test_the_same_operation_is_one_node_and_constants_are_folded() -> None:
    trace = Trace()
    a, b = trace.symbol("a"), trace.symbol("b")
    assert a * b is b * a
    assert (a + b) * (b + a) is (a + b) * (a + b)
    assert a - b is not b - a
    assert a + 0.0 is a
    assert 1.0 * a is a
    minus = -a
    assert -minus is a
    assert select(True, a, b) is a
    assert select(a < b, b, b) is b
    assert isinstance(0.0 * a, Node)  # a may be infinite
    assert trace.make("mul", (2.0, 3.0)) == 6.0


def test_the_text_reads_like_the_function() -> None:
    """Names of variables, no operation twice."""
    arguments = [Argument("r", 3), Argument("rest_length"), Argument("stiffness"), Argument("compression")]
    call = lambda *values: add_spring(*NOTHING, *values)  # noqa: E731
    text = c_function("inline void add(...)", call, arguments, FORCE_AND_BLOCK, "springs", "single", Helpers())
    assert "const real length_ = sqrt(r.x * r.x + r.y * r.y + r.z * r.z);" in text
    assert "const real pull = k * (1.0f - rest_length * inverse);" in text
    assert text.count("sqrt") == 1
    assert text.count("/") == text.count("//") * 2 + 1
    assert "// add_spring: Add the force on vertex i and its block" in text


@physics
def of_everything(x, y, z):
    return (
        select((x < y) | ~(z >= 1.0), x - (y - z), x / (y / z)),
        maximum(x, y) * minimum(y, -z),
        atan2(x, -y) + inverse_cube_root(y),
        sqrt(absolute(z)) - log(x) * exp(-y),
        select((x < 1.0) & (y != z), -x, 2.0 - x),
    )


@physics
def of_stretches(I, II, J):
    return trace_of_stretch(I, II, J), smallest_stretch(I, II, J)


def of_hinge(x, y, z):
    f, H = add_at_edge(*NOTHING, (1.0, x, y), (z, 1.0, x), (x, -1.0, z), 0.1, 2.0)
    return (*f, *H)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("function", [of_everything, of_hinge, of_stretches])
def test_compiled_c_gives_the_numbers_of_python(function, tmp_path) -> None:
    text = text_of(function, "u v w")
    source, library = tmp_path / "traced.c", tmp_path / "traced.so"
    source.write_text(PRELUDE + text.replace("void traced", "extern void traced"))
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-lm"], check=True)
    traced = ctypes.CDLL(str(library)).traced
    for values in np.random.default_rng(4).uniform(0.3, 1.4, (20, 3)):
        if function is of_stretches:
            C = np.diag(values**2)
            values = np.array([np.trace(C), np.trace(C @ C), np.prod(values)])
        expected = np.array(function(*values))
        out = (ctypes.c_double * len(expected))()
        traced(out, *(ctypes.c_double(value) for value in values))
        np.testing.assert_allclose(list(out), expected, rtol=1e-12, atol=1e-14)


def test_kernels_of_a_scene_can_be_read_without_a_device() -> None:
    """One function per element, tables and barriers around it, and no formula of a law twice."""
    scene = pl.Scene()
    scene.add_solid(pl.shapes.box((0.1, 0.1, 0.1), (1, 1, 1)), pl.NeoHookean.from_young(1e5, 0.3))
    text = kernel_source(pl.VBD(), build_model(scene), 1e-3)
    assert re.findall(r"KERNEL void (\w+)", text) == ["solve_groups", "solve_packed", "solve_items", "accelerate"]
    assert text.count("log(") == law_code(pl.NeoHookean).text.split("def volume_derivatives")[1].count("log(") == 1
    assert "tets of NeoHookean" in text
