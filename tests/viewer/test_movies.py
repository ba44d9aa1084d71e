"""Movies and pictures of results, read back by other programs; colours mean what the legend says."""

import sys

import numpy as np
import pytest

import pliant as pl
from pliant.io.results import open_result
from pliant.io.results.result import Frame, Layout, Result
from pliant.viewer.fields import SCALE, ColourScale, on_points
from pliant.viewer.movies import render
from pliant.viewer.stage import Stage, View

image = pytest.importorskip("PIL.Image")


class Moving(Result):
    """A ball that moves by 1 m along x in 4 frames; a field that grows along z and with time."""

    def __init__(self, ball, colour=(1.0, 0.0, 0.0)):
        n, triangles = ball.n_vertices, np.asarray(ball.triangles)
        none, names, start = np.full(len(triangles), -1), ("ball",), np.array([0, n])
        self.layout = Layout(n, triangles, np.empty((0, 4), int), none, names, start, np.array([colour]), 3.0)
        self.times = np.arange(4) / 3
        self._points = ball.points

    def _frame(self, k):
        time = float(self.times[k])
        points = self._points + np.array([time, 0, 0])
        velocity = np.tile([1.0, 0, 0], (len(points), 1))
        return Frame(time, points, {"velocity": velocity, "height": points[:, 2] * (k + 1)})


@pytest.fixture(scope="module")
def ball():
    return pl.shapes.ball(0.5, 6).surface()


def reds(pixels):
    return pixels[:, :, 0].astype(int) - pixels[:, :, 2] > 60


@pytest.mark.parametrize("ending", ["gif", "mp4"])
def test_movie_has_every_frame_and_shows_the_motion(tmp_path, ball, ending):
    """The ball's middle moves by 1 m: as many pixels as two of its radii, in every frame a third of it."""
    imageio = pytest.importorskip("imageio.v3")
    if ending == "mp4":
        pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / f"a.{ending}"
    render([Moving(ball)], path, View(height=120, azimuth=-90))
    frames = imageio.imread(path, **({"plugin": "FFMPEG"} if ending == "mp4" else {}))
    assert len(frames) == 4
    middles = [np.nonzero(reds(frame[:120]))[1].mean() for frame in frames]
    diameter = np.ptp(np.nonzero(reds(frames[0][:120]))[1]) + 1
    np.testing.assert_allclose(np.diff(middles), diameter / 3, atol=1.5)
    areas = [reds(frame[:120]).sum() for frame in frames]
    np.testing.assert_allclose(areas, np.pi / 4 * diameter**2, rtol=0.06)


def test_results_side_by_side_share_camera_and_have_labels(ball):
    stage = Stage([Moving(ball), Moving(ball, (0.0, 0.0, 1.0))], View(height=100, azimuth=-90), ["left", "right"])
    pixels = np.asarray(stage.picture(0.0)).astype(int)
    left, right = np.split(pixels, 2, axis=1)
    red, blue = left[..., 0] - left[..., 2] > 60, right[..., 2] - right[..., 0] > 60
    assert (red[:100] != blue[:100]).sum() < 10  # same place, same size, but for pixels that are half covered
    assert red.sum() > 500
    assert left[100:].std() > 5  # the label
    assert (left[100:] != right[100:]).any()


def test_strip_has_a_panel_a_moment_and_a_row_a_result(tmp_path, ball):
    path = tmp_path / "a.png"
    render([Moving(ball)] * 2, path, View(height=60, azimuth=-90), moments=[0.0, 0.5, 1.0])
    picture = image.open(path)
    still = Stage([Moving(ball)], View(height=60, azimuth=-90), tight=True).picture(0.0)
    assert picture.size == (3 * still.width, 2 * still.height)


def test_colours_follow_the_scale():
    scale = ColourScale("von_mises", 0.0, 3e5)
    colours = scale.colours(np.array([-1.0, 0.0, 1.5e5, 3e5, 9e9, np.nan]))
    np.testing.assert_allclose(colours[:2], [SCALE[0]] * 2)
    np.testing.assert_allclose(colours[2], SCALE[3])
    np.testing.assert_allclose(colours[3:5], [SCALE[-1]] * 2)
    np.testing.assert_allclose(colours[5], 0.72, atol=0.04)
    assert scale.texts() == ("von Mises stress [kPa]", ["0", "75", "150", "225", "300"])
    lightness = SCALE @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(lightness) > 0.05).all()  # readable in grey


