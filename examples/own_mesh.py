"""Hang a mesh of your own by its highest points and let it fall.

python examples/own_mesh.py MESH [frames]     MESH: tetrahedra, in any format meshio reads (vtu, msh, mesh, ...)
"""

import sys

import pliant as pl
from pliant.viewer.pictures import Surface, strip

if len(sys.argv) < 2:
    sys.exit(__doc__)
mesh = pl.load_mesh(sys.argv[1])
if isinstance(mesh, pl.TriMesh):
    mesh = mesh.tetrahedralize()  # needs: pip install "pliant[mesh]"
low, high = mesh.bounds
print(f"{mesh}, {high - low} m")

scene = pl.Scene()
body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.45), density=1000.0)
z = mesh.points[:, 2]
body.pin(z > high[2] - 0.05 * (high[2] - low[2]))

sim = pl.Simulation(scene)
frames, times = [sim.positions], [sim.time]
count = int(sys.argv[2]) if len(sys.argv) > 2 else 60
for frame in sim.frames(count, progress=True):
    if (frame + 1) % max(1, count // 4) == 0:
        frames.append(sim.positions)
        times.append(sim.time)

strip(frames, times, Surface(mesh.surface_triangles), "own_mesh.png")
pl.save_mesh("own_mesh.vtu", mesh, sim.positions)
print("written: own_mesh.png, own_mesh.vtu")
