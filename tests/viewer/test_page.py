"""The viewer in a real browser: headless chromium, if it is there."""

import importlib.util
import socket
import time
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.viewer.session import Session

pytest.importorskip("viser")
pytest.importorskip("websockets")
pytest.importorskip("PIL")


def beside(name):
    """A module of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


chromium, proxy = beside("chromium"), beside("proxy")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(chromium.PROGRAM is None, reason="chromium is not installed")]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def session():
    scene = pl.Scene()
    mesh = pl.shapes.box((0.4, 0.4, 0.8), (4, 4, 8))
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(3e4, 0.4), name="block")
    body.colour = (0.9, 0.1, 0.1)
    body.pin(mesh.points[:, 2] < -0.39)
    session = Session(pl.Simulation(scene, threads=1))
    yield session
    session.close()


@pytest.fixture
def page(session, tmp_path):
    from pliant.viewer.page import Page

    with Page(session, "block", tmp_path, port=free_port()) as page:
        yield page


@pytest.fixture
def browser(page):
    with chromium.Chromium(page.url) as browser:
        browser.wait_for("document.body.innerText.includes('Step')")
        wait_for(lambda: page.server.get_clients())
        time.sleep(2.0)  # until the first picture is drawn
        yield browser


def wait_for(condition, seconds=30.0):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def block_pixels(picture):
    """Where the picture shows the red block, left of the panel and right of viser's notice."""
    r, g, b = picture.astype(int).transpose(2, 0, 1)
    columns = np.arange(picture.shape[1])
    return (r > 1.4 * g) & (r > 1.4 * b) & (columns > 320) & (columns < 640)


def pixel_of(page, point):
    """Where a tab's camera sees a point of the scene."""
    camera = next(iter(page.server.get_clients().values())).camera
    forward = np.array(camera.look_at) - camera.position
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, camera.up_direction)
    right /= np.linalg.norm(right)
    arm = np.array(point) - camera.position
    scale = chromium.HEIGHT / 2 / np.tan(camera.fov / 2) / (arm @ forward)
    down = np.cross(forward, right)
    return chromium.WIDTH / 2 + scale * (arm @ right), chromium.HEIGHT / 2 + scale * (arm @ down)


def drag(browser, start, end):
    """Move the mouse to a pixel, press it there, and move it to another without letting go."""
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=start[0], y=start[1])
    time.sleep(0.5)
    browser.mouse("mousePressed", *start)
    for s in np.linspace(0, 1, 10):
        browser.mouse("mouseMoved", *(start + s * (end - start)))
        time.sleep(0.15)


def pull_up(browser, page, held):
    """Drag the arrow of the gizmo that points up, by 0.15 m."""
    arrow = held + np.array([0, 0, 0.3 * 0.75 * page._size])
    start, end = np.array(pixel_of(page, arrow)), np.array(pixel_of(page, arrow + np.array([0, 0, 0.15])))
    drag(browser, start, end)
    browser.mouse("mouseReleased", *end)
    time.sleep(1.0)


def test_it_draws_the_body_where_the_camera_sees_it(browser, page):
    seen = block_pixels(browser.screenshot())
    corners = np.array([pixel_of(page, p) for p in page.session.latest.positions])
    low, high = corners.min(axis=0), corners.max(axis=0)
    rows, columns = np.nonzero(seen)
    assert seen.sum() > 0.4 * np.prod(high - low)
    np.testing.assert_allclose([columns.min(), columns.max()], [low[0], high[0]], atol=12)
    np.testing.assert_allclose([rows.min(), rows.max()], [low[1], high[1]], atol=12)


