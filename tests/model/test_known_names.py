"""A setting with a name that nobody reads is refused, with the names it may have meant."""

import copy
import pickle

import pytest

import pliant as pl


@pytest.fixture
def scene() -> pl.Scene:
    scene = pl.Scene()
    scene.add_particles([(0, 0, 1)], name="peas")
    scene.add_solid(pl.shapes.box(cells=1), pl.StableNeoHookean.from_young(1e5, 0.4), name="cube")
    scene.add_rigid(pl.Sphere(0.1), position=(3, 0, 0), name="ball")
    return scene


@pytest.mark.parametrize("body", [0, 1])
def test_a_velocity_that_nobody_reads_is_refused(scene: pl.Scene, body: int) -> None:
    with pytest.raises(pl.SceneError, match=r"'velocity' cannot be set.*set_velocities\(\)"):
        scene.bodies[body].velocity = (1, 0, 0)


def test_misspelt_settings_are_refused_with_the_right_name(scene: pl.Scene) -> None:
    with pytest.raises(pl.SceneError, match=r"cube: 'frictoin' cannot be set.*friction"):
        scene.bodies[1].frictoin = 0.5
    with pytest.raises(pl.SceneError, match=r"Scene: 'gravitiy' cannot be set.*gravity"):
        scene.gravitiy = (0, 0, -1)


def test_what_can_be_read_only_names_the_method_that_sets_it(scene: pl.Scene) -> None:
    with pytest.raises(pl.SceneError, match=r"cube: 'positions' can be read only: use set_positions\(\)"):
        scene.bodies[1].positions = scene.bodies[1].positions
    with pytest.raises(pl.SceneError, match="ball: 'position' can be read only"):
        scene.bodies[2].position = (0, 0, 0)


def test_settings_that_exist_are_taken_also_of_copies(scene: pl.Scene) -> None:
    for copied in (scene, copy.deepcopy(scene), pickle.loads(pickle.dumps(scene))):
        copied.bodies[1].friction, copied.gravity = 0.25, (0, 0, -1.5)
        assert (copied.bodies[1].friction, copied.gravity[2]) == (0.25, -1.5)
        with pytest.raises(pl.SceneError, match="cannot be set"):
            copied.bodies[1].colur = "red"


@pytest.mark.parametrize("name", ["velocity", "angular_velocity"])
def test_the_velocity_of_a_free_rigid_body_names_where_to_give_it(scene: pl.Scene, name: str) -> None:
    with pytest.raises(pl.SceneError, match=rf"ball: '{name}' can be read only: give it to scene.add_rigid"):
        setattr(scene.bodies[2], name, (1, 0, 0))


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("substeps", "fixed when it is built: build another simulation"),
        ("h", "fixed when it is built"),
        ("gravity", r"nothing has this name: did you mean set_gravity\(\)"),
        ("positions", "can be read only"),
        ("time", "can be read only"),
    ],
)
def test_settings_of_a_simulation_cannot_be_assigned(scene: pl.Scene, name: str, remedy: str) -> None:
    sim = pl.Simulation(scene)
    with pytest.raises(pl.SceneError, match=f"Simulation: '{name}' .*{remedy}"):
        setattr(sim, name, 1.0)


def test_an_unknown_setting_of_a_simulation_names_those_there_are(scene: pl.Scene) -> None:
    with pytest.raises(TypeError, match=r"Simulation\(\) got .*'dt'.*frame_rate, substeps.*1 / \(frame_rate \*"):
        pl.Simulation(scene, dt=0.01)


class OwnScene(pl.Scene):
    def __init__(self) -> None:
        super().__init__()
        self.label = "own"


class OwnSimulation(pl.Simulation):
    def __init__(self, scene: pl.Scene) -> None:
        super().__init__(scene)
        self.label = "own"


def test_subclasses_have_names_of_their_own(scene: pl.Scene) -> None:
    assert OwnScene().label == OwnSimulation(scene).label == "own"
