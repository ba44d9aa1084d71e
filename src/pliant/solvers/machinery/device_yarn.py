"""Triangles of yarn cloth in vertex block descent on a device (kernels.yarn_lists, decision 0059).

A kernel evaluates the splines of all triangles before an iteration; corners and wings read what they need of psi's
Taylor polynomial from then on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.device.functions import NOTHING, Argument, c_function
from pliant.device.lists import ListState
from pliant.elements.yarn_strains import yarn_strains
from pliant.elements.yarn_triangle import YarnTriangles
from pliant.elements.yarn_views import add_known_corner, add_known_wing, of_wing, taylor
from pliant.kernels.yarn_lists import yarn_incidences
from pliant.lanes.types import DTYPES
from pliant.materials.splines import SplineTable
from pliant.solvers.machinery.device_build import DeviceBuild, DeviceTerm, Numbers

_ORIGIN = (0.0, 0.0, 0.0)
_OTHERS = [Argument(f"r{k}", 3) for k in range(5)]
_TEXTS = [f"other {k}" for k in range(5)]
_KNOWN = 27  # r (6) and the upper triangle of psi'' (21) of each triangle


def of_yarn_triangles(block: YarnTriangles, build: DeviceBuild) -> DeviceTerm:
    """One list of corners, whose blocks are summed before negative eigenvalues are left out, and one of wings."""
    numbers = _numbers()
    known = Argument("known", _KNOWN, is_global=True)

    def corner(*values):
        places, last = values[:5], values[-1]
        return add_known_corner(*NOTHING, (_ORIGIN, *places), *numbers.grouped(values[5:-1]), (last[:6], last[6:]))

    def wing(*values):
        places, last = values[:5], values[-1]
        b1, b2, area, present = numbers.grouped(values[5:-1])
        own = of_wing((-(b1[0] + b2[0]), -(b1[1] + b2[1])), b1, b2, last[:6], last[6:])
        return add_known_wing(*NOTHING, (*places[:3], _ORIGIN, *places[3:]), b1, b2, area, present, own)

    arguments = [*_OTHERS, *numbers.arguments, known]
    corners, wings = (
        build.listed(incidences, f"{words} of yarn cloth", build.function(f"{words} of yarn cloth", call, arguments),
                     [*_TEXTS, *numbers.texts, f"states {_KNOWN} {back}"])
        for back, (incidences, words, call) in enumerate(
            zip(yarn_incidences(block), ("corners", "wings"), (corner, wing), strict=True)
        )
    )  # fmt: skip
    triangle = np.tile(np.arange(len(block.elements)), 3)
    lists = [
        replace(corners, state=_splines(block, build), element=triangle, is_projected=True),
        replace(wings, element=triangle[block.present.T.ravel() > 0]),
    ]
    return DeviceTerm(block, lists, np.zeros(len(build.row_of_vertex)))


def _numbers() -> Numbers:
    """Of an entry, and of a triangle: as a function takes them, and where they are."""
    numbers = Numbers()
    for name, size in (("b1", 2), ("b2", 2), ("area", 0)):
        numbers.add(name, size)
    numbers.add("present", 3)
    return numbers


def _splines(block: YarnTriangles, build: DeviceBuild) -> ListState:
    """r = psi' - psi'' s and psi'' of each triangle at its strains s."""
    numbers, table = _numbers(), block.material.table(DTYPES[build.precision])

    def call(rows, *values):
        b1, b2, _, present = numbers.grouped(values[5:])
        s, _ = yarn_strains((_ORIGIN, *values[:5]), b1, b2, present)
        return taylor(SplineTable(table.numbers, rows), s)

    arguments = [Argument("table", is_global=True), *_OTHERS, *numbers.arguments]
    declared = ", ".join(["GLOBAL real *state", *(argument.declared for argument in arguments)])
    function = c_function(
        f"inline void update_K({declared})", call, arguments, [f"state[{k}] = {{}};" for k in range(_KNOWN)],
        "psi's Taylor polynomial of second order at the strains of a triangle.", build.precision, build.helpers,
    )  # fmt: skip
    return ListState(
        function=function,
        arguments=(*_TEXTS, *numbers.texts),
        corners=build.row_of_vertex[block.elements],
        constants=np.column_stack([block.gradients[:, 1], block.gradients[:, 2], block.areas, block.present]),
        size=_KNOWN,
        table=table.rows,
    )
