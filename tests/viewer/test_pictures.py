"""Pictures show what is there, where it is, without a display."""

import sys

import numpy as np
import pytest

from pliant import FileError, PliantError, shapes
from pliant.viewer.camera import direction, fit_camera
from pliant.viewer.light import NARROW_BORDER, with_shadows
from pliant.viewer.pictures import BODY_COLOURS, Surface, bands, draw, merge, strip
from pliant.viewer.raster import corner_normals

image = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def ball():
    return shapes.ball(0.5, 6)


def test_camera_keeps_all_points_inside_and_undoes_its_projection(ball):
    camera = fit_camera(ball.points, direction(-60, 18), 200)
    seen = camera.project(ball.points)
    assert seen[:, :2].min() > 0
    assert seen[:, 0].max() < camera.width
    assert seen[:, 1].max() < camera.height
    back = camera.places(seen[:, 1] - 0.5, seen[:, 0] - 0.5, seen[:, 2])
    np.testing.assert_allclose(back, ball.points, atol=1e-12)


def test_shadows_end_within_the_picture(ball):
    """Not even at its sides, where they would fade: those of a ball in the air reach to the right of it."""
    shown = with_shadows(ball.points, ground=-2.0)
    camera = fit_camera(shown, direction(-60, 18), 200)
    shadows = camera.project(shown[len(ball.points) :])
    np.testing.assert_allclose(shown[len(ball.points) :, 2], -2.0)
    assert shadows[:, 0].min() > NARROW_BORDER * camera.width
    assert shadows[:, 0].max() < (1 - NARROW_BORDER) * camera.width
    assert shadows[:, 1].max() < camera.height


def test_normals_are_radial_on_a_ball_and_sharp_on_a_cube(ball):
    out = ball.points[ball.surface_triangles] / 0.5
    assert np.einsum("mka,mka->mk", corner_normals(ball.points, ball.surface_triangles), out).min() > 0.98
    cube = shapes.box(cells=2)
    normals = corner_normals(cube.points, cube.surface_triangles)
    np.testing.assert_allclose(np.abs(normals).max(axis=2), 1, atol=1e-12)


def test_disc_of_a_ball_has_its_area(ball):
    picture = draw(ball.points, Surface(ball.surface_triangles, (1.0, 0.0, 0.0)), height=200)
    red = picture[:, :, 0].astype(int) - picture[:, :, 2] > 40
    metres_a_pixel = 1.12 / 200  # diameter and two margins of 6 %
    assert red.sum() * metres_a_pixel**2 == pytest.approx(np.pi / 4, rel=0.03)


def test_nearer_body_hides_the_farther_one():
    near, far = shapes.box(cells=1), shapes.box(cells=1)
    # the viewer stands at azimuth -90, so at smaller y
    points = np.concatenate([near.points - [0, 2, 0], far.points])
    both = merge([Surface(b.surface_triangles, c) for b, c in ((near, (1, 0, 0)), (far, (0, 0, 1)))], [0, 8])
    picture = draw(points, both, height=100, azimuth=-90, elevation=1).astype(int)
    middle = picture[50, picture.shape[1] // 2]
    assert middle[0] > middle[2] + 40


def test_strip_has_a_panel_a_frame_and_is_not_uniform(tmp_path, ball):
    path = tmp_path / "strip.png"
    colours = bands(ball.points, ball.surface_triangles, axis=2, count=5, colour=BODY_COLOURS[1])
    strip([ball.points, 0.8 * ball.points], [0.0, 0.5], Surface(ball.surface_triangles, colours), path, height=120)
    pixels = np.asarray(image.open(path))
    rows, columns, _ = pixels.shape
    assert rows == 120 + 16
    assert columns % 2 == 0
    assert columns == pytest.approx(240, rel=0.03)  # a ball of flat faces is not quite as wide as high
    for panel in np.split(pixels, 2, axis=1):
        assert panel[:120].std() > 15
        assert panel[120:].std() > 5


def test_same_picture_every_time(ball):
    surface = Surface(ball.surface_triangles)
    np.testing.assert_array_equal(draw(ball.points, surface, height=80), draw(ball.points, surface, height=80))


def test_errors_say_what_to_do(tmp_path, ball, monkeypatch):
    surface = Surface(ball.surface_triangles)
    with pytest.raises(PliantError, match="as many times as frames"):
        strip([ball.points], [], surface, tmp_path / "a.png")
    with pytest.raises(PliantError, match="elevation"):
        draw(ball.points, surface, elevation=-5)
    with pytest.raises(PliantError, match="finite"):
        draw(ball.points * np.nan, surface)
    with pytest.raises(FileError, match="cannot be written"):
        draw(ball.points, surface, tmp_path / "missing" / "a.png", height=40)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(PliantError, match=r"pip install \"pliant\[render\]\""):
        draw(ball.points, surface, tmp_path / "a.png", height=40)
