"""A balloon is blown up and dances in gusts, tied to a block on the floor.    python examples/balloon.py [frames]"""

import sys

import numpy as np

import pliant as pl
from pliant.viewer.pictures import Surface, merge, strip

scene = pl.Scene(gravity=(0, 0, -9.81))
scene.world_box = pl.WorldBox(lower=(-2, -2, 0), upper=(2, 2, 4), stiffness=2e3)  # N/m a vertex
scene.wind = pl.Wind(velocity=lambda t: (0.8 + 0.6 * np.sin(5 * t), 0, 0), drag=1.0)  # m/s

box = pl.shapes.box((0.3, 0.3, 0.2), (3, 3, 2)).transformed(translation=(0, 0, 0.1))
block = scene.add_solid(box, pl.StableNeoHookean.from_young(2e5, 0.4), density=300.0)

skin = pl.shapes.ball(radius=0.25, cells=6).surface().transformed(translation=(0, 0, 0.7))
balloon = scene.add_cloth(skin, pl.StVenantKirchhoff(mu=150.0, lam=150.0), density=0.05)  # N/m, kg/m^2
balloon.gravity = (0, 0, 8)  # lighter than air
balloon.pressure = lambda t: 250.0 * min(t / 0.3, 1.0)  # Pa

top, bottom = np.argmax(box.points[:, 2] - np.hypot(*box.points[:, :2].T)), np.argmin(skin.points[:, 2])
scene.attach(block, [top], balloon, [bottom], stiffness=1.0)  # a rubber band

sim = pl.Simulation(scene, pl.VBD(iterations=20), frame_rate=60, substeps=5)
frames, times = [sim.positions], [sim.time]
count = int(sys.argv[1]) if len(sys.argv) > 1 else 150
for frame in sim.frames(count, progress=True):
    if (frame + 1) % max(1, count // 5) == 0:
        frames.append(sim.positions)
        times.append(sim.time)

volume = -sim.energies()["pressure"] / balloon.pressure(sim.time)
print(f"after {sim.time:.2f} s the balloon holds {1000 * volume:.1f} litres")
surfaces = [Surface(block.surface, (0.6, 0.4, 0.3)), Surface(balloon.surface, (0.8, 0.2, 0.2))]
strip(frames, times, merge(surfaces, [0, block.n_vertices]), "balloon.png", height=300)
