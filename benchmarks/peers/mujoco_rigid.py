"""Scenes of rigid and soft bodies by MuJoCo 4, Newton's method, its default, and implicitfast integration, or discrete
with soft bodies, for which it asks.
"""

from __future__ import annotations

import numpy as np

from benchmarks.peers.timed_steps import Outcome, timed
from benchmarks.rigid_scenes import RigidScene


def run(scene: RigidScene, h: float, steps: int) -> Outcome:
    import mujoco

    model = mujoco.MjModel.from_xml_string(_text(scene, h))
    data = mujoco.MjData(model)

    def poses() -> tuple[np.ndarray, np.ndarray]:
        first = [model.body(f"b{k}").id for k in range(scene.count)]
        return data.xpos[first].copy(), data.xquat[first].copy()

    return timed(
        f"mujoco {mujoco.__version__}, 1 thread", lambda: mujoco.mj_step(model, data), poses, steps, "defaults"
    )


def _text(scene: RigidScene, h: float) -> str:
    """The scene in MuJoCo's format."""
    if scene.pot is not None:
        raise ValueError("MuJoCo's meshes collide as their convex hulls: a pot would be full.")
    integrator = "discrete" if scene.soft else "implicitfast"
    lines = [f'<mujoco><option timestep="{h:.8f}" integrator="{integrator}"/><size memory="1G"/>']
    lines += [f'<default><geom friction="{scene.friction} 0.005 0.0001" density="{scene.density}"/></default>']
    lines += ['<worldbody><geom type="plane" size="50 50 1"/>']
    if scene.walls is not None:
        a, b = (0.5 * side for side in scene.walls)
        for s in (-1, 1):
            lines.append(f'<geom type="box" pos="{s * (a + 0.5)} 0 50" size="0.5 {b + 1} 50"/>')
            lines.append(f'<geom type="box" pos="0 {s * (b + 0.5)} 50" size="{a + 1} 0.5 50"/>')
    for k in range(scene.count):
        place, turn = _words(scene.positions[k]), _words(scene.turns[k])
        shape = f'type="box" size="{_words(0.5 * scene.sizes[k])}"'  # type: ignore[index]
        lines.append(f'<body name="b{k}" pos="{place}" quat="{turn}"><freejoint/><geom {shape}/></body>')
    for k, (points, tets) in enumerate(scene.soft):
        volume = np.linalg.det(points[tets[:, 1:]] - points[tets[:, :1]]).sum() / 6
        lines.append(
            f'<flexcomp name="s{k}" type="direct" dim="3" mass="{scene.density * volume}" radius="0.001" '
            f'point="{_words(points.ravel())}" element="{" ".join(map(str, tets.ravel()))}">'
            f'<elasticity young="{scene.youngs_modulus}" poisson="{scene.poissons_ratio}" damping="0.001"/>'
            f'<contact selfcollide="none" friction="{scene.friction}"/></flexcomp>'
        )
    return "\n".join([*lines, "</worldbody></mujoco>"])


def _words(numbers: np.ndarray) -> str:
    return " ".join(f"{number:.9g}" for number in numbers)
