"""The viewer attacked: pages of other sites, other names for this computer, guessed addresses, names of files."""

import urllib.error
import urllib.request

import pytest

import pliant as pl
from pliant.viewer.guard import Guard
from pliant.viewer.session import Session

OWN = Guard(token="secret")


@pytest.mark.parametrize(
    ("path", "headers", "words"),
    [
        ("/secret/", {"Host": "127.0.0.1:8080"}, ""),
        ("/secret/assets/a.js?v=1", {"Host": "localhost:8080", "Origin": "http://localhost:8080"}, ""),
        ("/secret", {"Host": "[::1]:8080", "Origin": "http://[::1]:8080"}, ""),
        ("/", {"Host": "127.0.0.1:8080"}, "no valid token"),
        ("/secre/", {"Host": "127.0.0.1:8080"}, "no valid token"),
        ("/secrets/", {"Host": "127.0.0.1:8080"}, "no valid token"),
        ("secret", {"Host": "127.0.0.1:8080"}, "no valid token"),
        ("/?secret", {"Host": "127.0.0.1:8080"}, "no valid token"),
        ("/\u00e9/", {"Host": "127.0.0.1:8080"}, "no valid token"),
        ("/secret/", {"Host": "evil.example:8080"}, "not this computer"),
        ("/secret/", {"Host": "127.0.0.1.evil.example"}, "not this computer"),
        ("/secret/", {"Host": "[bad"}, "not this computer"),
        ("/secret/", {}, "not this computer"),
        ("/secret", {"Host": "127.0.0.1:8080", "Origin": "https://evil.example"}, "not this page"),
        ("/secret", {"Host": "127.0.0.1:8080", "Origin": "http://127.0.0.1:9999"}, "not this page"),
        ("/secret", {"Host": "127.0.0.1:8080", "Origin": "null"}, "not this page"),
    ],
)
def test_who_is_let_in(path, headers, words):
    refusal = OWN.refusal(path, headers)
    assert words in refusal
    assert bool(words) == bool(refusal)


def test_a_server_for_others_takes_addresses_but_no_foreign_names():
    everywhere = Guard("0.0.0.0", "secret")
    assert everywhere.refusal("/secret/", {"Host": "192.168.1.5:8080"}) == ""
    assert "not this computer" in everywhere.refusal("/secret/", {"Host": "evil.example:8080"})


def test_tokens_are_long_and_new():
    tokens = {Guard().token for _ in range(50)}
    assert len(tokens) == 50
    assert min(map(len, tokens)) >= 22  # 128 bits


@pytest.fixture
def session():
    scene = pl.Scene()
    scene.add_solid(pl.shapes.box(cells=1), pl.StableNeoHookean.from_young(1e6, 0.3))
    session = Session(pl.Simulation(scene, threads=1))
    yield session
    session.close()


def test_an_attacker_gets_neither_page_nor_socket(session, tmp_path):
    pytest.importorskip("viser")
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    from pliant.viewer.page import Page

    with Page(session, "box", tmp_path, port=0) as page:
        root = f"127.0.0.1:{page.port}"
        own = urllib.request.urlopen(page.url)
        assert b"<html" in own.read()
        assert own.headers["X-Frame-Options"] == "DENY"
        assert own.headers["Referrer-Policy"] == "no-referrer"
        for address in (f"http://{root}/", f"http://{root}/index.html", f"http://{root}/{'a' * 22}/"):
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(address)
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(urllib.request.Request(page.url, headers={"Host": "evil.example"}))

        import viser

        socket, protocol = page.url.replace("http", "ws").rstrip("/"), [f"viser-v{viser.__version__}"]
        with connect(socket, subprotocols=protocol, origin=f"http://{root}", max_size=None) as tab:
            assert tab.recv(timeout=20)
        for address, origin in [
            (socket, "https://evil.example"),
            (f"ws://{root}", "https://evil.example"),
            (f"ws://{root}", f"http://{root}"),
            (f"ws://{root}", None),
        ]:
            with pytest.raises(InvalidStatus, match="403"), connect(address, subprotocols=protocol, origin=origin):
                pass


@pytest.mark.parametrize(
    "name", ["../out.npz", "/tmp/out.npz", "link.npz", "sub/out.npz", "a\0b.npz", "n" * 300 + ".npz", ""]
)
def test_recordings_stay_in_their_folder_and_bad_names_leave_the_session_alive(session, tmp_path, name):
    folder, outside = tmp_path / "folder", tmp_path / "outside.npz"
    (folder / "sub").mkdir(parents=True)
    (folder / "link.npz").symlink_to(outside)
    session.record(folder / name, folder, overwrite=True)
    assert session.settled().message
    assert not session.is_recording
    assert not outside.exists()
    session.step()
    assert session.settled().message == "", "it goes on"
    assert session.simulation.state.step == session.simulation.substeps


def test_nothing_is_overwritten_unless_asked(session, tmp_path):
    for there, wanted in [("run.npz", "run.npz"), ("run_00000.ply", "run.ply"), ("a.mp4.frames.npz", "a.mp4")]:
        (tmp_path / there).write_bytes(b"precious")
        session.record(tmp_path / wanted, tmp_path)
        assert "already exists" in session.settled().message
        assert (tmp_path / there).read_bytes() == b"precious"
    session.record(tmp_path / "run.npz", tmp_path, overwrite=True)
    session.settled()
    assert session.is_recording
    session.stop_recording()
    session.settled()
    assert (tmp_path / "run.npz").read_bytes() != b"precious"
