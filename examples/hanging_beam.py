"""A soft beam held at one end falls, swings and is drawn.    python examples/hanging_beam.py [frames]"""

import sys

import pliant as pl
from pliant.viewer.pictures import Surface, strip

mesh = pl.shapes.beam(length=1.0, width=0.25, height=0.25, cells=(32, 8, 8))  # metres
scene = pl.Scene(gravity=(0, 0, -9.81))  # m/s^2, z is up
material = pl.StableNeoHookean.from_young(youngs_modulus=2e5, poissons_ratio=0.45)  # Pa
beam = scene.add_solid(mesh, material, density=1000.0)  # kg/m^3
beam.pin(mesh.points[:, 0] < -0.499)

sim = pl.Simulation(scene, solver=pl.VBD(iterations=20), frame_rate=60, substeps=5)
frames, times = [sim.positions], [sim.time]
count = int(sys.argv[1]) if len(sys.argv) > 1 else 60
for frame in sim.frames(count, progress=True):
    if (frame + 1) % max(1, count // 5) == 0:
        frames.append(sim.positions)
        times.append(sim.time)

print(f"after {sim.time:.2f} s the lowest point is at z = {sim.positions[:, 2].min():.3f} m")
strip(frames, times, Surface(mesh.surface_triangles), "hanging_beam.png", height=240)
