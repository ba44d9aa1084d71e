"""Scenes of rigid and soft bodies by MuJoCo 4, Newton's method, its default, and implicitfast integration, or discrete
with soft bodies, for which it asks; with its defaults or with contacts as stiff as they may be in such steps: a time
constant of two steps, and an impedance of nearly one from a tenth of a millimetre on.
"""

from __future__ import annotations

import numpy as np

from benchmarks.peers.timed_steps import Outcome, timed
from benchmarks.rigid_scenes import RigidScene


def run(scene: RigidScene, h: float, steps: int, is_stiff: bool = False) -> Outcome:
    import mujoco

    model = mujoco.MjModel.from_xml_string(_text(scene, h, is_stiff))
    data = mujoco.MjData(model)

    def poses() -> tuple[np.ndarray, np.ndarray]:
        first = [model.body(f"b{k}").id for k in range(scene.count)]
        return data.xpos[first].copy(), data.xquat[first].copy()

    note = "stiff" if is_stiff else "defaults"
    name = f"mujoco {mujoco.__version__}, 1 thread, {note}"
    return timed(name, lambda: mujoco.mj_step(model, data), poses, steps, note)


def _text(scene: RigidScene, h: float, is_stiff: bool) -> str:
    """The scene in MuJoCo's format."""
    if scene.pot is not None:
        raise ValueError("MuJoCo's meshes collide as their convex hulls: a pot would be full.")
    integrator = "discrete" if scene.soft else "implicitfast"
    lines = [f'<mujoco><option timestep="{h:.8f}" integrator="{integrator}"/><size memory="1G"/>']
    stiff = f' solref="{2 * h:.6f} 1" solimp="0.99 0.999 0.0001"' if is_stiff else ""
    lines += [f'<default><geom friction="{scene.friction} 0.005 0.0001" density="{scene.density}"{stiff}/></default>']
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
