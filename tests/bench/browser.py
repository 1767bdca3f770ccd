"""Drives Chromium without a window, by the DevTools protocol over a pipe, without a driver or a port."""
import base64
import json
import os
import pathlib
import select
import subprocess
import tempfile
import time


class Browser:
    """One page at a time. `complaints`: messages and errors on the console. `requests`: all requested
    addresses."""

    def __init__(self, program):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # Chromium reads from 3 and writes to 4, which this process may already use.
        shell = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["sh", "-c", shell, program, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--remote-debugging-pipe", "--no-first-run",
             f"--user-data-dir={self._folder.name}", "--hide-scrollbars", "about:blank"],
            pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._received = b""
        self._last = 0
        self._session = None
        self._loaded = False
        self._scripts = True
        self.complaints, self.requests = [], []
        [page] = [one for one in self.call("Target.getTargets")["targetInfos"]
                  if one["type"] == "page"]
        self._session = self.call("Target.attachToTarget", targetId=page["targetId"],
                                  flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._session = None
        try:
            self.call("Browser.close")
            self._process.wait(timeout=10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)
        self._folder.cleanup()

    def _message(self, deadline):
        while b"\0" not in self._received:
            ready, _, _ = select.select([self._in], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self._in, 1 << 20) if ready else b""
            if not part:
                raise RuntimeError("the browser " + ("ended" if ready else "does not answer"))
            self._received += part
        text, _, self._received = self._received.partition(b"\0")
        return json.loads(text)

    def _note(self, message):
        method, what = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(what["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(json.dumps(what["args"]))
        elif method == "Log.entryAdded":
            self.complaints.append(what["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])

    def call(self, method, **parameters):
        self._last += 1
        number = self._last
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data):]
        deadline = time.monotonic() + 60
        while True:
            answer = self._message(deadline)
            self._note(answer)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, page, mark=""):
        """Loads a file from disk again, with `mark` after # in the address."""
        self._go("about:blank")  # otherwise another mark would not load the page
        self.complaints, self.requests = [], []
        self._go(pathlib.Path(page).as_uri() + (f"#{mark}" if mark else ""))
        self.drawn()

    def _go(self, url):
        self._loaded = False
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + 60
        while not self._loaded:
            self._note(self._message(deadline))

    def drawn(self):
        """Waits until pending changes are on the screen."""
        if not self._scripts:
            return  # no script would call back
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def run(self, script):
        """Returns the value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {json.dumps(answer['exceptionDetails'])}")
        return answer["result"].get("value")

    def resize(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.drawn()

    def prefer(self, theme):
        """Sets the theme of the system, "light" or "dark"."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": theme}])

    def scripts(self, allowed):
        """Sets whether pages opened from now on may run scripts."""
        self._scripts = allowed
        self.call("Emulation.setScriptExecutionDisabled", value=not allowed)

    def key(self, name, code):
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                      windowsVirtualKeyCode=code)
        self.drawn()

    def shot(self, path, whole=True):
        """Writes a screenshot of the whole page, or of the part that fits the screen."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        pathlib.Path(path).write_bytes(base64.b64decode(answer["data"]))
