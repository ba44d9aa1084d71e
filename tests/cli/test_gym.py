"""The Gymnasium environment of the examples: its checker, what it lifts, and episodes that repeat."""

import gc
import importlib.util
import resource
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gymnasium")

EXAMPLE = Path(__file__).parents[2] / "examples" / "gym_gripper.py"


@pytest.fixture(scope="module")
def gripper():
    spec = importlib.util.spec_from_file_location("gym_gripper", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_checker_of_gymnasium_passes(gripper):
    from gymnasium.utils.env_checker import check_env

    check_env(gripper.SoftGripper(), skip_render_check=True)


def test_the_ball_is_lifted_with_the_fingers(gripper):
    """Friction carries its weight: it rises as far as the fingers do, and each presses with m g / (2 mu) at least."""
    env = gripper.SoftGripper()
    rewards, seen = gripper.lift(env)
    rise = 0.3 * gripper.SPEED * 80 / 60  # of the fingers
    assert rewards[-1] - rewards[39] == pytest.approx(rise, rel=0.05)
    weight = 9.81 * env._sim.model.mass.sum()
    assert min(abs(seen[8]), abs(seen[9])) > weight / (2 * 0.8)
    left, right = (finger.contact_force for finger in env._fingers)
    assert left[2] + right[2] == pytest.approx(-weight, rel=0.1), "they carry it"


@pytest.mark.slow
def test_episodes_repeat_bit_for_bit(gripper):
    env = gripper.SoftGripper()
    first, seen = gripper.lift(env)
    again, seen_again = gripper.lift(env)
    assert first == again
    assert np.array_equal(seen, seen_again)
    fresh, _ = gripper.lift(gripper.SoftGripper())
    assert fresh == first


@pytest.mark.slow
def test_a_thousand_episodes_keep_no_memory_and_repeat(gripper):
    """Short ones, in which the fingers close on the ball and let it go."""
    env = gripper.SoftGripper()
    actions = np.array([(1.0, 0.0), (1.0, 0.0), (-1.0, 0.5)], np.float32)

    def episode():
        env.reset()
        return [env.step(action)[0] for action in actions]

    first = episode()
    for _ in range(49):
        episode()
    gc.collect()
    objects, resident = len(gc.get_objects()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(950):
        last = episode()
    gc.collect()
    assert np.array_equal(first, last)
    assert max(abs(seen[8]) for seen in first) > 0.1, "the fingers press [N]"
    assert len(gc.get_objects()) - objects < 100
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident < 10_000  # kB, of 950 episodes