def test_limits_are_those_of_all_frames_and_can_be_given(ball):
    result = Moving(ball)
    heights = np.concatenate([result.frame(k).point_fields["height"] for k in range(4)])
    chosen = Stage([result], View(height=40, field="height")).scale
    assert chosen.low == pytest.approx(heights.min())
    assert chosen.high == pytest.approx(np.percentile(result.frame(3).point_fields["height"], 99))
    given = Stage([result], View(height=40, field="height", limits=(0.0, 7.0))).scale
    assert (given.low, given.high) == (0.0, 7.0)
    np.testing.assert_allclose(on_points(result.layout, result.frame(0), "speed"), 1)


def test_field_is_drawn_where_it_is_high(ball):
    """The top of the ball is light yellow, its bottom dark blue, and the legend shows both."""
    pixels = np.asarray(Stage([Moving(ball)], View(height=160, azimuth=-90, field="height")).picture(1.0)).astype(int)
    yellow = (pixels[..., 0] - pixels[..., 2] > 90) & (pixels[..., 1] > 150)
    dark = pixels.sum(axis=2) < 240
    body = pixels.shape[1] // 2
    assert np.nonzero(yellow[:160, :body])[0].mean() < 80 < np.nonzero(dark[:160, :body])[0].mean()
    assert yellow[:, body:].any()


class Pushed(Moving):
    """The same, pushed upwards at its lowest vertex, and grey."""

    def _frame(self, k):
        frame = super()._frame(k)
        forces = np.zeros_like(frame.points)
        forces[frame.points[:, 2].argmin(), 2] = 1.0 + k
        frame.point_fields["contact_force"] = forces
        return frame


def test_forces_are_arrows_and_places_are_marked(ball):
    """The arrow of the largest force is a quarter of the picture long, that of half of it half as long; a mark is red
    where its place is seen, though the ball hides it.
    """
    grey = (0.6, 0.6, 0.6)
    stage = Stage([Pushed(ball, grey)], View(height=200, forces=True, elevation=1.0))
    rows = [np.flatnonzero(reds(np.array(stage.picture(time))).any(axis=1)) for time in (1.0, 1 / 3)]
    assert np.ptp(rows[0]) == pytest.approx(50, abs=3)
    assert np.ptp(rows[1]) == pytest.approx(25, abs=3)
    marked = np.array(Stage([Moving(ball, grey)], View(height=200, marks=[(0.5, 0, 0)])).picture(0.5))
    assert 5 <= reds(marked).sum() <= 30
    assert not reds(np.array(Stage([Moving(ball, grey)], View(height=200)).picture(0.5))).any()
    with pytest.raises(pl.PliantError, match="no contact forces"):
        Stage([Moving(ball)], View(forces=True))


def test_plot_and_animate(make_simulation, tmp_path):
    sim = make_simulation(solver=pl.VBD(iterations=3))
    picture = sim.plot(field="von_mises", height=80)
    assert picture._repr_png_()[:4] == b"\x89PNG"
    assert np.asarray(picture).std() > 10
    with pytest.raises(pl.PliantError, match=r"ending is '.png'; choose .gif or .mp4"):
        sim.animate(4, ending=".png")
    movie = sim.animate(4, every=2, height=60)
    assert repr(movie) == f"<Animation: .gif, {len(movie.data) / 1000:.0f} kB>"
    assert sim.time == pytest.approx(0.04)
    assert movie._repr_html_().startswith('<img src="data:image/gif;base64,R0lGOD')
    movie.save(tmp_path / "a.gif")
    assert image.open(tmp_path / "a.gif").n_frames == 2  # 0.04 s at 25 frames a second
    with pytest.raises(pl.FileError, match=r"the movie is a \.gif"):
        movie.save(tmp_path / "a.mp4")
    assert sim.observers == []


def test_recorded_movie_is_finished_when_closed(make_simulation, tmp_path):
    sim = make_simulation(solver=pl.VBD(iterations=3))
    with sim.record(tmp_path / "a.gif"), sim.record(tmp_path / "a.png"):
        for _ in sim.frames(8):
            pass
    assert image.open(tmp_path / "a.gif").n_frames == 3
    assert image.open(tmp_path / "a.png").size[1] == 540 + 44
    assert {path.name for path in tmp_path.iterdir()} == {"a.gif", "a.png"}


def test_errors_say_what_to_do(ball, make_simulation, tmp_path, monkeypatch):
    result = Moving(ball)
    with pytest.raises(pl.PliantError, match=r"no field 'heigt'; it has speed, height\. Did you mean 'height'"):
        Stage([result], View(field="heigt"))
    with pytest.raises(pl.PliantError, match="1 labels for 2 results"):
        Stage([result, result], View(), ["one"])
    with pytest.raises(pl.PliantError, match="lower one first"):
        Stage([result], View(field="height", limits=(2.0, 1.0)))
    with pytest.raises(pl.FileError, match=r"\.mp4, \.gif, \.png"):
        render([result], tmp_path / "a.jpg")
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.delitem(sys.modules, "pliant.viewer.mp4", raising=False)
    with pytest.raises(pl.PliantError, match=r'imageio-ffmpeg: pip install "pliant\[render\]"'):
        make_simulation(solver=pl.VBD(iterations=3)).record(tmp_path / "a.mp4")
    assert list(tmp_path.iterdir()) == []


