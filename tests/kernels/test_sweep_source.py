"""Generated modules: valid Python with every name defined, different for different variants, the same for the same."""

import ast
import builtins
from itertools import combinations_with_replacement, product

import pytest

from pliant.kernels.sweep_source import Variant, source
from pliant.kernels.tets_general import general_source
from pliant.kernels.tets_volumetric import volumetric_source
from pliant.materials import SOLID_LAWS
from pliant.materials.calculus import law_code

CODES = {name: law_code(law) for name, law in SOLID_LAWS.items()}
TERMS = {
    name: (volumetric_source if code.is_volumetric else general_source)(
        name, code.text, len(SOLID_LAWS[name].parameter_names()), code.has_barrier
    )
    for name, code in CODES.items()
}
CHOICES = list(product([False, True], repeat=4))  # constrained, damped, line_search, psd


def undefined_names(tree: ast.Module) -> set[str]:
    """Names that a module's functions read and nobody defines."""
    known = set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            known |= {node.name, *(a.arg for a in node.args.args)}
        elif isinstance(node, ast.ImportFrom):
            known |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            known.add(node.id)
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - known


def check_complete(variant: Variant) -> None:
    """All names are defined and the damping pass is there when needed."""
    text = source(variant)
    tree = ast.parse(text)
    assert not undefined_names(tree)
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert "sweep" in functions
    assert ("measure_damping" in functions) == variant.damped
    assert {"forces", "energies", "inverse_diagonals", "descend_jacobi", "descend_blocks"} <= functions
    assert text == source(variant)


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_every_variant_is_complete(name: str, choice: tuple[bool, ...]) -> None:
    check_complete(Variant("double", 4, (TERMS[name],), *choice))


@pytest.mark.parametrize("choice", [CHOICES[0], CHOICES[-1]], ids=["without anything", "with everything"])
@pytest.mark.parametrize("pair", list(combinations_with_replacement(TERMS, 2)), ids=" and ".join)
def test_every_pair_of_laws_is_complete(pair: tuple[str, str], choice: tuple[bool, ...]) -> None:
    """Lines of each law are numbered, whatever the choice: the fewest and the most of them show it."""
    check_complete(Variant("double", 4, tuple(TERMS[name] for name in pair), *choice))


def test_different_variants_have_different_texts() -> None:
    """So that none finds the compiled code of another."""
    variants = [
        Variant(precision, width, (term,), *choice)
        for precision, width, term, choice in product(("single", "double"), (4, 8, 16), TERMS.values(), CHOICES)
    ]
    assert len({source(variant) for variant in variants}) == len(variants)


@pytest.mark.parametrize("name", TERMS)
def test_steps_are_bounded_only_for_laws_with_a_barrier(name: str) -> None:
    """A law that is finite at J = 0 pays nothing for the bound."""
    body = source(Variant("double", 4, (TERMS[name],))).split("def solve_pack")[1]
    assert ("bound_" in body) == CODES[name].has_barrier
