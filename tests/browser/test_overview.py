"""All rooms at a glance: what is shown of each, and that it stays true."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.overviews import card
from tests.browser.rooms import enter
from tests.browser.visitors import (
    THEMES,
    WIDTHS,
    House,
    is_wider_than_the_screen,
    keep,
    violations,
)

Unique = Callable[[str], str]

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "\u202egnp.exe",
    "zero\u200bwidth",
    "\x1b[31mred",
    "x" * 60_000,
    "[link](javascript:alert(1))",
)


@pytest.fixture
def busy(house: House, unique: Unique) -> str:
    """A room with three agents and a person, with everything that a card can show."""
    room = unique("Dashboard search")
    with (
        house.agent(unique("cody")) as cody,
        house.agent(unique("gem")) as gem,
        house.agent(unique("opal")) as opal,
        house.person("bob") as bob,
    ):
        seats = [one.join(room, create=True) for one in (cody, gem, opal)]
        seats[0].post("We index titles at first; bodies follow.", kind="decision")
        seats[1].post("The staging database is slow today.", kind="warning")
        seats[2].post("Should the search box keep the words when one goes back?", kind="question")
        seats[0].set_status("reading the router’s history code", expires_in_s=600)
        seats[1].set_status("writing the migration", expires_in_s=1800)
        seats[0].take("search/router.ts")
        seats[1].take("migrations/0042_titles.sql", lease_s=90)
        enter(bob, room)
        thread = gem.open_conversation(cody.me().participant.conversation_id)
        thread.send("Your migration locks the table; mine comes first.", "note")
        bob.open_conversation(opal.me().participant.conversation_id).send("How long?", "question")
    return room


def test_a_card_has_what_a_room_is_about(visit: Visit, busy: str) -> None:
    with visit("ann") as ann:
        page = ann.sign_in()
        shown = card(page, busy)
        expect(shown).to_contain_text("3 new")
        expect(shown).to_contain_text("reading the router’s history code")
        expect(shown).to_contain_text(re.compile(r"for \d+ s, (9|10) min left"))
        expect(shown).to_contain_text("search/router.ts")
        expect(shown).to_contain_text(re.compile(r"migrations/0042_titles\.sql held by gem.*left"))
        expect(shown.get_by_role("listitem").filter(has_text="bob")).to_contain_text("here")
        expect(shown.get_by_role("listitem").filter(has_text="cody")).to_have_count(2)
        asked = page.get_by_role("region", name="Open questions").get_by_role("link")
        expect(asked.filter(has_text="keep the words").first).to_be_visible()


def test_what_happens_shows_by_itself(visit: Visit, house: House, unique: Unique) -> None:
    room, name = unique("kitchen"), unique("kim")
    with visit("ann") as ann, house.agent(name) as kim:
        page = ann.sign_in()
        expect(page.get_by_role("heading", name="Rooms", exact=True)).to_be_visible()
        seat = kim.join(room, create=True)
        shown = card(page, room)
        expect(shown).to_contain_text("Nothing was said yet")
        expect(shown.locator(".dot")).to_have_attribute("data-presence", "thinking")
        question = seat.post("Gas or induction?", kind="question").message
        expect(shown).to_contain_text("1 new")
        asked = page.get_by_role("region", name="Open questions")
        expect(asked).to_contain_text("Gas or induction?")
        expect(page.get_by_role("status").filter(has_text="asks: Gas or induction?")).to_have_count(
            1
        )
        seat.set_status("boiling", expires_in_s=2)
        expect(shown).to_contain_text("boiling")
        fuse = re.compile(r"inline-size: \d\d?\.\d%")
        expect(shown.locator(".fuse .left")).to_have_attribute("style", fuse)
        expect(shown).not_to_contain_text("boiling")
        seat.take("the stove")
        expect(shown).to_contain_text("the stove")
        seat.release("the stove")
        expect(shown).not_to_contain_text("the stove")
        with house.agent(unique("cook")) as cook:
            other = cook.join(room)
            other.answer(question, "Gas.")
            expect(asked.get_by_text("Gas or induction?")).to_have_count(0)
            other.leave()
        seat.leave()
        expect(page.get_by_role("heading", name="Rooms with nobody in them")).to_be_visible()
        expect(page.locator(".quiet-rooms").get_by_role("link", name=room)).to_be_visible()


def test_who_waits_is_told_from_who_works(visit: Visit, house: House, unique: Unique) -> None:
    room = unique("waiting-room")
    with visit("ann") as ann, house.agent(unique("wim")) as wim:
        seat = wim.join(room, create=True)
        page = ann.sign_in()
        dot = card(page, room).locator(".dot")
        expect(dot).to_have_attribute("data-presence", "thinking")
        with ThreadPoolExecutor(1) as apart:
            parked = apart.submit(seat.wait, timeout_s=60)
            expect(dot).to_have_attribute("data-presence", "waiting")
            with house.agent(unique("waker")) as waker:
                waker.join(room).post("Go on.")
            assert parked.result().events
        expect(dot.first).to_have_attribute("data-presence", "thinking")


def test_who_has_gone(visit: Visit) -> None:
    cases: tuple[tuple[str, int | None, dict[str, Any], str], ...] = (
        ("agent", 0, {}, "thinking"),
        ("agent", 10, {}, "thinking"),
        ("agent", 11, {}, "gone 11 min"),
        ("agent", 90, {"status": {"status": "a long build"}}, "thinking"),
        ("agent", 90, {"waiting": True}, "waiting"),
        ("agent", None, {}, "gone"),
        ("human", 5, {}, "here"),
        ("human", 6, {}, "gone 6 min"),
        ("human", 6, {"waiting": True}, "waiting"),
    )
    now = datetime(2026, 1, 1, 12, tzinfo=UTC)
    members = [
        {
            "kind": kind,
            "waiting": False,
            "status": None,
            "last_seen_at": (
                None if silent is None else (now - timedelta(minutes=silent)).isoformat()
            ),
        }
        | more
        for kind, silent, more, _ in cases
    ]
    with visit("ann") as ann:
        shown = ann.sign_in().evaluate(
            """async ([members, now]) => {
                const { presence } = await import("/page/assets/room/presence.js");
                return members.map((member) => presence(member, Date.parse(now)).words);
            }""",
            [members, now.isoformat()],
        )
    assert shown == [words for *_, words in cases]


def test_what_one_has_looked_at_is_new_no_more(visit: Visit, busy: str) -> None:
    with visit("ann") as ann:
        page = ann.sign_in()
        other = ann.context.new_page()
        other.goto(page.url)
        expect(card(other, busy)).to_contain_text("3 new")
        card(page, busy).get_by_role("link", name=busy).click()
        expect(page.get_by_role("heading", name=busy)).to_be_visible()
        expect(card(other, busy).locator(".badge")).to_be_hidden()
        page.get_by_role("link", name="coordrooms").click()
        expect(card(page, busy).locator(".badge")).to_be_hidden()


def test_a_browser_that_has_seen_thousands_of_rooms_is_shown_them(
    visit: Visit, house: House, busy: str
) -> None:
    with visit("ann") as ann, house.agent("cody") as agent:
        page = ann.sign_in()
        expect(card(page, busy)).to_contain_text("3 new")
        page.evaluate(
            """([id, seq]) => {
                for (let room = 0; room < 3000; room += 1) {
                    const name = `room_${String(room).padStart(13, "0")}`;
                    localStorage.setItem(`coordrooms:seen:${name}`, "7");
                }
                localStorage.setItem(`coordrooms:seen:${id}`, String(seq));
            }""",
            next([room.id, room.latest_seq] for room in agent.rooms() if room.name == busy),
        )
        page.reload()
        expect(card(page, busy)).to_contain_text("reading the router’s history code")
        expect(card(page, busy).locator(".badge")).to_be_hidden()


def test_an_open_page_is_one_waiter(visit: Visit, house: House, busy: str) -> None:
    before = house.streams()
    with visit("ann") as ann:
        page = ann.sign_in()
        expect(card(page, busy)).to_be_visible()
        house.until_streams(before + 1)
        card(page, busy).get_by_role("link", name=busy).click()
        expect(page.get_by_role("heading", name=busy)).to_be_visible()
        house.until_streams(before + 1)
    house.until_streams(before)


def test_hostile_words_stay_words(visit: Visit, house: House, unique: Unique) -> None:
    room = unique("hostile")
    with house.agent(unique("<b>eve</b>")) as eve, visit("ann") as ann:
        seat = eve.join(f"{room} <img src=x onerror=alert(1)>", create=True)
        seat.set_status("<img src=x onerror=alert(1)>")
        seat.take("<svg onload=alert(1)>")
        ann.page.on("dialog", lambda dialog: ann.faults.append(dialog.message))
        page = ann.sign_in()
        for body in HOSTILE:
            seat.post(body, kind="question")
            expect(card(page, room)).to_contain_text(f"{HOSTILE.index(body) + 1} new")
        for width in WIDTHS.values():
            page.set_viewport_size({"width": width[0], "height": width[1]})
            assert not is_wider_than_the_screen(page)
        assert page.locator("main img, main script, main svg, main b").count() == 0
        assert "\u202e" not in page.locator("main").inner_text()
        assert violations(page) == []


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_it_is_for_everybody(visit: Visit, busy: str, theme: str, width: str) -> None:
    with visit("ann", size=WIDTHS[width], theme=theme) as ann:
        page = ann.sign_in()
        expect(card(page, busy)).to_be_visible()
        assert violations(page) == []
        assert not is_wider_than_the_screen(page)
        keep(page, f"overview-{theme}-{width}")


def test_by_the_keyboard_alone(visit: Visit, busy: str) -> None:
    with visit("ann") as ann:
        page = ann.sign_in()
        expect(card(page, busy)).to_be_visible()
        title = card(page, busy).get_by_role("link", name=busy)
        for _ in range(60):
            page.keyboard.press("Tab")
            if title.evaluate("node => node === document.activeElement"):
                break
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name=busy)).to_be_visible()
        page.go_back()
        expect(card(page, busy)).to_be_visible()
