"""`pliant run SCENE --device opencl` over the gallery: the CPU's motion, or one sentence that names what is missing."""

import numpy as np
import pytest

import pliant as pl
from pliant.scenes.gallery import entries
from pliant.scenes.plans import open_plan

#: What the error of a scene names that has no form on a device.
REFUSED = {
    "avalanche": "particles with spin=True do not run",
    "card-house": "rigid bodies do not run",
    "chain": "rigid bodies do not run",
    "dominoes": "rigid bodies do not run",
    "grains-and-ball": "particles do not run",
    "grains-on-cloth": "particles with spin=True do not run",
    "gripper": "rigid bodies do not run",
    "hourglass": "triangles .* do not run",
    "ragdoll": "AVBD does not run",
    "skirt": "Multilevel does not run",
    "teapot": "rigid bodies do not run",
    "trampoline": "rigid bodies do not run",
    "wrecking-ball": "rigid bodies do not run",
}


@pytest.mark.slow
@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_every_scene_runs_or_is_refused_by_name(entry) -> None:
    """Three steps of ten iterations agree with the CPU's to 1e-4 of the way, or rounding of positions."""
    plan = open_plan(entry.name, device="opencl")
    if entry.name in REFUSED:
        with pytest.raises(pl.DeviceError, match=REFUSED[entry.name]):
            plan.simulation()
        return
    sim = plan.simulation()
    sim.step()
    ends = []
    solver = sim.solver.with_iterations(10)
    options = {"frame_rate": sim.frame_rate, "substeps": sim.substeps, "integrator": sim.integrator}
    for device in ("cpu", "opencl"):
        run = pl.Simulation(plan.scene(), solver, precision="single", device=device, **options)
        for _ in range(3):
            run.step()
        ends.append(run.positions)
    way, size = np.abs(ends[0] - run.model.positions).max(), np.abs(ends[0]).max()
    assert np.abs(ends[1] - ends[0]).max() < 1e-4 * way + 1e-6 * size
