"""Debian's chromium, headless, steered by its devtools protocol."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import numpy as np

WIDTH, HEIGHT = 1000, 700
PROGRAM = shutil.which("chromium")
#: Two ways to draw without a graphics card. The page's parts are put together by the CPU in both, as there is no reason
#: to ask an emulated card for that.
BY_CPU = ("--use-gl=angle", "--ignore-gpu-blocklist", "--disable-gpu-compositing")
SWIFTSHADER = (*BY_CPU, "--use-angle=swiftshader", "--enable-unsafe-swiftshader")  # comes with chromium
LLVMPIPE = (*BY_CPU, "--use-angle=gl-egl", "--webgl-msaa-sample-count=0")  # Mesa's, without multisampling


class Chromium:
    """A browser with one page. Use it as a context manager."""

    def __init__(
        self,
        url: str,
        size: tuple[int, int] = (WIDTH, HEIGHT),
        first_script: str = "",
        graphics: tuple[str, ...] = SWIFTSHADER,
    ):
        """size: of the page [pixels]; first_script: JavaScript that runs before the page's own; graphics: switches."""
        from websockets.sync.client import connect

        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command = [str(PROGRAM), "--headless=new", "--no-sandbox", "--remote-debugging-port=0", *graphics]
        command += [f"--user-data-dir={self._folder.name}", f"--window-size={size[0]},{size[1]}", "about:blank"]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
        port = next(found[1] for line in self._process.stderr if (found := re.search(r"127\.0\.0\.1:(\d+)/", line)))
        pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json"))
        address = next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page")
        self._socket = connect(address, max_size=None)
        self._number = 0
        self.call("Page.enable")
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **metrics)
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)  # viser reconnects the tab that is looked at
        if first_script:
            self.call("Page.addScriptToEvaluateOnNewDocument", source=first_script)
        self.call("Page.navigate", url=url)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._folder.cleanup()

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """All processes of the browser stand still, the one that holds its connections too."""
        os.killpg(self._process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(self._process.pid, signal.SIGCONT)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command of the protocol and its answer."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv(timeout=60))
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression."""
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def wait_for(self, script: str, seconds: float = 60.0) -> None:
        """Until an expression is true."""
        until = time.monotonic() + seconds
        while not self.evaluate(script):
            assert time.monotonic() < until, f"never true: {script}"
            time.sleep(0.2)

    def screenshot(self, path: str | None = None) -> np.ndarray:
        """(rows, columns, 3) uint8."""
        from PIL import Image

        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        image = Image.open(io.BytesIO(data)).convert("RGB")
        if path:
            image.save(path)
        return np.asarray(image)

    def mouse(self, kind: str, x: float, y: float) -> None:
        """mousePressed, mouseMoved or mouseReleased at a pixel."""
        pressed = {"button": "left", "buttons": 1, "clickCount": 1} if kind != "mouseReleased" else {"button": "left"}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **pressed)

    def click(self, x: float, y: float) -> None:
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.mouse("mousePressed", x, y)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", clickCount=1)

    def press_button(self, label: str) -> None:
        """Click on a button of the panel."""
        find = f"[...document.querySelectorAll('button')].find(b => b.innerText.trim() == '{label}')"
        self.wait_for(f"!!({find})")
        self.evaluate(f"({find}).click()")