def test_result_files_can_be_rendered(make_simulation, tmp_path):
    """Volume and surface of one run give the same picture."""
    sim = make_simulation(solver=pl.VBD(iterations=3))
    with sim.record(tmp_path / "s.npz"), sim.record(tmp_path / "v.pvd", volume=True):
        sim.advance()
    drawn = []
    for name in ("s.npz", "v.pvd"):
        with open_result(tmp_path / name) as result:
            drawn.append(np.asarray(Stage([result], View(height=80, field="von_mises")).picture(0.01)).astype(int))
    np.testing.assert_allclose(drawn[0], drawn[1], atol=1)


def test_springs_are_drawn_as_tubes_of_the_rope_radius(tmp_path):
    """A level rope seen from the side: a dark bar as long as the rope and two radii high."""
    scene = pl.Scene(gravity=(0, 0, 0))
    points, edges = pl.shapes.rope([[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]], 5)
    rope = scene.add_springs(points, edges, 1e3, 0.1)
    rope.colour = (1.0, 0.0, 0.0)
    sim = pl.Simulation(scene)
    sim.record(tmp_path / "rope.npz").close()
    with open_result(tmp_path / "rope.npz") as result:
        stage = Stage([result], View(height=300, azimuth=-90.0, elevation=10.0))
        seen = reds(np.asarray(stage.picture(0.0)))
        metres = stage._camera.metres_a_pixel * 2  # of a pixel of the picture, which is the mean of 2 x 2
    rows, columns = np.nonzero(seen)
    assert np.ptp(columns) * metres == pytest.approx(1.0, abs=0.03)
    assert np.ptp(rows) * metres == pytest.approx(2 * stage._rope_radius, abs=2.5 * metres)


def test_a_level_plane_is_the_ground_and_other_obstacles_are_drawn(tmp_path):
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(pl.shapes.box((0.2, 0.2, 0.2), 1), pl.StableNeoHookean(1e4, 1e4))
    body.colour = (1.0, 0.0, 0.0)
    scene.add_plane((0, 0, -0.3), (0, 0, 1))
    scene.add_sphere((0.3, 0, 0), 0.1)
    sim = pl.Simulation(scene)
    sim.record(tmp_path / "scene.npz").close()
    with open_result(tmp_path / "scene.npz") as result:
        stage = Stage([result], View(height=200))
        assert stage._ground == -0.3
        points, triangles = stage._actors[0].surface(result.positions(0), 0.01)
        stage.picture(0.0)
    assert points[triangles].reshape(-1, 3).max(axis=0)[0] == pytest.approx(0.4)
    assert points[:, 2].min() > -0.11  # the plane's square is not among them


class Worn(Result):
    """A ball beside an obstacle of its shape that is larger, moves along y and comes back in 3 frames."""

    def __init__(self, ball, ratio, way):
        n, triangles = ball.n_vertices, np.concatenate([ball.triangles, np.asarray(ball.triangles) + ball.n_vertices])
        none, start = np.full(len(triangles), -1), np.array([0, n, 2 * n])
        colours = np.array([(1.0, 0.0, 0.0), (0.5, 0.5, 0.5)])
        names = ("ball", "figure")
        self.layout = Layout(2 * n, triangles, np.empty((0, 4), int), none, names, start, colours, 2.0, scenery=(1,))
        self.times = np.arange(3) / 2
        self._ball, self._figure, self._way = ball.points, ratio * ball.points, way

    def _frame(self, k):
        moved = self._figure + np.array([0, 10 + (k == 1) * self._way, 0])
        return Frame(float(self.times[k]), np.concatenate([self._ball, moved]), {})


@pytest.mark.parametrize(
    ("ratio", "way", "is_framed"), [(1.5, 0.0, True), (3, 0.0, False), (3, 1e-3, True), (9, 1.0, False)]
)
def test_large_obstacles_are_framed_if_they_move(ball, ratio, way, is_framed):
    """The figure that wears a garment is some times as large as it; a wall is cut off by the picture's edge."""
    result = Worn(ball, ratio, way)
    (actor,) = Stage([result], View(height=60))._actors
    assert (result.positions(0)[actor.framed, 1].max() > 1.0) == is_framed
