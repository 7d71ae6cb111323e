"""A headless Chromium on a leash: the DevTools protocol over a pipe, in the standard library.

Messages are JSON ended by a zero byte; the browser reads file descriptor 3 and writes 4.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SECONDS = 60.0


def installed() -> str | None:
    """Return the path of an installed browser; DPAUDIT_BROWSER names another one."""
    given = os.environ.get("DPAUDIT_BROWSER")
    return given or next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One tab; every event since the last `open` is kept in `events`."""

    def __init__(self, path: str) -> None:
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        down, up = os.pipe(), os.pipe()

        def connect() -> None:
            # first out of the way, in case a pipe has number 3 or 4 already
            read, write = os.dup(down[0]), os.dup(up[1])
            os.dup2(read, 3)
            os.dup2(write, 4)

        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--remote-debugging-pipe",
            f"--user-data-dir={self.profile.name}",
            "about:blank",
        ]
        self.process = subprocess.Popen(
            [path, *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=connect,
        )
        os.close(down[0])
        os.close(up[1])
        self.write, self.read = down[1], up[0]
        self.pending = b""
        self.number = 0
        self.session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def receive(self, seconds: float = SECONDS) -> dict[str, Any]:
        """Return the next message."""
        until = time.monotonic() + seconds
        while b"\0" not in self.pending:
            ready, _, _ = select.select([self.read], [], [], max(0.0, until - time.monotonic()))
            part = os.read(self.read, 1 << 16) if ready else b""
            if not part:
                raise TimeoutError("the browser says nothing")
            self.pending += part
        line, _, self.pending = self.pending.partition(b"\0")
        return json.loads(line)

    def wait(self, method: str) -> None:
        """Return once an event has come."""
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.receive())

    def show(self, width: int, height: int, scheme: str) -> None:
        """Set the size of the window and light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def open(self, page: Path) -> None:
        """Load a page and wait until it is there."""
        self.events.clear()
        answer = self.call("Page.navigate", url=page.resolve().as_uri())
        if "errorText" in answer:
            raise RuntimeError(f"{page}: {answer['errorText']}")
        self.wait("Page.loadEventFired")

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return answer["result"].get("value")

    def picture(self, path: Path) -> None:
        """Save the whole page as PNG."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def complaints(self) -> list[str]:
        """Return console errors, exceptions and log entries since the page was opened."""
        self.evaluate("0")
        bad = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [json.dumps(e["params"])[:400] for e in self.events if e.get("method") in bad]

    def requests(self) -> list[str]:
        """Return the addresses that were asked for since the page was opened, data: left out."""
        sent = [e for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        urls = [event["params"]["request"]["url"] for event in sent]
        return [url for url in urls if not url.startswith("data:")]

    def close(self) -> None:
        """End the browser."""
        self.process.terminate()
        self.process.wait(SECONDS)
        os.close(self.write)
        os.close(self.read)
        self.profile.cleanup()
