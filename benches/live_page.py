"""What the live page costs: the CPU time of its server while a run is watched by a bare HTTP
client, and beside it that of a browser, which shows the charts.

    .venv/bin/python -m benches live_page
"""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import psutil

_ASSAY = (sys.executable, "-m", "assay")
_SETTLED_S = 3.0
"""Behind the first charts: what is done once has been done."""


def main(seconds: int = 60) -> None:
    """Prints the shares of a processor: of the server read by a client, and of server and browser
    where a browser shows the page."""
    for measured in (_by_client, _by_browser):
        _watched(measured, seconds)


def _watched(measured: Callable[[str, psutil.Process, int], None], seconds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_STATE_HOME": folder}
        (Path(folder) / "one.sql").write_text("select 1;\n")
        words = ["run", "one.sql", "--on", "null[delay=constant:1ms]", "--clients", "8"]
        words += ["--offered-rate", "2000", "--duration", str(seconds), "--warm-up", "0"]
        run = subprocess.Popen(
            [*_ASSAY, *words],
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        server = subprocess.Popen(
            [*_ASSAY, "watch"], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            measured(url, psutil.Process(server.pid), seconds)
        finally:
            server.terminate()
            run.terminate()
            server.wait()
            run.wait()


def _by_client(url: str, server: psutil.Process, seconds: int) -> None:
    is_drawn = threading.Event()
    threading.Thread(target=_read, args=(url, is_drawn), daemon=True).start()
    is_drawn.wait()
    print(f"server, until the first charts: {_cpu_s([server]):.2f} s of CPU", flush=True)
    time.sleep(_SETTLED_S)
    _say("server", [server], seconds - 3 * _SETTLED_S)
    print(f"server: {server.memory_info().rss / 2**20:.0f} MB", flush=True)


def _read(url: str, is_drawn: threading.Event) -> None:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc)
    connection.request("GET", f"/events?{parts.query}")
    stream = connection.getresponse()
    while line := stream.readline():
        if line.startswith(b"event: charts"):
            is_drawn.set()


def _by_browser(url: str, _server: psutil.Process, seconds: int) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(url)
        page.wait_for_selector("figure svg", timeout=60_000)
        page.wait_for_timeout(_SETTLED_S * 1000)
        every = psutil.Process().children(recursive=True)
        own = [one for one in every if "chrom" in one.name() or "headless" in one.name()]
        _say("browser", own, seconds - 4 * _SETTLED_S)
        browser.close()


def _chromium() -> str | None:
    """Debian's, or one that Playwright has; None: as Playwright finds it."""
    kept = sorted(Path.home().glob(".cache/ms-playwright/chromium-*/chrome-linux*/chrome"))
    return shutil.which("chromium") or next((str(one) for one in kept), None)


def _say(name: str, processes: list[psutil.Process], for_s: float) -> None:
    before, began_s = _cpu_s(processes), time.monotonic()
    time.sleep(for_s)
    share = (_cpu_s(processes) - before) / (time.monotonic() - began_s)
    print(f"{name}: {share:.2%} of a processor over {for_s:g} s", flush=True)


def _cpu_s(processes: list[psutil.Process]) -> float:
    return sum(sum(one.cpu_times()[:2]) for one in processes)


if __name__ == "__main__":
    main()
