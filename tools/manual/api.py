"""Reference pages of the Python interface, from signatures, docstrings and the comments of fields."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from textwrap import dedent
from types import ModuleType
from typing import Any, get_args

from numpy.typing import ArrayLike

import pliant as pl
from manual import units
from manual.internal import INTERNAL
from manual.shared import SHARED
from manual.texts import comments, described
from pliant.materials.law import LameLaw, SolidLaw
from pliant.model import Body, obstacles
from pliant.model.cloth import Cloth
from pliant.model.mesh_obstacle import MeshObstacleBody
from pliant.model.rigid import RigidBody
from pliant.model.solid import Solid
from pliant.model.spring_net import SpringNet

#: Pages, and the public names on each. A public name that is on none of them fails a test.
PAGES: dict[str, tuple[str, ...]] = {
    "Scenes and bodies": (
        "Scene", "Body", "Particles", "Attachment", "Joint", "Sphere", "Box", "Capsule", "Cylinder", "Contact", "Wind",
        "WorldBox", "Schedule", "Motor",
    ),
    "Simulations": (
        "Simulation", "State", "SolveReport", "IncrementalPotential", "equilibrium", "Equilibrium", "StaticReport",
        "OpenCL",
    ),
    "Meshes and files": (
        "TetMesh", "TriMesh", "Animation", "load_animation", "load_mesh", "save_mesh", "load_usd", "UsdBody", "load_uv",
        "warp_from_uv", "Garment", "load_garment",
        "load_scene", "load_simulation", "save_scene", "open_result",
    ),
    "Materials": (
        "StableNeoHookean", "NeoHookean", "CompressibleNeoHookean", "StVenantKirchhoff", "MooneyRivlin", "Fung",
        "Corotated", "FixedCorotated", "ARAP", "YarnCloth", "Invertible", "plane_stress", "material",
    ),
    "Solvers": (
        "Auto", "VBD", "AVBD", "Multilevel", "Newton", "Chebyshev", "Anderson", "Nesterov", "HeavyBall", "Backtracking",
        "GradientDescent", "BlockJacobi", "NonlinearCG", "LBFGS", "LaplacianQuasiNewton", "ProjectiveDynamics", "XPBD",
        "GPBD", "VelocityTimeStepping", "SequentialPositions", "PositionBased", "Jacobi", "GaussSeidel",
        "ImprovedJacobi", "ImprovedGaussSeidel", "MinimumResidual", "ConjugateResiduals", "solve", "Stop",
        "tune_chebyshev", "save_phases", "load_phases", "compare", "compare_motion",
    ),
    "Solvers of your own": ("Solver", "MomentumSolver", "Capabilities", "Work", "SweepResult", "register_solver"),
    "Errors": (
        "PliantError", "MeshError", "MaterialError", "SceneError", "SolverError", "SimulationError", "FileError",
        "DeviceError",
    ),
}  # fmt: skip
#: Classes that scenes return and users never make themselves, by the page they are on.
RETURNED: dict[str, tuple[type, ...]] = {
    "Scenes and bodies": (Solid, Cloth, SpringNet, RigidBody, MeshObstacleBody, obstacles.Shape),
    "Materials": (SolidLaw, LameLaw),
}
WIDTH = 84  # characters of a signature that fit on a page
MODULES = {"Shapes": "shapes", "Motions": "motions"}
#: What a page begins with.
INTRODUCTIONS = {
    "Solvers": "[Choosing a solver](../choosing-a-solver.md) compares them. Every solver takes a `tolerance`: "
    "iterations of a step end where at most this part of the step's forces is left unbalanced in every body. None: "
    "all iterations are done.",
    "Motions": "Motions for `body.move(vertices, ...)`, which scene files and checkpoints can keep. `Slide.rigid(...)` "
    "and the like are the same for obstacles and rigid bodies: their `motion`. Any other function of time moves bodies "
    "too.",
}


def slug(title: str) -> str:
    """The name of a page's file."""
    return title.lower().replace(" ", "-")


