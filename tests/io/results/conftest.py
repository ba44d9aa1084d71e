"""A short run of two bodies, recorded in every format at once."""

from types import SimpleNamespace

import numpy as np
import pytest

import pliant as pl

FRAMES = 4


@pytest.fixture(scope="session")
def two_bodies():
    """A function: a simulation of a beam of one law above a ball of another, both falling and turning."""

    def make() -> pl.Simulation:
        scene = pl.Scene()
        # the law of the first body comes back in the third: the model groups tets by law, results by body
        meshes = [pl.shapes.box((0.3, 0.1, 0.1), (3, 1, 1)), pl.shapes.ball(0.1, 2), pl.shapes.box((0.1, 0.1, 0.1), 1)]
        laws = [pl.StableNeoHookean, pl.NeoHookean, pl.StableNeoHookean]
        for k, (mesh, law) in enumerate(zip(meshes, laws, strict=True)):
            body = scene.add_solid(
                mesh.transformed(translation=(0, 0, 0.3 * k)), law.from_young(1e5, 0.3), name=f"part {k}"
            )
            stretched = body.mesh.points * [1.1 + 0.1 * k, 1, 1]
            body.set_positions(stretched)
            body.set_velocities(np.cross([0, 0, 2.0 + k], stretched))
        return pl.Simulation(scene, pl.VBD(iterations=5), frame_rate=50, substeps=2, precision="double")

    return make


@pytest.fixture(scope="session")
def run(two_bodies, tmp_path_factory):
    """Folder, times, positions, velocities and surface vertices of a run that was recorded in every format."""
    folder = tmp_path_factory.mktemp("run")
    sim = two_bodies()
    endings = ["npz", "pvd", "ply", "obj", "usdc", "usda", "glb"]
    recorders = [sim.record(folder / f"run.{ending}") for ending in endings]
    recorders += [sim.record(folder / f"whole.{ending}", volume=True) for ending in ("npz", "pvd")]
    times, positions, velocities = [sim.time], [sim.positions], [sim.velocities]
    for _ in sim.frames(FRAMES):
        times.append(sim.time)
        positions.append(sim.positions)
        velocities.append(sim.velocities)
    for recorder in recorders:
        recorder.close()
    surface = [body.mesh.surface_vertices for body in sim.scene.bodies]
    kept = np.concatenate([own + first for own, first in zip(surface, sim.model.body_start[:-1], strict=True)])
    return SimpleNamespace(
        folder=folder, sim=sim, times=times, positions=positions, velocities=velocities, kept=kept, surface=surface
    )
