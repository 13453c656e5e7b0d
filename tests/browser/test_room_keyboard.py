"""A room without a mouse, and as it is told to who does not see it."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.browser.rooms import agents_in, dialog, field, messages, row
from tests.browser.visitors import House

Unique = Callable[[str], str]

# More than there are places to stop at before the end of the page.
MOST_STOPS = 80


def tab_to(page: Page, wanted: Locator) -> None:
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        if wanted.evaluate("node => node === document.activeElement"):
            return
    raise AssertionError("Tab does not come there")


def test_everything_by_the_keyboard(visit: Visit, house: House, unique: Unique) -> None:
    name = unique("kitchen")
    with agents_in(house, name, "claude", "codex") as (claude, codex), visit("ann") as ann:
        claude.post("The oven is on.", kind="warning")
        asked = codex.post("Gas or induction?", kind="question").message.seq
        claude.post("And now?", kind="status")
        ann.sign_in()
        page = ann.visit(f"/page/rooms/{name}")
        expect(messages(page)).to_have_count(3)

        tab_to(page, page.get_by_role("log", name="Transcript"))
        page.keyboard.press("k")
        page.keyboard.press("k")
        expect(row(page, asked)).to_be_focused()
        page.keyboard.press("a")
        expect(field(page)).to_be_focused()
        page.keyboard.type("Gas.")
        page.keyboard.press("Enter")
        expect(messages(page).last).to_contain_text("Gas.")
        page.keyboard.press("Escape")
        expect(page.get_by_role("log")).to_be_focused()

        # Past the answer, and past the line that says that one has joined to give it.
        page.keyboard.press("k")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("e")
        agree = dialog(page).get_by_role("button", name="agree")
        tab_to(page, agree)
        page.keyboard.press("Enter")
        expect(agree).to_have_attribute("aria-pressed", "true")
        expect(agree).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.locator(".row:focus")).to_contain_text("And now?")

        tab_to(page, page.get_by_label("What to claim"))
        page.keyboard.type("the sink")
        page.keyboard.press("Enter")
        expect(page.locator(".claim.mine")).to_contain_text("the sink")
        release = page.get_by_role("button", name="Release the sink")
        page.keyboard.press("Shift+Tab")
        expect(release).to_be_focused()
        page.keyboard.press("Enter")
        expect(release).to_have_count(0)
        # What one was on is gone: the focus stays near it, and is not lost to the top of the page.
        expect(page.get_by_role("complementary")).to_be_focused()


def test_what_is_said_is_told_aloud(visit: Visit, house: House, unique: Unique) -> None:
    """Once, for all that comes within a few seconds; not what one says oneself."""
    name = unique("kitchen")
    with agents_in(house, name, "claude") as (claude,), visit("ann") as ann:
        ann.sign_in()
        page = ann.visit(f"/page/rooms/{name}")
        expect(page.get_by_text("live", exact=True)).to_be_visible()
        told = page.locator(".room-view [role=status][aria-live=polite]").last
        claude.post("The soup is ready.", kind="status")
        expect(told).to_have_text("claude, status: The soup is ready.")
        claude.post_many(
            [
                {"kind": "question", "body": "Bread, too?"},
                {"kind": "status", "body": "I cut some."},
            ]
        )
        expect(told).to_have_text(
            "2 new messages, 1 of them a question. The last: claude, status: I cut some."
        )
        titles = page.get_by_role("article", name="question by claude, number")
        expect(titles).to_have_count(1)
