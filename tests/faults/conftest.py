import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import diskcache
import pytest

from analysis.results.store import cache_folder
from tests.browser.harness import ROOT


class Server:
    """`python app.py` as a process that can be killed and started again on the same cache."""

    def __init__(self, cache, *flags, port=None):
        self.cache, self.flags = cache, flags
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", port or 0))
            self.port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.process = None
        self.log = None  # a file for what it says, if somebody wants to read it

    def start(self):
        environment = {**os.environ, "HEAD_ATLAS_CACHE": str(self.cache)}
        command = [sys.executable, str(ROOT / "app.py"), "--port", str(self.port), "--device", "cpu", *self.flags]
        said = self.log.open("ab") if self.log else None
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True, stderr=said)
        if said:
            said.close()
        for _ in range(400):
            try:
                self.ask("/api/health")
                return self
            except urllib.error.HTTPError:  # it wants a login
                return self
            except OSError:
                time.sleep(0.1)
        raise AssertionError("the server does not answer")

    def kill(self):
        """As the kernel does when memory runs out: no chance to say goodbye."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self.kill()

    def ask(self, path, body=None, method=None, headers=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.address + path, data, {"Content-Type": "application/json", **(headers or {})}
        )
        request.method = method or ("POST" if body is not None else "GET")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())

    def status(self, path, body=None, method=None, headers=None):
        """The status code alone."""
        try:
            self.ask(path, body, method, headers)
        except urllib.error.HTTPError as error:
            return error.code
        return 200

    def wait(self, job, until=lambda job: job["state"] not in {"queued", "running"}, seconds=180):
        for _ in range(seconds * 10):
            found = self.ask(f"/api/jobs/{job['id']}")
            if until(found):
                return found
            time.sleep(0.1)
        raise AssertionError(f"still {found}")

    def units(self):
        """Every stored unit with the moment it was stored."""
        with diskcache.Cache(str(self.cache / "store")) as cache:
            rows = cache._sql("SELECT key, store_time FROM Cache WHERE key LIKE 'unit/%'").fetchall()
        return dict(rows)


@pytest.fixture
def converted(tmp_path):
    """A cache of its own that has the converted default model already."""
    cache = tmp_path / "cache"
    (cache).mkdir()
    (cache / "models").symlink_to(cache_folder() / "models")
    return cache


@pytest.fixture
def server(converted, default_checkpoint):
    made = Server(converted).start()
    yield made
    made.stop()
