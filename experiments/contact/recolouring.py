"""Figure 9: what it costs that contacts do not change the colours.    python -m experiments.contact.recolouring

With the colours of the mesh alone, vertices that touch may have one colour, and then they do not see each other move.
The NumPy reference does just that, with the mesh's colours or with colours that know of the contacts.  Pliant keeps the
mesh's colours, but lets vertices of a contact that move together share what is to be taken back.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from benchmarks.contact_scenes import H, pile
from experiments.contact import scenes

import pliant as pl
from pliant.geometry import colour_vertices, vertex_graph
from pliant.solvers import Execution
from pliant.solvers.vbd_reference import vbd_sweep

WAYS = ("buffered", "recoloured", "shared")


def recolouring(steps: int = 20, sweeps: int = 12) -> dict:
    """One step in full contact, solved by the NumPy reference with the colours of the mesh alone, where vertices that
    touch may have one colour and do not see each other move, and with colours that know of the contacts.
    """
    sim = pl.Simulation(pile(2, (3, 3, 3)), pl.VBD(iterations=20), frame_rate=1 / H, substeps=1)
    for _ in range(steps):
        sim.step()
    problem = sim.problem()
    n, elements = sim.model.n_vertices, [block.elements for block in sim.model.blocks]
    v = problem.contacts.contacts.vertices
    quads = v[v[:, 3] >= 0]
    plain = colour_vertices(*vertex_graph(elements, n))
    recoloured = colour_vertices(*vertex_graph([*elements, quads], n))
    same = np.array([len(set(plain[q].tolist())) < 4 for q in quads])
    numbers = {"contacts": len(v), "between_vertices": len(quads), "with_two_of_one_colour": int(same.sum())}
    for name, colours in (("buffered", plain), ("recoloured", recoloured)):
        x, energies = problem.x_guess.copy(), []
        for _ in range(sweeps):
            x = vbd_sweep(problem, x, colours)
            energies.append(problem.energy(x))
        residual = problem.residual(x)
        numbers[name] = {"colours": int(colours.max()) + 1, "energy_above_least": energies, "residual": residual}
        numbers[f"{name}_x"] = x
    x, energies, solver = problem.x_guess.copy(), [], pl.VBD()
    work = solver.init(problem, Execution("double", 1))
    solver.begin_step(problem, work)
    for _ in range(sweeps):
        solver.sweep(problem, x, work, 1)
        problem.refresh_contacts(x)
        energies.append(problem.energy(x))
    numbers["shared"] = {"colours": numbers["buffered"]["colours"], "energy_above_least": energies}
    numbers["shared"]["residual"] = problem.residual(x)
    a, b = numbers.pop("buffered_x"), numbers.pop("recoloured_x")
    least = min(min(numbers[name]["energy_above_least"]) for name in WAYS)
    for name in WAYS:
        numbers[name]["energy_above_least"] = [energy - least for energy in numbers[name]["energy_above_least"]]
    numbers["largest_difference_over_largest_motion"] = float(np.abs(a - b).max() / np.abs(b - problem.x_prev).max())
    return numbers


def draw(numbers: dict) -> plt.Figure:
    figure, ax = plt.subplots(figsize=(5, 3), layout="constrained")
    for name in WAYS:
        ax.semilogy(numbers[name]["energy_above_least"], label=f"{name}, {numbers[name]['colours']} colours")
    ax.set(xlabel="iteration", ylabel="G above the least seen [J]")
    ax.legend()
    return figure


if __name__ == "__main__":
    numbers = recolouring()
    print(numbers)
    scenes.save("recolouring", draw(numbers), numbers)