def test_obstacles_are_drawn_and_move(tmp_path):
    """A red ball is where its motion puts it, before and after, in the picture and on the server."""
    from pliant.viewer import page as pages

    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_solid(pl.shapes.box((0.1, 0.1, 0.1), 1), pl.StableNeoHookean(1e4, 1e4)).colour = (0.1, 0.1, 0.9)
    scene.add_sphere((-0.5, 0, 0), 0.2, motion=lambda t: ((0, 0, 0.3 * t), np.eye(3)))
    session = Session(pl.Simulation(scene, threads=1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "OBSTACLE_COLOUR", (0.9, 0.1, 0.1))
        with (
            pages.Page(session, "ball", tmp_path, port=free_port()) as page,
            chromium.Chromium(page.url) as browser,
        ):
            browser.wait_for("document.body.innerText.includes('Step')")
            wait_for(lambda: page.server.get_clients())
            time.sleep(2.0)
            for height in (0.0, 0.15):
                rows, columns = np.nonzero(block_pixels(browser.screenshot()))
                middle = (columns.min() + columns.max()) / 2, (rows.min() + rows.max()) / 2
                np.testing.assert_allclose(middle, pixel_of(page, (-0.5, 0, height)), atol=8)
                for _ in range(30):  # half a second
                    session.step()
                    session.settled()
                time.sleep(2.0)
    session.close()


def test_play_moves_the_body_and_pause_stops_it(browser, session):
    before = session.latest
    browser.press_button("Play")
    wait_for(lambda: session.latest.time > 0.5)
    browser.press_button("Pause")
    wait_for(lambda: not session.playing)
    stopped = session.settled()
    browser.wait_for("[...document.querySelectorAll('button')].some(b => b.innerText.trim() == 'Play')")
    top = before.positions[:, 2].argmax()
    assert stopped.positions[top, 2] < before.positions[top, 2] - 0.01  # it sags [m]
    time.sleep(0.3)
    assert session.latest.number == stopped.number
    browser.press_button("Reset")
    wait_for(lambda: session.latest.time == 0)
    np.testing.assert_array_equal(session.latest.positions, before.positions)


def test_a_click_grabs_and_the_gizmo_pulls(browser, page, session):
    session.set_gravity(0.0)
    session.play()
    session.settled()
    x = session.latest.positions
    corner = int(np.argmax(x @ (1.0, -1.0, 1.0)))
    browser.click(*np.add(pixel_of(page, x[corner]), (-4, 6)))
    wait_for(lambda: page._gizmo is not None)
    held = page._grabbed_at.copy()
    vertex = int(np.argmin(np.linalg.norm(x - held, axis=1)))
    for _ in range(6):  # a press before the tab has drawn the gizmo turns the camera instead
        time.sleep(2.0)
        pull_up(browser, page, held)
        if page._gizmo.position[2] > held[2] + 0.1:
            break
    np.testing.assert_allclose(page._gizmo.position - held, (0, 0, 0.15), atol=0.02)
    wait_for(lambda: np.abs(session.latest.positions[vertex] - page._gizmo.position).max() < 1e-5)
    browser.press_button("Let go")
    wait_for(lambda: not session.is_grabbing)


def test_a_slider_changes_the_stiffness(browser, session):
    label = "[...document.querySelectorAll('label')].find(l => l.innerText.startsWith('Stiffness'))"
    top = browser.evaluate(f"{label}.getBoundingClientRect().top")
    inputs = "[...document.querySelectorAll('input')]"
    places = browser.evaluate(
        f"{inputs}.filter(i => i.offsetWidth > 20).map(i => (r => [r.left + r.width / 2, r.top + r.height / 2])"
        "(i.getBoundingClientRect()))"
    )
    browser.click(*min(places, key=lambda place: abs(place[1] - top - 8)))
    for kind in ("rawKeyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="a", code="KeyA", modifiers=2, commands=["selectAll"])
    browser.call("Input.insertText", text="1")
    mu = session.simulation.scene.bodies[0].material.mu
    for kind in ("rawKeyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
    wait_for(lambda: session.simulation.scene.bodies[0].material.mu > 5 * 3e4 / 2.8)
    assert session.simulation.scene.bodies[0].material.mu == pytest.approx(10 * 3e4 / 2.8)
    assert mu <= session.simulation.scene.bodies[0].material.mu


def test_a_chosen_solver_shows_its_iterations(browser, session):
    place = "(i => (r => [r.left + 20, r.top + r.height / 2])(i.getBoundingClientRect()))"
    browser.click(*browser.evaluate(f"{place}([...document.querySelectorAll('input')].find(i => i.value == 'Auto'))"))
    option = "[...document.querySelectorAll('[role=option]')].find(o => o.innerText.trim() == 'LBFGS')"
    browser.wait_for(f"!!({option})")
    browser.click(*browser.evaluate(f"{place}({option})"))
    wait_for(lambda: isinstance(session.simulation.solver, pl.LBFGS))
    browser.wait_for("[...document.querySelectorAll('input')].some(i => i.value == '50')")
    assert session.settled().message == ""
    assert session.simulation.solver == pl.LBFGS(iterations=50)


def test_a_dropped_connection_comes_back(page, session):
    """The tab finds the server again by itself and shows what went on meanwhile."""
    relay = proxy.Proxy(page.port)
    with chromium.Chromium(page.url.replace(f":{page.port}/", f":{relay.port}/")) as browser:
        browser.wait_for("document.body.innerText.includes('Step')")
        wait_for(lambda: page.server.get_clients())
        relay.cut()
        wait_for(lambda: not page.server.get_clients())
        session.step()
        time_of_step = session.settled().time
        wait_for(lambda: page.server.get_clients(), seconds=60)
        browser.wait_for(f"document.body.innerText.includes('{time_of_step:.2f} s, ')")
        browser.press_button("Step")
        wait_for(lambda: session.latest.time > time_of_step)
    relay.close()


def unsent_bytes(port):
    """What the kernel holds back [bytes] for the tab of a server that reads least."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    queues = [line[4].split(":")[0] for line in lines if int(line[1].split(":")[1], 16) == port]
    return max(int(queue, 16) for queue in queues)


def test_a_tab_that_hangs_holds_up_nothing(tmp_path):
    """Steps go on and every frame reaches another tab, long after the connection of the one that hangs is full; when it
    wakes up it shows the last frame. Counted, not timed.
    """
    import viser
    from websockets.sync.client import connect

    from pliant.viewer.page import Page

    scene = pl.Scene()
    scene.add_cloth(pl.shapes.cloth((1.0, 1.0), (100, 100)), pl.StableNeoHookean(500.0, 500.0))
    session = Session(pl.Simulation(scene, pl.VBD(iterations=1), substeps=1, threads=1))
    with Page(session, "sheet", tmp_path, port=free_port()) as page:
        address, versions = page.url.removeprefix("http://"), [f"viser-v{viser.__version__}"]
        with (
            chromium.Chromium(f"http://{address}") as browser,
            connect(f"ws://{address}", subprotocols=versions, max_size=None, compression=None) as tab,
        ):

            def wait_for_frame(number):
                sent = session.wait(number - 1, timeout=30).positions.astype(np.float32).tobytes()
                assert session.latest.number == number
                while sent not in tab.recv(timeout=30):
                    pass

            browser.press_button("Step")
            wait_for_frame(1)  # tabs share one simulation
            with browser.hanging():
                for number in range(2, 202):  # 24 MB, of which a connection holds about ten
                    session.step()
                    wait_for_frame(number)
                assert unsent_bytes(page.port) > 1e5
            browser.wait_for(f"document.body.innerText.includes('{session.latest.time:.2f} s, ')")
    session.close()


def test_the_mouse_pulls_at_a_body_directly(browser, page):
    """Press on the block, move, and it follows; let go, and it swings back."""
    session = page.session
    session.set_speed(0.0)
    session.set_gravity(0.0)  # it would sag before it is taken hold of
    session.settled()
    top = session.latest.positions[:, 2].max()
    front = np.array(session.latest.positions[np.argmin(session.latest.positions @ [-0.5, 0.87, 0.0])])
    held = np.array([front[0], front[1], 0.3])
    start, end = np.array(pixel_of(page, held)), np.array(pixel_of(page, held + np.array([0.0, 0.0, 0.15])))
    session.play()
    drag(browser, start - [4, 0], end - [4, 0])
    wait_for(lambda: session.is_grabbing)
    wait_for(lambda: session.latest.positions[:, 2].max() > top + 0.05)
    browser.mouse("mouseReleased", *end)
    wait_for(lambda: not session.is_grabbing)
    assert page._gizmo is None


def test_the_mouse_pulls_at_a_rigid_body(tmp_path):
    """Press on a box, move up by 0.2 m, and it follows; let go, and it falls back."""
    from pliant.viewer.page import Page

    scene = pl.Scene()
    scene.add_plane()
    box = scene.add_rigid(pl.Box((0.4, 0.4, 0.4)), position=(0, 0, 0.2))
    session = Session(pl.Simulation(scene, threads=1))
    with (
        Page(session, "box", tmp_path, port=free_port()) as page,
        chromium.Chromium(page.url) as browser,
    ):
        browser.wait_for("document.body.innerText.includes('Contact forces')")
        wait_for(lambda: page.server.get_clients())
        session.step()
        session.settled()  # compiled
        time.sleep(2.0)
        session.play()
        held = np.array([0.0, 0.0, 0.4])  # above its centre: it does not turn
        start, end = (np.array(pixel_of(page, held + np.array([0, 0, up]))) for up in (0.0, 0.2))
        drag(browser, start, end)
        wait_for(lambda: session.is_grabbing)
        wait_for(lambda: box.position[2] > 0.3)
        browser.mouse("mouseReleased", *end)
        wait_for(lambda: not session.is_grabbing)
        wait_for(lambda: box.position[2] < 0.22)
    session.close()


def test_contact_forces_are_drawn(tmp_path):
    """A red line over a grey block on the floor."""
    from pliant.viewer.page import Page

    scene = pl.Scene()
    scene.add_plane()
    block = scene.add_solid(pl.shapes.box((0.4, 0.4, 0.4), 2), pl.StableNeoHookean.from_young(3e4, 0.4))
    block.colour = (0.5, 0.5, 0.5)
    block.set_positions(block.positions + np.array([0.0, 0.0, 0.2]))
    session = Session(pl.Simulation(scene, threads=1))
    with (
        Page(session, "block", tmp_path, port=free_port()) as page,
        chromium.Chromium(page.url) as browser,
    ):
        browser.wait_for("document.body.innerText.includes('Contact forces')")
        for _ in range(10):
            session.step()
            session.settled()
        assert session.latest.forces is None
        session.measure_forces(True)
        forces = session.settled().forces
        assert forces.shape[1:] == (2, 3)
        wait_for(lambda: page._force_lines.visible)
        np.testing.assert_allclose(page._force_lines.points[:, 0], forces[:, 0], atol=1e-6)
    session.close()


def test_a_field_colours_the_body_with_a_legend(browser, page, session):
    """Speeds of a block that is pinned below and sags: dark at the foot, bright at the top; then its red again."""
    place = "(i => (r => [r.left + 20, r.top + r.height / 2])(i.getBoundingClientRect()))"

    def choose(label, now):
        field = f"[...document.querySelectorAll('input')].find(i => i.value == '{now}')"
        browser.click(*browser.evaluate(f"{place}({field})"))
        option = f"[...document.querySelectorAll('[role=option]')].find(o => o.innerText.trim() == '{label}')"
        browser.wait_for(f"!!({option})")
        browser.click(*browser.evaluate(f"{place}({option})"))

    for _ in range(5):
        session.step()
        session.settled()
    assert block_pixels(browser.screenshot()).sum() > 3000
    choose("speed", "of bodies")
    browser.wait_for("document.body.innerText.includes('speed [')")
    time.sleep(3.0)
    shown = browser.screenshot()
    assert block_pixels(shown).sum() < 100
    foot, top = (shown[tuple(int(v) for v in pixel_of(page, (-0.05, -0.2, z))[::-1])].astype(int) for z in (-0.37, 0.3))
    assert top.sum() > foot.sum() + 150  # from dark blue to yellow
    assert foot[2] > foot[0]
    assert top[0] > top[2]
    values = session.latest.field.values
    assert values.max() == pytest.approx(np.linalg.norm(session.simulation.state.v, axis=1).max())
    choose("of bodies", "speed")
    wait_for(lambda: session.latest.field is None)
    time.sleep(2.0)
    assert block_pixels(browser.screenshot()).sum() > 3000
