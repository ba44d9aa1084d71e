"""A result as one HTML file: what is in it, and, if there is a browser, what it shows."""

import base64
import http.client
import importlib.util
import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

import pliant as pl
from pliant.io.results import open_result
from pliant.io.results.archive import ArchiveWriter
from pliant.io.results.result import Frame, Layout
from pliant.viewer import share
from pliant.viewer.result_server import ResultServer

CUBE = pl.shapes.box((1.0, 1.0, 1.0), 1).surface()


def write(path, frames=3, name="red </script> cube"):
    """A cube that moves by 2 m along x, with a field that rises with z and a contact force at its lowest corner."""
    n = CUBE.n_vertices
    colours, none = np.array([[0.9, 0.1, 0.1]]), np.full(len(CUBE.triangles), -1)
    layout = Layout(n, CUBE.triangles, np.empty((0, 4), int), none, (name,), np.array([0, n]), colours, 10.0)
    writer = ArchiveWriter(path, layout)
    force = np.zeros((n, 3))
    force[0] = [0.0, 0.0, 5.0]
    for k in range(frames):
        points = CUBE.points + np.array([2.0 * k / (frames - 1), 0.0, 0.0])
        fields = {"height": CUBE.points[:, 2], "contact_force": force if k else 0 * force}
        writer.write(Frame(k / 10, points, fields, {"von_mises": np.full(len(CUBE.triangles), 1e5)}))
    writer.close()
    return path


def decoded(text, kind):
    return np.frombuffer(base64.b64decode(text), kind)


def test_the_file_holds_the_result(tmp_path):
    """Positions to 1/65535 of the extent, fields to 1/254 of the scale, one line per force; names cannot end it."""
    with open_result(write(tmp_path / "run.npz")) as result:
        share.export(result, tmp_path / "run.html")
    text = (tmp_path / "run.html").read_text()
    about = json.loads(re.search(r'id="about">(.*?)</script>', text, re.DOTALL)[1])
    places = decoded(about["places"], "<u2").reshape(3, -1, 3)
    points = np.array(about["low"]) + np.array(about["step"]) * places
    for k in range(3):
        np.testing.assert_allclose(points[k], CUBE.points + np.array([k, 0, 0]), atol=0.51 * 3.0 / 65535)
    assert about["times"] == [0.0, 0.1, 0.2]
    fields = {field["name"]: field for field in about["fields"]}
    assert set(fields) == {"height", "contact_force", "von_mises"}
    heights = decoded(fields["height"]["values"], "u1").reshape(3, -1)[0]
    np.testing.assert_array_equal(heights, np.where(CUBE.points[:, 2] > 0, 254, 0))
    assert fields["von_mises"]["title"] == "von Mises stress [kPa]"
    assert decoded(about["force_start"], "<u4").tolist() == [0, 0, 1, 2]
    line = decoded(about["force_lines"], "<f4").reshape(-1, 2, 3)[0]
    np.testing.assert_allclose(line[1] - line[0], [0, 0, 0.3 * np.linalg.norm([3, 1, 1])], rtol=1e-6)
    assert "http://" not in text
    assert "https://" not in text, "it needs no network"


def test_large_results_are_refused_with_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setattr(share, "LARGEST", 100.0)
    with (
        open_result(write(tmp_path / "run.npz")) as result,
        pytest.raises(pl.FileError, match=r"Record every 3th frame: sim\.record\(\.\.\., every=3\)"),
    ):
        share.page(result, "run")


def get(server, path, **headers):
    parts = urlsplit(server.url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_only_those_who_know_the_address_get_the_page():
    with ResultServer("<p>hello</p>", port=0) as server:
        path = urlsplit(server.url).path
        assert get(server, path) == (200, "<p>hello</p>")
        assert get(server, "/")[0] == 403
        assert get(server, "/wrong/")[0] == 403
        assert get(server, path, Host="attacker.example")[0] == 403
        assert get(server, path, Origin="http://attacker.example")[0] == 403
        assert get(server, path + "other")[0] == 404


def beside(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


chromium = beside("chromium")


@pytest.fixture
def browser(tmp_path):
    pytest.importorskip("websockets")
    pytest.importorskip("PIL")
    with open_result(write(tmp_path / "run.npz")) as result:
        page = share.page(result, "cubes")
    with ResultServer(page, port=0) as server, chromium.Chromium(server.url) as browser:
        browser.wait_for("document.title == 'cubes'")
        yield browser


def red(browser):
    """Columns (k,) and number of pixels that show the red cube."""
    browser.evaluate("draw()")
    r, g, b = browser.screenshot().astype(int).transpose(2, 0, 1)
    found = (r > 1.6 * g) & (r > 1.6 * b)
    found[600:] = False  # the bar
    return np.nonzero(found)[1], int(found.sum())


def slide_to(browser, frame):
    browser.evaluate(f"get('frame').value = {frame}; get('frame').oninput({{target: get('frame')}})")


@pytest.mark.slow
@pytest.mark.skipif(chromium.PROGRAM is None, reason="chromium is not installed")
def test_the_player_shows_frames_fields_and_forces(browser):
    columns, count = red(browser)
    assert count > 3000
    slide_to(browser, 2)
    assert browser.evaluate("get('time').textContent") == "0.20 s"
    moved, again = red(browser)
    assert again == pytest.approx(count, rel=0.5), "nearer to the viewer"
    assert moved.mean() > columns.mean() + 100, "it has moved to the right"
    browser.evaluate("get('field').value = 'height'; get('field').onchange({target: get('field')})")
    assert red(browser)[1] < 0.05 * count, "colours of the field, none of which is red"
    assert browser.evaluate("get('ticks').innerText.split('\\n')") == ["0.5", "0.25", "0", "-0.25", "-0.5"]
    browser.evaluate("get('forces').click()")
    assert red(browser)[1] > 20, "a red line of the contact force"
    kept = "draw(), get('view').toDataURL().length"
    assert browser.evaluate(kept) > 5000, "the picture that the button keeps"
    browser.evaluate("play(true)")
    browser.wait_for("frame == 2 && !playing", 20)
