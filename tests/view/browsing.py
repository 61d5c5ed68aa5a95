"""Debian's chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

ARTEFACTS = Path(__file__).parents[2] / "artefacts"
"""Screenshots of the last test run, to be looked at; not in git."""

_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def launched() -> Iterator[Browser]:
    """One at a time in a process, and never left open: its event loop would be in the way of other tests."""
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("no Chromium on this machine (make browser)")
    expect.set_options(timeout=30_000)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=list(_FLAGS))
        yield chromium
        chromium.close()


@contextmanager
def window(
    chromium: Browser, width: int = 1400, *, dark: bool = False, offline: bool = False
) -> Iterator[BrowserContext]:
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", offline=offline
    )
    context.set_default_timeout(30_000)
    yield context
    context.close()


class Watch:
    """Faults of a page: errors, console messages, requests to other sites."""

    def __init__(self, page: Page, home: str) -> None:
        self.troubles: list[str] = []
        page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        page.on("console", lambda line: self.troubles.append(line.text) if line.type == "error" else None)
        page.on("dialog", lambda dialog: self.troubles.append("a dialog opened"))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((home, "data:", f"blob:{home}"))
                else self.troubles.append(f"asked for {request.url[:120]}")
            ),
        )


def keep(page: Page, name: str) -> None:
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png", full_page=True)
