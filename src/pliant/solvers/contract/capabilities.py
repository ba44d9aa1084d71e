"""What a solver does with a step, and which scenes it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pliant.errors import DeviceError, SolverError
from pliant.model import Model, Pressures

if TYPE_CHECKING:
    from pliant.solvers.contract.solver import Solver

Goal = Literal["minimise", "satisfy"]


@dataclass(frozen=True)
class Capabilities:
    """Declared once, on the class of a solver. What is not declared is refused before any work, with a sentence.

    goal: "minimise": iterations end at a minimum of the step's potential G. "satisfy": they end where constraints hold,
        up to their compliance, which need not be a minimum of G. Nothing outside a solver assumes that G falls.
    """

    goal: Goal
    contact: bool = False  # with obstacles and bodies, with friction
    pressure: bool = False  # closed surfaces under pressure
    internal_state: bool = False  # elements with a history, as those of pl.Invertible
    hard_constraints: bool = False  # held by multipliers, without compliance
    rigid_bodies: bool = False  # blocks of six unknowns
    particles: bool = False  # spheres that touch each other
    spins: bool = False  # that turn
    guarantee: bool = True  # its steps may be cut where nothing proves that they are free of contact
    own_contacts: bool = False  # it detects contacts itself, in `begin_step`
    strain_rate_damping: bool = True  # damping of elements' strain rates, the usual form
    vertex_block_damping: bool = True  # damping of every vertex by its own block, as of the VBD paper
    tearing: bool = True  # topology that changes: by update_topology, or by a new work object
    quadratic_bending: bool = True  # else sheets bend by angles, unless their bending_model is given
    momentum: bool = False  # sweep takes factors of momentum, as Chebyshev gives them
    fixed_point: bool = False  # an iteration depends on positions alone, so that Anderson and others may wrap it
    local: bool = True  # iterations carry a change from neighbour to neighbour, so that errors of whole bodies are slow
    device: bool = False  # its sweeps run on an OpenCL device too
    any_guess: bool = False  # starts from flat and inverted elements too, even of a law with a barrier

    @property
    def minimises(self) -> bool:
        """Whether iterations end at a minimum of G."""
        return self.goal == "minimise"

    def around(self, inner: Capabilities) -> Capabilities:
        """What an accelerator that could pass on all of these supports around a solver that supports `inner`."""
        both = {name: value and vars(inner)[name] for name, value in vars(self).items() if name != "goal"}
        return Capabilities(inner.goal, **both)


class Requirement(NamedTuple):
    """Something a model may have that not every solver supports."""

    words: str
    is_in: Callable[[Model], bool]
    is_supported: Callable[[Capabilities], bool]
    remedy: str = "VBD or Newton"  # solvers that support it


def _has_pressure(model: Model) -> bool:
    return any(isinstance(block, Pressures) for block in model.blocks)


def _has_strain_rates(model: Model) -> bool:
    return bool((model.damping > model.vertex_damping).any())


def _has_vertex_blocks(model: Model) -> bool:
    return bool(model.vertex_damping.any())


REQUIREMENTS = (
    Requirement("contact", lambda model: model.contact is not None, lambda can: can.contact),
    Requirement(
        "Contact(guarantee=True)",
        lambda model: model.contact is not None and model.contact.settings.guarantee,
        lambda can: can.guarantee,
        "Auto, VBD or Newton",
    ),
    Requirement("pressure", _has_pressure, lambda can: can.pressure),
    Requirement("pl.Invertible materials", lambda model: model.internal_state.size > 0, lambda can: can.internal_state),
    Requirement("rigid bodies", lambda model: model.carried is not None, lambda can: can.rigid_bodies),
    Requirement(
        "particles",
        lambda model: model.particles is not None,
        lambda can: can.particles,
        "Auto, VBD, AVBD, Newton, GPBD or VelocityTimeStepping",
    ),
    Requirement(
        "particles with spin=True",
        lambda model: model.particles is not None and model.particles.has_spin,
        lambda can: can.spins,
        "VelocityTimeStepping, or scene.add_rigid(pl.Sphere(...))",
    ),
    Requirement("damping", _has_strain_rates, lambda can: can.strain_rate_damping),
    Requirement('damping_form="vertex_block"', _has_vertex_blocks, lambda can: can.vertex_block_damping),
    Requirement("tearing", lambda model: model.topology is not None, lambda can: can.tearing),
)


def unsupported_feature(solver: Solver[Any], model: Model) -> str | None:
    """What of a model a solver, or what it wraps, does not support, in words; None if it takes the whole."""
    layer: Solver[Any] | None = solver
    while layer is not None:
        for required in REQUIREMENTS:
            if required.is_in(model) and not required.is_supported(layer.capabilities):
                return required.words
        layer = layer.wrapped
    return None


def check_supports(solver: Solver[Any], model: Model) -> None:
    """Refuse a scene that the solver, or an accelerator around it, does not support."""
    layer: Solver[Any] | None = solver
    while layer is not None:
        for required in REQUIREMENTS:
            if required.is_in(model) and not required.is_supported(layer.capabilities):
                raise SolverError(
                    f"{type(layer).__name__} does not support {required.words}: use {required.remedy}, or build the "
                    "scene without it."
                )
        layer = layer.wrapped


def check_device(solver: Solver[Any]) -> None:
    """Refuse a device for a solver, or an accelerator around it, that does not run on one."""
    layer: Solver[Any] | None = solver
    while layer is not None:
        if not layer.capabilities.device:
            raise DeviceError(
                f"{type(layer).__name__} does not run on an OpenCL device: use pl.VBD(...), pl.GradientDescent(...), "
                'pl.Chebyshev(...) around one of them, or pl.GPBD(mode="jacobi"), or device="cpu".'
            )
        layer = layer.wrapped