def pages() -> dict[str, str]:
    """Markdown of every page by its title; names that nobody has put on a page come on one of their own."""
    found = {title: _page(title, [(name, getattr(pl, name)) for name in names]) for title, names in PAGES.items()}
    for title, module in MODULES.items():
        found[title] = _page(title, [(f"{module}.{name}", value) for name, value in _callables(getattr(pl, module))])
    if rest := unplaced():
        found["More"] = _page("More", [(name, getattr(pl, name)) for name in rest])
    return found


def unplaced() -> list[str]:
    """Public names that no page lists."""
    placed = {name for names in PAGES.values() for name in names} | set(MODULES.values())
    return [name for name in pl.__all__ if not name.startswith("_") and name not in placed]


def _callables(module: ModuleType) -> list[tuple[str, Any]]:
    """What a module offers: its own functions and classes, not what it imports from elsewhere."""
    public = [(name, value) for name, value in vars(module).items() if not name.startswith("_") and callable(value)]
    own = [(name, value) for name, value in public if value.__module__.startswith(module.__name__)]
    return [(name, value) for name, value in own if name not in INTERNAL.get(module.__name__, ())]


def _page(title: str, entries: list[tuple[str, Any]]) -> str:
    parts = [f"# {title}", INTRODUCTIONS.get(title, ""), *(_entry(f"pl.{name}", value) for name, value in entries)]
    parts += [_entry(kind.__name__, kind) for kind in RETURNED.get(title, ())]
    return "\n\n".join(part for part in parts if part) + "\n"


def _entry(name: str, value: Any) -> str:
    """One public name with its members."""
    parts = [f"## {name}", f"```python\n{_wrapped(name, _signature(value))}\n```", _text(value) + _shared(value)]
    if inspect.isclass(value):
        if rows := _fields(value):
            parts.append("| field | |\n|---|---|\n" + "\n".join(rows))
        parts += [_member(name.removeprefix("pl."), own, member) for own, member in _members(value)]
    return "\n\n".join(part for part in parts if part)


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """Methods and properties, without those of a base that has an entry of its own."""
    bases = [base for base in (Body, pl.Solver, SolidLaw, LameLaw) if kind is not base and issubclass(kind, base)]
    for own, member in inspect.getmembers(kind):
        is_code = isinstance(member, (property, cached_property)) or inspect.isroutine(member)
        inherited = any(inspect.getdoc(getattr(base, own, None)) == inspect.getdoc(member) for base in bases)
        of_solver = kind is not pl.Solver and issubclass(kind, pl.Solver) and own in dir(pl.Solver)
        called_by_others = any(own in INTERNAL.get(base.__name__, ()) for base in kind.__mro__)
        if own.startswith("_") or not is_code or inherited or of_solver or called_by_others:
            continue
        if _is_ours(member) and _text(member):
            yield own, member


def _is_ours(member: Any) -> bool:
    if isinstance(member, cached_property):
        return True
    function = member.fget if isinstance(member, property) else member
    return str(getattr(function, "__module__", None)).startswith("pliant")


def _member(owner: str, name: str, member: Any) -> str:
    called = (
        None if isinstance(member, (property, cached_property)) else _wrapped(f"{owner}.{name}", _signature(member))
    )
    parts = [f"### {owner}.{name}", called and f"```python\n{called}\n```", _text(member) + _shared(member)]
    return "\n\n".join(part for part in parts if part)


def _shared(value: Any) -> str:
    """Items for parameters that the text does not name, or of which it gives no unit."""
    names = dict.fromkeys([*undescribed(value), *units.without_own_unit(value)])
    items = [f"- **{name}**: {SHARED[name]}" for name in names if name in SHARED]
    return "\n\n" + "\n\n".join(items) if items else ""


def undescribed(value: Any) -> list[str]:
    """Parameters that are not named in what is said of a function or class."""
    if isinstance(value, property) or (inspect.isclass(value) and issubclass(value, BaseException)):
        return []
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return []
    fixed = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    names = [name for name in fixed if name not in ("self", "cls") and not name.startswith("_")]
    text = described(value)
    return [name for name in names if not re.search(rf"\b{name}\b", text)]


