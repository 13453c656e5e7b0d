"""A room with something of everything, in both themes and widths."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

import coordrooms
from tests.browser.conftest import Visit
from tests.browser.rooms import agents_in, dialog, enter, messages, row
from tests.browser.visitors import (
    PHONE,
    THEMES,
    WIDTHS,
    House,
    is_wider_than_the_screen,
    keep,
    violations,
)

Unique = Callable[[str], str]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("theme", THEMES)
def test_it_is_readable_everywhere(
    visit: Visit, house: House, unique: Unique, theme: str, width: str
) -> None:
    name = unique("kitchen")
    with (
        agents_in(house, name, "claude", "codex", "gemini") as rooms,
        visit("ann", size=WIDTHS[width], theme=theme) as ann,
        house.person("ann") as herself,
    ):
        decided = furnish(enter(herself, name), *rooms)
        ann.sign_in()
        page = ann.visit(f"/page/rooms/{name}")
        expect(page.get_by_text("live", exact=True)).to_be_visible()
        expect(messages(page).last).to_contain_text("May I merge")
        expect(page.locator(".open-questions")).to_contain_text("May I merge")
        # Rows that grew meanwhile, by what one can answer, have not pushed the end away.
        expect(page.get_by_role("button", name="Newest")).to_be_hidden()
        look(page, f"room-{theme}-{width}")
        if WIDTHS[width] == PHONE:
            page.get_by_role("button", name="People", exact=True).click()
            expect(page.get_by_role("complementary")).to_be_visible()
            look(page, f"room-{theme}-{width}-people")
            page.get_by_role("button", name="People", exact=True).click()
            expect(page.get_by_role("complementary")).to_be_hidden()
        page.get_by_role("button", name="Filter").click()
        look(page, f"room-{theme}-{width}-filters")
        page.get_by_role("button", name="Filter").click()
        page.get_by_role("button", name=re.compile("^agree")).first.click()
        expect(dialog(page).get_by_text("gemini").first).to_be_visible()
        look(page, f"room-{theme}-{width}-reactions")
        page.keyboard.press("Escape")
        row(page, decided).focus()
        page.keyboard.press("i")
        expect(dialog(page).get_by_role("listitem").first).to_be_visible()
        look(page, f"room-{theme}-{width}-delivery")
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        look(page, f"room-{theme}-{width}-keys")
        page.keyboard.press("Escape")
        page.locator("body").press("/")
        page.keyboard.type("kettle")
        expect(dialog(page).locator("mark").first).to_be_visible()
        look(page, f"room-{theme}-{width}-search")
        page.keyboard.press("Escape")
        page.goto(f"{ann.origin}/page/rooms/{name}/4000")
        expect(page.get_by_role("alert").filter(has_text="#4000 is not shown")).to_be_visible()
        look(page, f"room-{theme}-{width}-refusal")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("theme", THEMES)
def test_a_conversation_is_readable_everywhere(
    visit: Visit, house: House, unique: Unique, theme: str, width: str
) -> None:
    with (
        agents_in(house, unique("kitchen"), "claude", "codex") as (claude, _),
        visit("olga", size=WIDTHS[width], theme=theme) as olga,
    ):
        olga.sign_in("--operator")
        own, other = (
            claude.client.open_conversation("olga"),
            claude.client.open_conversation("codex"),
        )
        asked = own.send("The tests are red. Shall I go on?", kind="question").message
        own.send("I look for the reason meanwhile.", kind="progress", reply_to=asked.seq)
        other.send("Your half breaks mine.", kind="note")
        page = olga.visit(f"/page/conversations/{own.ref}")
        expect(page.locator(".message.progress .quote").last).to_contain_text("tests are red")
        # Who asked goes on, which answers nothing.
        expect(page.locator(".open-questions")).to_contain_text("Shall I go on?")
        look(page, f"conversation-{theme}-{width}")
        page = olga.visit(f"/page/conversations/{other.ref}")
        expect(messages(page).last).to_contain_text("breaks mine")
        look(page, f"conversation-{theme}-{width}-as-operator")


def look(page: Page, name: str) -> None:
    assert violations(page) == []
    assert not is_wider_than_the_screen(page)
    keep(page, name)


def furnish(
    ann: coordrooms.Room,
    claude: coordrooms.Room,
    codex: coordrooms.Room,
    gemini: coordrooms.Room,
) -> int:
    """A room with something of everything; the number of the decision in it."""
    units = "Should the API return `millis` or seconds? See https://example.org/units."
    asked = codex.post(units, "question").message.seq
    claude.answer(asked, "Millis: the driver already speaks them.")
    claude.set_status("reading the diff of the kettle driver", expires_in_s=600)
    claude.post("The staging kettle is down until 14:00.", kind="warning")
    decided = claude.post(
        "The API speaks milliseconds:\n```python\ndef boil(timeout_ms: int) -> None: ...\n```\n"
        "Everything else stays as it is, see #5.",
        kind="decision",
    ).message.seq
    for who in (codex, gemini, ann):
        who.react(decided, "agree")
    gemini.react(decided, "ack")
    claude.take("the-kettle-driver")
    gemini.take("docs/kettle.md", lease_s=600)
    ann.take("the-release-notes")
    ann.post("Thank you all. I look at it after lunch.")
    codex.post("The client half is done; handing over to gemini.")
    gemini.post("ann, the docs are not reviewed yet. May I merge?", "question")
    return decided
