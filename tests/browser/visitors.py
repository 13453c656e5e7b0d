"""People with a browser, and what is kept of what they saw."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page

import coordrooms
from coordrooms.calls import Call
from tests.acceptance.daemons import Daemon
from tests.browser.chromium import ARTEFACTS
from tests.daemon_processes import WITHOUT_LIMITS
from tests.polling import GIVE_UP_AFTER_S, block_until

DESKTOP, PHONE = (1280, 800), (360, 740)
THEMES = ("light", "dark")
WIDTHS = {"desktop": DESKTOP, "phone": PHONE}

# WCAG 2.2, levels A and AA, and what axe recommends beside.
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


class House(Daemon):
    """A daemon without limits and without a TCP listener, and those who come there.

    `people` have a token, kept in `home` as `coordrooms me` keeps it.
    """

    def __init__(self, home: Path) -> None:
        super().__init__()
        self.home = home
        config = self.state_dir / "config.toml"
        config.write_text(WITHOUT_LIMITS)
        self.options = ["--config", str(config)]
        self._people: set[str] = set()

    def command(self, *arguments: str) -> str:
        """What a command of the person's at the keyboard prints."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        done = subprocess.run(
            [sys.executable, "-m", "coordrooms", *arguments],
            env=kept | {"HOME": str(self.home), "COORDROOMS_URL": self.url},
            capture_output=True,
            text=True,
            timeout=GIVE_UP_AFTER_S,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def token_file(self, name: str, *options: str) -> str:
        """Enrols whoever is not yet."""
        return str(json.loads(self.command("me", name, *options, "--json"))["token_file"])

    def link(self, name: str, *options: str) -> str:
        """A one-time link for a person, who is enrolled on the first."""
        if name not in self._people:
            self.command("me", name, *options)
            self._people.add(name)
        return self.command("dashboard", "--print", "--as", name).strip()

    def revoke(self, name: str) -> None:
        """As the operator: end the person's token, and with it every session."""
        with coordrooms.Client(url=self.url) as operator:
            operator.run(
                Call("DELETE", f"/participants/{name}/tokens", parse=lambda data: data["revoked"])
            )

    def streams(self) -> int:
        """How many are open at the daemon, by its own count."""
        connection = http.client.HTTPConnection("localhost")
        with socket.socket(socket.AF_UNIX) as connection.sock:
            connection.sock.settimeout(GIVE_UP_AFTER_S)
            connection.sock.connect(str(self.socket))
            connection.request("GET", "/metrics")
            text = connection.getresponse().read().decode()
        [line] = [line for line in text.splitlines() if line.startswith("coordrooms_streams ")]
        return int(float(line.split()[1]))

    def until_streams(self, wanted: int) -> None:
        """One that was left ends when the daemon hears of it."""
        block_until(lambda: self.streams() == wanted)

    def agent(self, name: str) -> coordrooms.Client:
        return coordrooms.Client(name, url=self.url)

    def person(self, name: str) -> coordrooms.Client:
        """The same person without a browser."""
        return coordrooms.Client(name, url=self.url, token_file=self.token_file(name))


class Visitor:
    """A person's browser: nothing of it goes elsewhere, and nothing in it goes wrong unnoticed."""

    def __init__(self, context: BrowserContext, house: House, name: str) -> None:
        self.context = context
        self.house = house
        self.name = name
        self.faults: list[str] = []
        self.foreign: list[str] = []
        context.on("weberror", lambda error: self.faults.append(str(error.error)))
        context.on("console", self._noted)
        context.on("request", self._sent)
        self.page = context.new_page()
        self.origin = ""

    def sign_in(self, *options: str) -> Page:
        link = self.house.link(self.name, *options)
        self.origin = "{0.scheme}://{0.netloc}".format(urlsplit(link))
        self.page.goto(link)
        self.page.get_by_role("button", name="Sign out").wait_for()
        return self.page

    def visit(self, path: str) -> Page:
        self.page.goto(self.origin + path)
        return self.page

    def _noted(self, message: Any) -> None:
        # The browser itself reports refused and failed requests; the page shows what matters.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.faults.append(message.text)

    def _sent(self, request: Any) -> None:
        if self.origin and not request.url.startswith((self.origin, "data:", "blob:")):
            self.foreign.append(request.url)

    def check(self) -> None:
        assert self.faults == []
        assert self.foreign == [], "a request left the daemon"


@contextmanager
def visiting(
    browser: Browser,
    house: House,
    name: str,
    size: tuple[int, int] = DESKTOP,
    theme: str = "light",
) -> Iterator[Visitor]:
    """A person with a fresh browser profile, whose page had no fault at the end."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if theme == "dark" else "light",
        has_touch=size == PHONE,
    )
    context.set_default_timeout(GIVE_UP_AFTER_S * 1000)
    try:
        visitor = Visitor(context, house, name)
        yield visitor
        visitor.check()
    finally:
        context.close()


def keep(page: Page, name: str) -> None:
    """A screenshot, to be looked at."""
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png")


def violations(page: Page) -> list[str]:
    """What axe-core finds, one line each with the elements concerned."""
    found = Axe().run(page, options={"runOnly": {"type": "tag", "values": STANDARDS}}).response
    return [
        f"{one['id']}: {one['help']}: " + "; ".join(node["html"][:200] for node in one["nodes"][:3])
        for one in found["violations"]
    ]


def is_wider_than_the_screen(page: Page) -> bool:
    return bool(
        page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    )
