"""What is being written outlives reloads and restarts, and is said once."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Browser, Route, expect

import coordrooms
from tests.browser.conftest import Visit
from tests.browser.rooms import agents_in, field, messages, row, write
from tests.browser.visitors import House, visiting

Unique = Callable[[str], str]


def bodies(room: coordrooms.Room) -> list[str]:
    return [message.body for message in room.history(limit=1000).messages]


def test_a_draft_survives_a_reload(visit: Visit, house: House, unique: Unique) -> None:
    name, other = unique("kitchen"), unique("garden")
    with (
        agents_in(house, name, "claude") as (claude,),
        agents_in(house, other, "codex"),
        visit("ann") as ann,
    ):
        ann.sign_in()
        page = ann.visit(f"/page/rooms/{name}")
        page.get_by_label("Kind of message").select_option("question")
        field(page).fill("Who has the\nkeys?")
        page.reload()
        expect(field(page)).to_have_value("Who has the\nkeys?")
        expect(page.get_by_label("Kind of message")).to_have_value("question")
        page = ann.visit(f"/page/rooms/{other}")
        expect(field(page)).to_have_value("")
        page = ann.visit(f"/page/rooms/{name}")
        field(page).press("Enter")
        expect(messages(page)).to_contain_text("Who has the\nkeys?")
        page.reload()
        expect(messages(page)).to_have_count(1)
        expect(field(page)).to_have_value("")

        asked = claude.post("Which keys?", kind="question").message.seq
        row(page, asked).get_by_role("button", name="Write an answer").click()
        field(page).fill("The cellar's.")
        page.reload()
        expect(page.locator(".replying")).to_contain_text("Which keys?")
        field(page).press("Enter")
        expect(page.locator(".message.answer .quote")).to_contain_text("Which keys?")


def test_a_lost_answer_does_not_repeat_what_was_said(
    visit: Visit, house: House, unique: Unique
) -> None:
    """The daemon has stored it, and the page does not know: it tries again under the same key."""
    name = unique("kitchen")
    with agents_in(house, name, "claude") as (claude,), visit("ann") as ann:
        ann.sign_in()
        page = ann.visit(f"/page/rooms/{name}")
        write(page, "First")
        lost: list[str] = []
        stored: list[bool] = []

        def lose_the_answer(route: Route) -> None:
            if route.request.method != "POST":
                route.fallback()
                return
            sent = route.request.headers | {"origin": ann.origin, "sec-fetch-site": "same-origin"}
            stored.append(route.fetch(headers=sent).ok)
            lost.append(route.request.headers["idempotency-key"])
            route.abort()

        page.route("**/messages", lose_the_answer)
        field(page).fill("Said once")
        field(page).press("Enter")
        expect(page.get_by_role("alert").filter(has_text="cannot be reached")).to_be_visible()
        expect(field(page)).to_have_value("Said once")
        assert all(stored)
        assert len(lost) > 1
        assert len(set(lost)) == 1
        page.unroute("**/messages")
        page.reload()
        expect(page.get_by_role("alert").filter(has_text="was being sent")).to_be_visible()
        field(page).press("Enter")
        expect(field(page)).to_have_value("")
        assert bodies(claude) == ["First", "Said once"]
        write(page, "Said once")
        assert bodies(claude) == ["First", "Said once", "Said once"]


def test_sent_from_two_tabs_it_is_one_message(visit: Visit, house: House, unique: Unique) -> None:
    name = unique("kitchen")
    with agents_in(house, name, "claude") as (claude,), visit("ann") as ann:
        ann.sign_in()
        page = ann.visit(f"/page/rooms/{name}")
        field(page).fill("From both")
        other = ann.context.new_page()
        other.goto(page.url)
        expect(field(other)).to_have_value("From both")
        field(other).focus()
        page.bring_to_front()
        field(page).press("Enter")
        expect(field(page)).to_have_value("")
        other.bring_to_front()
        field(other).press("Enter")
        expect(field(other)).to_have_value("")
        expect(messages(other)).to_have_count(1)
        assert bodies(claude) == ["From both"]

        asked = claude.post("Shall I?", kind="question").message.seq
        row(page, asked).get_by_role("button", name=f"Answer Yes to message {asked}").dblclick()
        expect(page.locator(".message.answer")).to_have_count(1)
        write(page, "Anything else?")
        assert bodies(claude) == ["From both", "Shall I?", "Yes.", "Anything else?"]


def test_a_restart_in_the_middle_loses_nothing(browser: Browser, own_house: House) -> None:
    """Neither what was said before, nor during it, nor what one was writing."""
    with (
        agents_in(own_house, "kitchen", "claude", "codex") as (claude, codex),
        visiting(browser, own_house, "ann") as ann,
    ):
        ann.sign_in()
        page = ann.visit("/page/rooms/kitchen")
        write(page, "Before the restart")
        claude.post("Before it, too")
        expect(messages(page).last).to_contain_text("Before it, too")

        own_house.kill()
        expect(page.get_by_role("status").filter(has_text="The daemon is away")).to_be_visible()
        expect(page.get_by_text("live", exact=True)).to_be_hidden()
        field(page).fill("Written while it was away")
        field(page).press("Enter")
        expect(page.get_by_role("alert").filter(has_text="cannot be reached")).to_be_visible()
        own_house.start()
        codex.post("What nobody was connected for", kind="warning")
        expect(messages(page).last).to_contain_text("What nobody was connected for")
        expect(page.get_by_role("status").filter(has_text="away")).to_be_hidden()
        expect(page.get_by_text("live", exact=True)).to_be_visible()
        field(page).press("Enter")
        expect(messages(page).last).to_contain_text("Written while it was away")

        own_house.stop()
        own_house.start()
        claude.take("the-sink")
        claude.post("After the second one")
        expect(messages(page).last).to_contain_text("After the second one")
        expect(page.locator(".claims")).to_contain_text("the-sink")
        shown = page.eval_on_selector_all(
            ".transcript .message .prose", "found => found.map(node => node.textContent)"
        )
        assert shown == bodies(claude)
        assert len(shown) == len(set(shown)) == 5
        page.reload()
        expect(messages(page)).to_have_count(5)
