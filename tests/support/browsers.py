"""Pages in Chromium: what a test module of pages needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

import programs
from waiting import HANG_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = programs.CHROMIUM.find_anywhere()
NEEDS_CHROMIUM = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None, reason=f"no chromium on this machine: {programs.CHROMIUM.hint}"
    ),
]


@contextmanager
def chromium() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright  # a tenth of all imports of a collection

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(browser: Browser, address: str, **how: object) -> tuple[Page, list[str], list[str]]:
    """The page, the messages of its console, and the requests it made."""
    page = browser.new_page(**how)  # type: ignore[arg-type]
    page.set_default_timeout(HANG_S * 1000)
    messages: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(address)
    return page, messages, requests
