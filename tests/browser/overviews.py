"""The overview, as tests find their way in it."""

from __future__ import annotations

from playwright.sync_api import Locator, Page


def card(page: Page, room: str) -> Locator:
    return page.get_by_role("region", name=room)


def open_questions(page: Page, words: str) -> Locator:
    """The rows of those that have these words."""
    rows = page.get_by_role("region", name="Open questions").get_by_role("listitem")
    return rows.filter(has_text=words)
