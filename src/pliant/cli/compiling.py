"""`pliant info --compile SCENE`: what a scene's first frame compiles, and how long each function takes."""

from __future__ import annotations

import time
from typing import Any

COLUMNS = "{origin:<10}{seconds:>8}{size:>9}  {name}"


def first_frame(scene: str) -> dict[str, Any]:
    """Run the first frame of a scene; the compiled functions it used, the slowest first."""
    started = time.perf_counter()
    from pliant.scenes.plans import open_plan

    simulation = open_plan(scene).simulation()
    simulation.advance()
    seconds = time.perf_counter() - started

    from pliant.lanes.entry import USES

    uses = sorted(USES, key=lambda use: -use.seconds)
    functions = [{"name": u.name, "origin": u.origin, "seconds": u.seconds, "bytes": u.size} for u in uses]
    origins = {
        origin: {
            "functions": sum(use.origin == origin for use in uses),
            "seconds": sum(use.seconds for use in uses if use.origin == origin),
        }
        for origin in ("compiled", "cache", "wheel")
    }
    return {"first_frame_seconds": seconds, **origins, "functions": functions}


def table(facts: dict[str, Any]) -> list[str]:
    lines = [COLUMNS.format(origin="found", seconds="seconds", size="kB", name="function")]
    for use in facts["functions"]:
        origin = "compiled" if use["origin"] == "compiled" else f"in {use['origin']}"
        size, seconds = f"{use['bytes'] / 1000:.0f}", f"{use['seconds']:.3f}"
        lines.append(COLUMNS.format(origin=origin, seconds=seconds, size=size, name=use["name"]))
    parts = [
        f"{facts['compiled']['functions']} functions compiled in {facts['compiled']['seconds']:.2f} s",
        *(f"{facts[o]['functions']} loaded from the {o} in {facts[o]['seconds']:.2f} s" for o in ("cache", "wheel")),
    ]
    return [*lines, "; ".join(parts) + f". First frame after {facts['first_frame_seconds']:.2f} s."]