def _signature(value: Any) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    if inspect.isclass(value) and issubclass(value, BaseException):
        return ""
    own = [parameter.replace(annotation=_named(parameter.annotation))
           for parameter in signature.parameters.values() if parameter.name != "self"]  # fmt: skip
    shown = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(signature.replace(parameters=own)))  # annotations, not defaults
    shown = shown.replace("collections.abc.", "").replace("<factory>", "...")
    shown = re.sub(r"numpy\.ndarray\[tuple\[.*?\], numpy\.dtype\[.*?\]\]", "np.ndarray", shown)
    return re.sub(r"\bpliant(\.\w+)+\.(\w+)", r"\2", shown).replace(" -> None", "")


class _Name:
    """An annotation that is shown by a name."""

    def __init__(self, name: str):
        self._name = name

    def __repr__(self) -> str:
        return self._name


def _named(annotation: Any) -> Any:
    """ArrayLike, with or without None, by its name, where Python has written it out as a union."""
    parts = set(get_args(annotation))
    if not set(get_args(ArrayLike)) <= parts:
        return annotation
    return _Name("ArrayLike | None" if type(None) in parts else "ArrayLike")


def _wrapped(name: str, signature: str) -> str:
    """On one line if it fits on a page, else with a line per parameter."""
    if len(name + signature) <= WIDTH or not signature.startswith("("):
        return name + signature
    parts, depth = [""], 0
    for sign in signature[1:]:
        if depth == 0 and sign == ")":
            break
        depth += (sign in "([{") - (sign in ")]}")
        parts = [*parts, ""] if depth == 0 and sign == "," else [*parts[:-1], parts[-1] + sign]
    rest = signature[1 + sum(len(part) + 1 for part in parts) :]
    return f"{name}(\n" + "".join(f"    {part.strip()},\n" for part in parts) + ")" + rest


def _parameters_apart(value: Any, text: str) -> str:
    """A line for each parameter, where several share one: "span: how far [m]; pause: before it goes [s]."."""
    try:
        names = [name for name in inspect.signature(value).parameters if name != "self"]
    except (TypeError, ValueError):
        return text
    if not names:
        return text
    one = "|".join(re.escape(name) for name in names)
    begins = rf"(?:{one})(?:, (?:{one}))*: "
    return re.sub(rf"([;.])\s+(?={begins})", lambda found: f"{found[1].replace(';', '.')}\n", text)


def _text(value: Any) -> str:
    """The docstring as Markdown: a line that begins a parameter is an item, indented lines go on with the one above,
    and those after an empty line are code or a formula.
    """
    text = _parameters_apart(value, inspect.getdoc(value) or "")
    parts = []
    for part in re.split(r"\n\n+", text):
        if re.match(r" {2,}", part):
            kind = "python" if re.search(r"\bpl\.|\bsim\.", part) else "text"
            parts.append(f"```{kind}\n{dedent(part)}\n```")
        else:
            linked = re.sub(r"(?<!`)\bdocs/[\w/-]+\.md", r"`\g<0>`", part)  # the hook makes links of these
            parts.append(_paragraph(linked.replace("<", "&lt;")))
    return "\n\n".join(parts).strip()


def _paragraph(text: str) -> str:
    lines: list[str] = []
    for line in text.splitlines():
        if re.match(r"[a-z_]\w*(, [a-z_]\w*)*: ", line):
            names, _, meaning = line.partition(": ")
            lines += ["", f"- **{names}**: {meaning}"]
        else:
            lines.append(f"  {line.strip()}" if line.startswith("    ") else line)
    return "\n".join(lines).strip()


def _fields(kind: type) -> list[str]:
    """Rows of a dataclass's fields that have a comment beside them."""
    if not dataclasses.is_dataclass(kind):
        return []
    texts = {name: text for base in reversed(kind.__mro__) for name, text in comments(base).items()}
    shown = [field.name for field in dataclasses.fields(kind) if field.name in texts and field.name[0] != "_"]
    return [f"| `{name}` | {texts[name].replace('|', '&#124;')} |" for name in shown]
