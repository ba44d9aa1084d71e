"""All kinds of elements, by the type of their blocks: a new element is a file of this room and a line here."""

from __future__ import annotations

from pliant.elements.band import BAND
from pliant.elements.block import Block
from pliant.elements.bound import BOUND
from pliant.elements.curved_square import CURVED_SQUARE
from pliant.elements.dead_load import DEAD_LOAD
from pliant.elements.element import Element
from pliant.elements.fibre import FIBRE
from pliant.elements.fold_fan import FOLD_FAN
from pliant.elements.fold_pair import FOLD_PAIR
from pliant.elements.hard import HARD_DOT, HARD_LINK, HARD_ROPE
from pliant.elements.hinge import HINGE
from pliant.elements.invertible_patch import INVERTIBLE_PATCH, INVERTIBLE_PATCH_TET
from pliant.elements.joint import HARD_ATTACHMENT, JOINT_DOT, JOINT_LINK, JOINT_ROPE, ROD, STRAIN_LIMIT
from pliant.elements.joint_drive import HARD_ANGLE, HARD_SLIDE, JOINT_ANGLE, JOINT_SLIDE
from pliant.elements.joint_length import HARD_LENGTH, JOINT_LENGTH
from pliant.elements.measure_rates import measure_rates, rate_element
from pliant.elements.pair import ATTACHMENT, BENDING, DAMPER
from pliant.elements.patch import PATCH, PATCH_TET
from pliant.elements.plate_square import PLATE_SQUARE
from pliant.elements.pressure import PRESSURE
from pliant.elements.rest_height import REST_HEIGHT
from pliant.elements.rod_bend import ROD_BEND
from pliant.elements.sheet import SHEET
from pliant.elements.solids import INVERTIBLE_TET, TET
from pliant.elements.spring import SPRING
from pliant.elements.stitch import STITCH
from pliant.elements.tet_rates import TET_RATES
from pliant.elements.triangle_rates import TRIANGLE_RATES
from pliant.elements.yarn_triangle import YARN_TRIANGLE
from pliant.errors import SceneError

ELEMENTS: dict[type[Block], Element] = {}

#: The damping of elements that have a measure, by the type of their blocks.
_MEASURE_RATES: dict[type[Block], Element] = {}


def register(element: Element) -> None:
    """Let every solver know an element, and its damping if it has a measure."""
    ELEMENTS[element.block] = element
    if element.measure is not None and not element.sees_previous:
        rates = rate_element(element)
        _MEASURE_RATES[element.block] = ELEMENTS[rates.block] = rates


for _element in (
    TET,
    INVERTIBLE_TET,
    PATCH,
    PATCH_TET,
    INVERTIBLE_PATCH,
    INVERTIBLE_PATCH_TET,
    SHEET,
    FIBRE,
    HINGE,
    FOLD_PAIR,
    FOLD_FAN,
    PLATE_SQUARE,
    CURVED_SQUARE,
    REST_HEIGHT,
    SPRING,
    ROD_BEND,
    BENDING,
    ATTACHMENT,
    DAMPER,
    STITCH,
    BAND,
    JOINT_LINK,
    JOINT_ROPE,
    JOINT_DOT,
    ROD,
    STRAIN_LIMIT,
    HARD_ATTACHMENT,
    JOINT_ANGLE,
    JOINT_SLIDE,
    JOINT_LENGTH,
    HARD_ANGLE,
    HARD_SLIDE,
    HARD_LENGTH,
    HARD_LINK,
    HARD_ROPE,
    HARD_DOT,
    BOUND,
    DEAD_LOAD,
    PRESSURE,
    TET_RATES,
    TRIANGLE_RATES,
    YARN_TRIANGLE,
):
    register(_element)


def element_of(block: Block) -> Element:
    """What is known of a block's elements."""
    try:
        return ELEMENTS[type(block)]
    except KeyError:
        raise TypeError(
            f"{type(block).__name__} is not a registered kind of element: pass its Element to "
            "pliant.elements.registry.register."
        ) from None


def damping_of(block: Block, k_d: float) -> Block:
    """The damping of a block's elements by their strain rates; k_d [s]."""
    element = element_of(block)
    if element.damping is not None:
        return element.damping(block, k_d)
    rates = _MEASURE_RATES.get(element.block)
    numbers = (*element.corner_numbers_of(block), *element.numbers_of(block))
    if rates is None or any(values.ndim > 1 + (k < len(element.corner_numbers)) for k, values in enumerate(numbers)):
        raise SceneError(
            f"{element.name} have no strain measure of plain numbers whose rate could be damped: set damping to 0, or "
            'damping_form="vertex_block".'
        )
    return measure_rates(element, rates.block, block, k_d)
