"""Two fingers lift a soft ball: a Gymnasium environment on one simulation that is reset in place.

    pip install "pliant[gym]"
    python examples/gym_gripper.py

An action is the velocity of the fingers: how fast they close and how fast they rise, each from -1 to 1. A step of the
environment is one frame. The reward is the height of the ball's centre [m]: lifting it, and not losing it, pays.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

import pliant as pl

RADIUS = 0.05  # [m] of the ball
FINGER = (0.02, 0.06, 0.06)  # [m]
SPEED = 0.3  # [m/s] of a finger at most
FRAMES = 120  # of an episode


class SoftGripper(gym.Env[np.ndarray, np.ndarray]):
    """Observation (10,): centre and velocity of the ball, half the width between the fingers and their height [m, m/s],
    and the force of the ball on each finger along x [N].
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 60}  # noqa: RUF012  as Gymnasium has it

    def __init__(self, render_mode: str | None = None):
        self.render_mode = render_mode
        self.action_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (10,), np.float64)
        scene = pl.Scene(contact=pl.Contact(stiffness=2e4, friction=0.8))
        mesh = pl.shapes.ball(RADIUS, cells=2)
        self._ball = scene.add_solid(mesh, pl.StableNeoHookean.from_young(5e4, 0.4), density=500.0, name="ball")
        self._ball.set_positions(mesh.points + np.array([0.0, 0.0, RADIUS]))
        self._ball.friction = 0.8
        scene.add_plane(friction=0.5)
        width = RADIUS + FINGER[0]
        self._fingers = [scene.add_box((side * width, 0.0, RADIUS), FINGER, friction=0.8) for side in (-1, 1)]
        self._sim = pl.Simulation(scene, pl.VBD(iterations=15), frame_rate=60, substeps=4, threads=1)
        self._frames = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        """To the start, in place: nothing is built or compiled again."""
        super().reset(seed=seed)
        self._sim.reset()
        self._frames = 0
        return self._observation(), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        """One frame with the fingers at the velocity of the action."""
        close, rise = SPEED * np.clip(np.asarray(action, float), -1.0, 1.0)
        for side, finger in zip((-1, 1), self._fingers, strict=True):
            finger.set_velocity((-side * close, 0.0, rise))
        self._sim.advance()
        self._frames += 1
        seen = self._observation()
        return seen, float(seen[2]), False, self._frames >= FRAMES, {}

    def render(self) -> np.ndarray | None:
        """A picture (needs the extra `render`)."""
        return np.asarray(self._sim.plot(height=240)) if self.render_mode == "rgb_array" else None

    def _observation(self) -> np.ndarray:
        mass = self._sim.model.mass / self._sim.model.mass.sum()
        left, right = (finger.position for finger in self._fingers)
        width = np.array([0.5 * (right[0] - left[0]), right[2]])
        forces = [finger.contact_force[0] for finger in self._fingers]
        return np.concatenate([mass @ self._sim.x, mass @ self._sim.v, width, forces])


def lift(env: SoftGripper) -> tuple[list[float], np.ndarray]:
    """Close, hold and rise; the rewards and the last observation."""
    seen, _ = env.reset()
    rewards = []
    for frame in range(FRAMES):
        action = (0.1, 0.0) if frame < 40 else (0.0, 0.3)
        seen, reward, _, _, _ = env.step(np.array(action, np.float32))
        rewards.append(reward)
    return rewards, seen


if __name__ == "__main__":
    heights, last = lift(SoftGripper())
    print(f"The ball's centre rose from {heights[0]:.3f} m to {heights[-1]:.3f} m; "
          f"the fingers press with {abs(last[8]):.2f} N and {abs(last[9]):.2f} N.")  # fmt: skip
