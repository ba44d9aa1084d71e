"""Solvers keep to their contract, and nobody asks an object whether it has something."""

import ast
import inspect
from dataclasses import fields
from pathlib import Path

import pytest

import pliant
from pliant.solvers import SOLVERS, Capabilities, Solver
from pliant.solvers.contract.capabilities import REQUIREMENTS
from pliant.solvers.machinery.accelerator import Accelerator

PACKAGE = Path(pliant.__file__).parent
ROOMS = ("solvers", "stepping.py", "simulate.py", "comparison")
CATALOGUE = sorted((PACKAGE / "solvers").glob("*.py"))

# where an attribute is asked for by name, and of what
ALLOWED = {
    ("simulate.py", "getattr(body, 'name', body)"),  # what a user passed may be no body at all
    ("solvers/machinery/vbd_terms.py", "getattr(self.block, self.element.diagonal)"),  # an element names its array
    ("solvers/machinery/vbd_terms.py", "getattr(block, name)"),  # the same, of its places
}


def asked_for(path: Path) -> set[tuple[str, str]]:
    """Calls of hasattr and getattr in a file."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    named = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in ("hasattr", "getattr")]
    return {(str(path.relative_to(PACKAGE)), ast.unparse(call)) for call in named}


def test_nothing_is_asked_of_solvers_and_work_objects_by_name() -> None:
    """Capabilities and members are declared, so that the type checker sees them."""
    paths = [path for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py")) or [PACKAGE / room]]
    assert len(paths) > 40
    assert set().union(*(asked_for(path) for path in paths)) == ALLOWED


def of_solvers(calls: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Those whose object is called a solver or its work, as solver, self.work and sim._work are."""
    objects = {call: ast.unparse(ast.parse(call, mode="eval").body.args[0]).lower() for _, call in calls}  # type: ignore[attr-defined]
    return {(path, call) for path, call in calls if "solver" in objects[call] or "work" in objects[call]}


def test_no_other_room_asks_solvers_and_work_objects_by_name() -> None:
    calls = set().union(*(asked_for(path) for path in sorted(PACKAGE.rglob("*.py"))))
    assert len(calls) > 50
    assert of_solvers(calls) == set()


def test_the_search_itself_finds_offenders() -> None:
    file = PACKAGE / "io" / "checkpoint.py"
    assert any("getattr(body" in call for _, call in asked_for(file))
    found = {("a.py", "hasattr(self._work, 'x')"), ("b.py", "getattr(sim.solver, name, None)")}
    assert of_solvers({*found, ("c.py", "getattr(body, 'work')")}) == found


@pytest.mark.parametrize("path", CATALOGUE, ids=lambda path: path.stem)
def test_the_catalogue_has_a_file_for_each_solver_and_nothing_else(path: Path) -> None:
    """A file defines one registered solver; the reference of VBD in NumPy and the catalogue itself define none."""
    own = [kind for kind in SOLVERS.values() if inspect.getsourcefile(kind) == str(path)]
    assert len(own) == (0 if path.stem in ("__init__", "vbd_reference") else 1)


@pytest.mark.parametrize("kind", SOLVERS.values(), ids=SOLVERS)
def test_registered_solvers_declare_their_capabilities(kind: type[Solver]) -> None:
    """On the class; each is a frozen dataclass whose usual options make an object."""
    assert isinstance(kind.capabilities, Capabilities)
    solver = kind(pliant.VBD()) if issubclass(kind, Accelerator) else kind()
    assert isinstance(solver, Solver)
    assert type(solver)(**solver.options()) == solver
    assert solver.with_iterations(7).iterations == 7
    with pytest.raises(AttributeError):
        solver.options = None


def test_accelerators_support_what_they_and_the_wrapped_solver_support() -> None:
    around = pliant.Anderson(pliant.VBD()).supports
    assert (around.contact, around.pressure, around.internal_state) == (True, True, False)
    assert (around.momentum, around.fixed_point) == (False, False)
    assert not pliant.Anderson(pliant.ProjectiveDynamics()).supports.contact
    assert pliant.Chebyshev(pliant.VBD()).supports.internal_state
    assert not pliant.Chebyshev(pliant.GradientDescent()).supports.internal_state
    assert not pliant.ProjectiveDynamics().supports.momentum
    assert pliant.ProjectiveDynamics(global_step="jacobi").supports.momentum


def test_every_requirement_asks_for_a_capability_of_its_own() -> None:
    """Taking one capability away refuses exactly one requirement."""
    names = [field.name for field in fields(Capabilities) if field.name != "goal"]
    everything = dict.fromkeys(names, True)
    refused = []
    for name in names:
        capabilities = Capabilities("minimise", **{**everything, name: False})
        refused += [name for required in REQUIREMENTS if not required.is_supported(capabilities)]
    known = ["contact", "guarantee", "internal_state", "particles", "pressure", "rigid_bodies"]
    assert sorted(refused) == [*known, "spins", "strain_rate_damping", "tearing", "vertex_block_damping"]
