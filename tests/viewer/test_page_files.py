"""What the page writes and who may steer it, in a real browser: recordings, pictures, and a page of another site."""

import functools
import http.server
import importlib.util
import threading
import time
from pathlib import Path

import pytest

import pliant as pl
from pliant.viewer.session import Session

pytest.importorskip("viser")
pytest.importorskip("websockets")


def beside(name):
    """A module of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


chromium = beside("chromium")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(chromium.PROGRAM is None, reason="chromium is not installed")]

INPUT = "[...document.querySelectorAll('input')].find(i => i.value == '{}')"
TYPE = """(i => {{
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(i, '{}');
    i.dispatchEvent(new Event('input', {{bubbles: true}}));
}})({})"""


@pytest.fixture
def session():
    scene = pl.Scene()
    scene.add_solid(pl.shapes.box(cells=1), pl.StableNeoHookean.from_young(1e6, 0.3))
    session = Session(pl.Simulation(scene, threads=1))
    yield session
    session.close()


@pytest.fixture
def page(session, tmp_path):
    from pliant.viewer.page import Page

    (tmp_path / "recorded").mkdir()
    with Page(session, "box", tmp_path / "recorded", port=0) as page:
        yield page


@pytest.fixture
def browser(page):
    with chromium.Chromium(page.url) as browser:
        browser.wait_for("document.body.innerText.includes('Step')")
        wait_for(lambda: page.server.get_clients())
        yield browser


def wait_for(condition, seconds=60.0):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def name_it(browser, page, name, before="view.npz"):
    """Type a name into the record box."""
    browser.wait_for(f"!!({INPUT.format(before)})")
    browser.evaluate(TYPE.format(name, INPUT.format(before)))
    wait_for(lambda: page.panel._file.value == name)


def press(browser, label):
    """The button of this label that was added last."""
    button = f"[...document.querySelectorAll('button')].filter(b => b.textContent.trim() == '{label}').pop()"
    browser.wait_for(f"!!({button})")
    browser.evaluate(f"({button}).click()")


def test_the_record_box_writes_into_its_folder_and_overwrites_nothing(browser, page, session, tmp_path):
    folder = tmp_path / "recorded"
    (folder / "precious.npz").write_bytes(b"precious")
    name_it(browser, page, "../outside.npz")
    press(browser, "Record")
    wait_for(lambda: session.is_recording)
    press(browser, "Step")
    wait_for(lambda: session.simulation.state.step > 0)
    press(browser, "Stop")
    wait_for(lambda: not session.is_recording)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["recorded"]
    with pl.open_result(folder / "outside.npz") as result:
        assert len(result.times) == 2
    name_it(browser, page, "precious.npz", "../outside.npz")
    press(browser, "Record")
    browser.wait_for("document.body.innerText.includes('already exists')")
    assert not session.is_recording
    assert (folder / "precious.npz").read_bytes() == b"precious"


def test_the_picture_is_kept_as_a_file(browser, page, tmp_path):
    browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    time.sleep(2.0)  # until the first picture is drawn
    press(browser, "Picture")
    wait_for(lambda: list(tmp_path.glob("pliant-*.png")))
    (path,) = tmp_path.glob("pliant-*.png")
    assert path.read_bytes().startswith(b"\x89PNG")


ATTACK = """<html><title>evil</title><script>
let open = [], failed = 0;
for (const address of {addresses}) {{
    const socket = new WebSocket(address, 'viser-v{version}');
    socket.onopen = () => open.push(address);
    socket.onerror = () => failed++;
}}
let read = 'waiting';
fetch('{page}').then(r => r.text()).then(text => read = text).catch(() => read = 'refused');
</script></html>"""


def test_a_page_of_another_site_can_neither_steer_nor_read(page, session, tmp_path):
    """Even one that knows the address: its Origin is another."""
    import viser

    evil = tmp_path / "evil"
    evil.mkdir()
    socket = page.url.replace("http", "ws").rstrip("/")
    addresses = [socket, f"ws://127.0.0.1:{page.port}", f"ws://localhost:{page.port}"]
    attack = ATTACK.format(addresses=addresses, version=viser.__version__, page=page.url)
    (evil / "index.html").write_text(attack)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(evil))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with chromium.Chromium(f"http://127.0.0.1:{server.server_port}/") as browser:
            browser.wait_for("document.title == 'evil'")
            browser.wait_for(f"failed == {len(addresses)}")
            browser.wait_for("read != 'waiting'")
            assert browser.evaluate("open.length") == 0
            assert browser.evaluate("read") == "refused"
        server.shutdown()
    assert not page.server.get_clients()
    assert session.simulation.state.step == 0
