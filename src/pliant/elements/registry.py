"""All kinds of elements, by the type of their blocks: a new element is a file of this room and a line here."""

from __future__ import annotations

from pliant.elements.block import Block
from pliant.elements.bound import BOUND
from pliant.elements.dead_load import DEAD_LOAD
from pliant.elements.element import Element
from pliant.elements.fibre import FIBRE
from pliant.elements.hinge import HINGE
from pliant.elements.pair import ATTACHMENT, BENDING, DAMPER
from pliant.elements.pressure import PRESSURE
from pliant.elements.rod_bend import ROD_BEND
from pliant.elements.sheet import SHEET
from pliant.elements.solids import INVERTIBLE_TET, TET
from pliant.elements.spring import SPRING

ELEMENTS: dict[type[Block], Element] = {
    element.block: element
    for element in (
        TET,
        INVERTIBLE_TET,
        SHEET,
        FIBRE,
        HINGE,
        SPRING,
        ROD_BEND,
        BENDING,
        ATTACHMENT,
        DAMPER,
        BOUND,
        DEAD_LOAD,
        PRESSURE,
    )
}


def register(element: Element) -> None:
    """Let every solver know an element that is defined outside of Pliant."""
    ELEMENTS[element.block] = element


def element_of(block: Block) -> Element:
    """What is known of a block's elements."""
    try:
        return ELEMENTS[type(block)]
    except KeyError:
        raise TypeError(
            f"{type(block).__name__} is not a registered kind of element: pass its Element to "
            "pliant.elements.registry.register."
        ) from None
