"""Scenes of rigid and soft bodies by rapier3d 0.36.1, with its defaults or with contacts as stiff as helps: `STIFF`.
Bodies never sleep.

Its contacts are springs, by default of 30 Hz (60 Hz with what stands still). At ten times that and with four inner
iterations heaps of cubes are 5 mm deep in place of 25; stiffer ones, 16 iterations or smaller steps do no better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.peers.timed_steps import Outcome, timed
from benchmarks.rigid_scenes import RigidScene
from pliant.geometry.surface import boundary_triangles

STIFF = {"hertz": 300.0, "damping_ratio": 10.0, "inner_iterations": 4, "allowed_error": 1e-4}


def run(scene: RigidScene, h: float, steps: int, threads: int, is_stiff: bool = False) -> Outcome:
    import rapier3d as r

    world = r.PhysicsWorld(gravity=(0.0, 0.0, -9.81))
    world.integration_parameters.dt = h
    world.set_num_threads(threads)
    if is_stiff:
        _stiffen(r, world.integration_parameters)
    _add_surroundings(r, world, scene)
    handles = [_add_body(r, world, scene, k) for k in range(scene.count)]
    for points, tets in scene.soft:
        world.add_soft_body(_soft(r, scene, points, tets))

    def poses() -> tuple[np.ndarray, np.ndarray]:
        bodies = [world.rigid_bodies[handle] for handle in handles]
        places = [(b.translation.x, b.translation.y, b.translation.z) for b in bodies]
        turns = [(b.rotation.w, b.rotation.i, b.rotation.j, b.rotation.k) for b in bodies]
        return np.array(places), np.array(turns)

    note = f"stiff: {STIFF}" if is_stiff else "defaults"
    return timed(f"rapier3d 0.36.1, {threads} threads, {note.split(':')[0]}", world.step, poses, steps, note)


def _stiffen(r: Any, parameters: Any) -> None:
    parameters.contact_softness = r.SpringCoefficients(STIFF["hertz"], STIFF["damping_ratio"])
    parameters.static_contact_softness = r.SpringCoefficients(2 * STIFF["hertz"], STIFF["damping_ratio"])
    parameters.num_internal_pgs_iterations = int(STIFF["inner_iterations"])
    parameters.normalized_allowed_linear_error = STIFF["allowed_error"]


def _add_surroundings(r: Any, world: Any, scene: RigidScene) -> None:
    boxes = [((0, 0, -0.5), (50.0, 50.0, 0.5))]
    if scene.walls is not None:
        a, b = (0.5 * side for side in scene.walls)
        boxes += [((s * (a + 0.5), 0, 50), (0.5, b + 1, 50)) for s in (-1, 1)]
        boxes += [((0, s * (b + 0.5), 50), (a + 1, 0.5, 50)) for s in (-1, 1)]
    for place, half in boxes:
        world.add_collider(r.Collider.cuboid(*half).translation(place).friction(scene.friction))
    if scene.pot is not None:
        points, triangles = scene.pot
        world.add_collider(r.Collider.trimesh(points, triangles.astype(np.uint32)).friction(scene.friction))


def _add_body(r: Any, world: Any, scene: RigidScene, k: int) -> Any:
    if scene.sizes is not None:
        shape = r.Collider.cuboid(*(0.5 * scene.sizes[k]).tolist())
    else:
        shape = r.Collider.convex_hull(scene.own_corners()[k])
    turn = tuple(Rotation.from_quat(scene.turns[k], scalar_first=True).as_rotvec().tolist())
    body = r.RigidBody.dynamic(translation=tuple(scene.positions[k].tolist()), rotation=turn).can_sleep(False)
    made = world.add_body(body, colliders=[shape.density(scene.density).friction(scene.friction)])
    return made[0] if isinstance(made, tuple) else made


def _soft(r: Any, scene: RigidScene, points: np.ndarray, tets: np.ndarray) -> Any:
    """A body of the same tets; `SoftBody.volumetric` would fill a surface with cells of its own."""
    material = r.SoftBodyMaterial(young_modulus=scene.youngs_modulus, poisson_ratio=scene.poissons_ratio)
    volume = np.linalg.det(points[tets[:, 1:]] - points[tets[:, :1]]).sum() / 6
    surface = boundary_triangles(tets, len(points)).astype(np.uint32)
    builder = r.SoftBodyBuilder(points).cells(tets.astype(np.uint32)).surface(surface)
    builder = builder.material(material).mass(scene.density * volume)
    return builder.cell_model(r.SoftBodyCellModel.NEO_HOOKEAN).solver(r.SoftBodySolver.FEM).can_sleep(False)
