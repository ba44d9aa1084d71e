"""Members of public classes and modules that other parts of Pliant call; the reference leaves them out."""

from __future__ import annotations

_ELEMENTS = ("blocks", "damped_blocks", "damping_blocks", "inflated", "ingredients", "neighbours", "with_angles")

INTERNAL: dict[str, tuple[str, ...]] = {
    "Simulation": ("be_followed", "continue_from", "copy_contact_state"),
    "State": ("forget_history", "grown_history", "read_only"),
    "IncrementalPotential": (
        "blocks",
        "damping_blocks",
        "for_step",
        "inertia",
        "residual_of",
        "rigid_squares",
        "viscous_pull",
        "with_contacts_at",
    ),
    "Body": _ELEMENTS,
    "RigidBody": ("add_point",),
    "Joint": ("made_of", "mass", "reach"),
    "RigidShape": ("round_feature", "touching_surface"),
    "Shape": ("deformed", "frame", "held", "moves", "placed", "pose", "row", "sizes", "watch"),
    "WorldBox": ("block",),
    "Schedule": ("options",),
    "Motor": ("options",),
    "Invertible": ("conversion", "of_elements"),
    "SolidLaw": ("projection_weight",),
    "YarnCloth": ("table",),
    "Accelerator": ("forget", "init_inner", "iterate_inner"),
    "LBFGS": ("descend",),
    "LaplacianQuasiNewton": ("descend",),
    "Relaxation": ("begin", "iterate", "options", "pace"),
    "KeptMotion": ("name", "options"),
    "pliant.model.motions": (
        "smooth_step",
        "times_of_keys",
        "ComponentMotion",
        "KeptMotion",
        "RigidMotion",
        "rigid_motion",
        "turned",
    ),
    "Stop": ("is_met", "reason"),
}
