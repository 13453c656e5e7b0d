"""A room of 100,000 messages, and a page that is open while 10,000 more are said."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

import pytest
from playwright.sync_api import CDPSession, Locator, Page, expect

import coordrooms
from tests.browser.conftest import Visit
from tests.browser.rooms import agents_in, enter, row, seqs
from tests.browser.visitors import House
from tests.figures import report

MESSAGES: Final = 100_000
LIVE: Final = 10_000
# What the daemon takes in one call.
AT_ONCE: Final = 100
# What the page keeps of a room, however long it is.
MOST_ROWS: Final = 300


def fill(room: coordrooms.Room, number: int, words: str) -> int:
    """Say so many things; the number of the last."""
    for first in range(0, number, AT_ONCE):
        said = [
            {"kind": "status", "body": f"{words} {one}"} for one in range(first, first + AT_ONCE)
        ]
        last = room.post_many(said).messages[-1].seq
    return last


@pytest.fixture(scope="module")
def long_room(house: House) -> Iterator[coordrooms.Room]:
    with house.agent("claude") as claude:
        room = enter(claude, "long")
        fill(room, MESSAGES, "A line of what was said, long ago")
        yield room


def head(room: coordrooms.Room) -> int:
    return room.overview().room.latest_seq


def is_whole(shown: list[int]) -> bool:
    return all(after == before + 1 for before, after in pairwise(shown))


def scroll_to(page: Page, place: str) -> None:
    page.locator(".transcript").evaluate(f"node => {{ node.scrollTop = {place}; }}")


def top_of(one: Locator) -> float:
    return float(one.evaluate("node => node.getBoundingClientRect().top"))


def test_it_opens_at_its_end(visit: Visit, long_room: coordrooms.Room) -> None:
    last = head(long_room)
    with visit("ann") as ann:
        ann.sign_in()
        asked: list[str] = []
        ann.page.on("request", lambda request: asked.append(request.url))
        began = time.monotonic()
        ann.page.goto(f"{ann.origin}/page/rooms/long", wait_until="commit")
        ann.page.wait_for_selector(f".transcript .row[data-seq='{last}']")
        report(f"first view of a room of {MESSAGES:,} messages", time.monotonic() - began)
        shown = seqs(ann.page)
        assert shown[-1] == last
        assert is_whole(shown)
        assert len(shown) <= MOST_ROWS
        # The room, its newest pages, what is open, and the stream: no more for being long.
        assert sum("/api/" in url for url in asked) < 15


def test_it_is_scrolled_back_in_pages(visit: Visit, long_room: coordrooms.Room) -> None:
    """What one reads stays where it is, what is shown has no gap and does not grow."""
    last = head(long_room)
    with visit("ann") as ann:
        ann.sign_in()
        page = ann.visit("/page/rooms/long")
        expect(row(page, last)).to_be_visible()
        for _ in range(8):
            first = seqs(page)[0]
            began = time.monotonic()
            scroll_to(page, "0")
            page.wait_for_selector(f".transcript .row[data-seq='{first - 1}']", state="attached")
            report("a page further back", time.monotonic() - began)
            # The row that was the uppermost is still there, at the upper edge.
            assert abs(top_of(row(page, first)) - top_of(page.locator(".transcript"))) < 60
            shown = seqs(page)
            assert is_whole(shown)
            assert len(shown) <= MOST_ROWS
        for _ in range(3):
            end = seqs(page)[-1]
            scroll_to(page, "node.scrollHeight")
            page.wait_for_selector(f".transcript .row[data-seq='{end + 1}']", state="attached")
            assert is_whole(seqs(page))

        page.keyboard.press("g")
        page.keyboard.type("50000")
        page.keyboard.press("Enter")
        expect(page.locator(".row:focus")).to_have_attribute("data-seq", "50000")
        assert is_whole(seqs(page))
        page.get_by_role("button", name="Newest").click()
        expect(row(page, last)).to_be_visible()
        page.goto(f"{ann.origin}/page/rooms/long/2")
        expect(page.locator(".row:focus")).to_have_attribute("data-seq", "2")
        scroll_to(page, "0")
        expect(page.get_by_text("The room begins here")).to_be_visible()


class Tab:
    """What a tab holds after its garbage is gone."""

    def __init__(self, page: Page) -> None:
        self._session: CDPSession = page.context.new_cdp_session(page)
        self._session.send("Performance.enable")

    def holds(self, what: str) -> float:
        self._session.send("HeapProfiler.collectGarbage")
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in metrics if one["name"] == what))


def test_memory_is_flat_over_live_events(
    visit: Visit, house: House, unique: Callable[[str], str]
) -> None:
    name = unique("busy")
    with agents_in(house, name, "codex") as (codex,), visit("ann") as ann:
        ann.sign_in()
        page = ann.visit(f"/page/rooms/{name}")
        expect(page.get_by_text("live", exact=True)).to_be_visible()
        tab = Tab(page)
        # So long that what is kept of them by mistake is seen: 10 MB in all.
        words = "A line of what is said. " * 40
        last = fill(codex, 10 * AT_ONCE, words)
        expect(row(page, last)).to_be_visible()
        nodes, heap = tab.holds("Nodes"), tab.holds("JSHeapUsedSize")
        last = fill(codex, LIVE, words)
        expect(row(page, last)).to_be_visible()
        shown = seqs(page)
        assert is_whole(shown)
        assert len(shown) <= MOST_ROWS
        grown = tab.holds("JSHeapUsedSize") - heap
        report(f"growth of a tab over {LIVE:,} live messages", grown / 1e6, "MB")
        assert tab.holds("Nodes") < nodes * 1.2
        assert grown < 3e6
