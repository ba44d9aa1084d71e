"""Edges and triangles that pierce each other at the end of the contact suite's scenes, without the guarantee.

    python -m experiments.contact.piercing [scene ...] [starts=10]

Scenes are those of tests/contact/test_suite.py, all settings default, each from starts that differ by 0.1 mm at most.
Rows go to results/piercing.json as they are found; scenes in it that are not named stay.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import sys
from pathlib import Path

import numpy as np

import pliant as pl

RESULTS = Path(__file__).parent / "results" / "piercing.json"
SUITE = Path(__file__).parents[2] / "tests" / "contact" / "test_suite.py"


def suite() -> dict[str, tuple]:
    """Functions that make a scene, and numbers of steps, by name."""
    spec = importlib.util.spec_from_file_location("contact_suite", SUITE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {make.__name__: (make, steps) for make, steps in module.SUITE}


def run(make, steps: int, seed: int) -> tuple[int, int]:
    """Piercing pairs and contacts at the end of a run."""
    sim = pl.Simulation(make(np.random.default_rng(seed)))
    for _ in range(steps):
        sim.step()
    return len(sim.intersections().crossing), sim.n_contacts


def report(names: list[str], starts: int) -> None:
    scenes, rows = suite(), json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    print("| scene | starts | most piercing pairs | contacts, mean | most per contact | starts above 1 % |")
    print("|---|---|---|---|---|---|")
    for name in names or list(scenes):
        found = [run(*scenes[name], seed) for seed in range(starts)]
        rows[name] = {"pairs": [pairs for pairs, _ in found], "contacts": [contacts for _, contacts in found]}
        RESULTS.write_text(json.dumps(rows, indent=1) + "\n")
        shares = np.array([pairs / max(contacts, 1) for pairs, contacts in found])
        most, mean = max(rows[name]["pairs"]), np.mean(rows[name]["contacts"])
        print(
            f"| {name.replace('_', ' ')} | {starts} | {most} | {mean:.0f} | {100 * shares.max():.2f} % | "
            f"{int((shares > 0.01).sum())} |",
            flush=True,
        )


if __name__ == "__main__":
    logging.getLogger("pliant").setLevel("ERROR")
    given = dict(word.split("=") for word in sys.argv[1:] if "=" in word)
    report([word for word in sys.argv[1:] if "=" not in word], int(given.get("starts", 10)))
