"""What peers write stays text: in bodies, names, statuses, keys, quotes and findings."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.hostile import BODIES, LINES, MADE_OF_WORDS, MANY_LINES, ONE_LINE
from tests.browser.rooms import agents_in, dialog, enter, messages, resize, row
from tests.browser.visitors import (
    WIDTHS,
    House,
    is_wider_than_the_screen,
    keep,
    violations,
)

Unique = Callable[[str], str]

# Controls but for line ends and tabs, zero-width signs, and those that turn the writing direction.
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
)


def check(page: Page) -> None:
    """Nothing became markup, nothing ran, nothing hides, nothing sticks out."""
    assert page.locator(MADE_OF_WORDS).count() == 0
    assert page.evaluate("window.ran") is None
    assert not HIDDEN.search(page.locator("main").inner_text())
    assert not is_wider_than_the_screen(page)
    assert sticking_out(page) == []
    links = page.eval_on_selector_all(
        "main a", "links => links.map(a => [a.protocol, a.origin === location.origin, a.rel])"
    )
    for protocol, is_ours, rel in links:
        assert protocol in ("http:", "https:")
        assert is_ours or "noopener" in rel


def sticking_out(page: Page) -> list[str]:
    """Rows and parts of the panel that reach beyond what holds them."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll(".row, .row > *, .panel li, .panel li > *")]
            .filter((node) => node.checkVisibility())
            .filter((node) => {
                const inner = node.getBoundingClientRect();
                const outer = node.parentElement.getBoundingClientRect();
                return inner.right > outer.right + 1 || inner.left < outer.left - 1;
            })
            .map((node) => `${node.className}: ${node.textContent.slice(0, 60)}`)"""
    )
    return found


def test_bodies_are_shown_as_they_are(visit: Visit, house: House, unique: Unique) -> None:
    name = unique("hostile")
    with agents_in(house, name, "claude") as (claude,), visit("ann") as ann:
        ann.sign_in()
        page = ann.visit(f"/page/rooms/{name}")
        expect(page.get_by_text("live", exact=True)).to_be_visible()
        page.on("dialog", lambda opened: ann.faults.append(opened.message))
        # Half of them come as events, half as history; both ways are drawn alike.
        seqs = [claude.post(body, kind="status").message.seq for body in BODIES]
        for _ in range(2):
            expect(row(page, seqs[-1])).to_be_visible()
            shown = [row(page, seq).locator(".prose").text_content() for seq in seqs]
            assert shown == list(BODIES.values())
            check(page)
            page.reload()
        resize(page, WIDTHS["phone"])
        check(page)
        keep(page, "hostile-room-phone")


@pytest.mark.parametrize("body", [ONE_LINE, MANY_LINES], ids=["one-line", "many-lines"])
def test_a_huge_body_is_cut_until_it_is_asked_for(
    visit: Visit, house: House, unique: Unique, body: str
) -> None:
    name = unique("huge")
    with agents_in(house, name, "claude") as (claude,), visit("ann") as ann:
        seq = claude.post(body, kind="question").message.seq
        claude.answer(seq, body)
        ann.sign_in()
        for width in WIDTHS.values():
            page = ann.page
            resize(page, width)
            page = ann.visit(f"/page/rooms/{name}/{seq}")
            words = row(page, seq).locator(".prose")
            expect(words).to_be_visible()
            assert len(words.text_content() or "") < 3000
            check(page)
            assert violations(page) == []
            row(page, seq).get_by_role("button", name="Show all").click()
            expect(row(page, seq).get_by_role("button", name="Show less")).to_be_visible()
            assert len(words.text_content() or "") >= len(body.rstrip())
            check(page)


def test_names_statuses_and_keys_are_lines_of_text(
    visit: Visit, house: House, unique: Unique
) -> None:
    name = f"{unique('hostile')} <img src=x onerror='window.ran = 1'> {'W' * 60}"
    with visit("ann", size=WIDTHS["desktop"]) as ann:
        agents = [house.agent(line) for line in LINES]
        seats = [enter(agent, name) for agent in agents]
        for seat, line in zip(seats, LINES, strict=True):
            seat.set_status(line, expires_in_s=900)
            seat.take(line)
            asked = seat.post(f"⟦x⟧ needle {line}", kind="question").message.seq
        for seat in seats[:-1]:
            seat.react(asked, "agree")
        seats[0].answer(asked, "<b>needle</b>")
        ann.sign_in("--operator")
        slug = seats[0].overview().room.slug
        page = ann.visit(f"/page/rooms/{slug}")
        page.on("dialog", lambda opened: ann.faults.append(opened.message))
        expect(messages(page)).to_have_count(len(LINES) + 1)
        for width, size in WIDTHS.items():
            resize(page, size)
            expect(page.get_by_role("button", name="Newest")).to_be_hidden()
            if width == "phone":
                page.get_by_role("button", name="People", exact=True).click()
            expect(page.locator(".claims .claim")).to_have_count(len(LINES))
            check(page)
            assert violations(page) == []
            keep(page, f"hostile-names-{width}")
            page.keyboard.press("Escape")
            page.keyboard.press("f")
            check(page)
            page.keyboard.press("f")
            row(page, asked).focus()
            page.keyboard.press("e")
            expect(dialog(page).locator(".names .name")).to_have_count(len(LINES) - 1)
            check(page)
            page.keyboard.press("Escape")
            row(page, asked).focus()
            page.keyboard.press("i")
            expect(dialog(page).get_by_role("listitem").first).to_be_visible()
            check(page)
            page.keyboard.press("Escape")
            page.locator("body").press("/")
            page.keyboard.type("needle")
            expect(dialog(page).get_by_role("listitem")).to_have_count(len(LINES) + 1)
            first = dialog(page).get_by_role("listitem").last
            expect(first.locator(".snippet")).to_have_text(f"⟦x⟧ needle {LINES[0]}")
            expect(first.locator("mark")).to_have_text("needle")
            check(page)
            keep(page, f"hostile-search-{width}")
            page.keyboard.press("Escape")
        for agent in agents:
            agent.close()
