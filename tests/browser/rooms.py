"""A room's view, as tests find their way in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from playwright.sync_api import Locator, Page, expect

import coordrooms
from tests.browser.visitors import House


@contextmanager
def agents_in(house: House, room: str, *names: str) -> Iterator[list[coordrooms.Room]]:
    """Agents that are in a room, which the first of them makes; each with its own handle on it."""
    with ExitStack() as stack:
        clients = [stack.enter_context(house.agent(name)) for name in names]
        yield [enter(client, room) for client in clients]


def enter(client: coordrooms.Client, room: str) -> coordrooms.Room:
    """Into a room, which is made if need be, out of the room of the test before."""
    active = client.me().active_room
    if active is not None:
        client.room(active.id).leave()
    return client.join(room, create=True)


def row(page: Page, seq: int) -> Locator:
    return page.locator(f".transcript .row[data-seq='{seq}']")


def messages(page: Page) -> Locator:
    return page.locator(".transcript .message")


def field(page: Page) -> Locator:
    return page.get_by_label("Message", exact=True)


def write(page: Page, body: str) -> None:
    field(page).fill(body)
    page.keyboard.press("Enter")
    expect(field(page)).to_have_value("")


def dialog(page: Page) -> Locator:
    return page.locator("dialog[open]")


def seqs(page: Page) -> list[int]:
    """The numbers of the rows on the page, from above."""
    found: list[int] = page.eval_on_selector_all(
        ".transcript .row", "rows => rows.map(row => Number(row.dataset.seq))"
    )
    return found


def looked_at(page: Page) -> int:
    """How far the browser keeps that one has looked; it has been in one room."""
    found: int = page.evaluate(
        """Math.max(0, ...Object.keys(localStorage)
            .filter((key) => key.startsWith("coordrooms:seen:"))
            .map((key) => Number(localStorage.getItem(key))))"""
    )
    return found


def resize(page: Page, size: tuple[int, int]) -> None:
    width, height = size
    page.set_viewport_size({"width": width, "height": height})
