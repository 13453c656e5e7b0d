"""Reading a room: finding what is new, what is meant, what was said once."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.rooms import agents_in, dialog, looked_at, messages, row
from tests.browser.visitors import House, keep, violations
from tests.polling import block_until

Unique = Callable[[str], str]


def test_how_far_a_message_has_come(visit: Visit, house: House, unique: Unique) -> None:
    name = unique("kitchen")
    with agents_in(house, name, "claude", "codex", "gemini") as rooms, visit("ann") as ann:
        claude, codex, gemini = rooms
        asked = claude.post("Who is for soup?", "question").message.seq
        ann.sign_in()
        page = ann.visit(f"/page/rooms/{name}")
        row(page, asked).focus()
        page.keyboard.press("i")
        stages = dialog(page).get_by_role("listitem")
        expect(stages.filter(has_text="codex")).to_contain_text("not fetched yet")
        codex.react(asked, "ack")
        expect(stages.filter(has_text="codex")).to_contain_text("acknowledged it")
        gemini.answer(asked, "Me.")
        expect(stages.filter(has_text="gemini")).to_contain_text("replied")
        dialog(page).get_by_role("link").click()
        expect(dialog(page)).to_have_count(0)
        expect(page.locator(".row:focus")).to_contain_text("Me.")


def test_the_first_unread_is_a_key_away(visit: Visit, house: House, unique: Unique) -> None:
    name = unique("kitchen")
    with agents_in(house, name, "claude") as (claude,), visit("ann") as ann:
        for number in range(30):
            claude.post(f"Early {number}")
        ann.sign_in()
        page = ann.visit(f"/page/rooms/{name}")
        expect(messages(page).last).to_contain_text("Early 29")
        expect(page.get_by_role("button", name="First unread")).to_be_hidden()
        block_until(lambda: looked_at(page) == claude.overview().room.latest_seq)
        ann.visit("/page/")
        for number in range(150):
            claude.post(f"Late {number}")
        page = ann.visit(f"/page/rooms/{name}")
        expect(messages(page).last).to_contain_text("Late 149")
        page.get_by_role("button", name="First unread").click()
        expect(page.locator(".row:focus")).to_contain_text("Late 0")
        expect(page.get_by_text("New since you last looked")).to_be_visible()
        expect(page.get_by_role("button", name="Newest")).to_be_visible()
        claude.post("Later still")
        page.get_by_role("button", name="1 new").click()
        expect(messages(page).last).to_contain_text("Later still")


def test_filters_by_kind_and_author(visit: Visit, house: House, unique: Unique) -> None:
    name = unique("kitchen")
    with agents_in(house, name, "claude", "codex") as (claude, codex), visit("ann") as ann:
        claude.post("A decision", kind="decision")
        for number in range(400):
            codex.post(f"Chatter {number}", kind="status")
        ann.sign_in()
        page = ann.visit(f"/page/rooms/{name}")
        expect(messages(page).last).to_contain_text("Chatter 399")
        page.locator("body").press("f")
        page.locator(".filters").get_by_label("● status").uncheck()
        expect(messages(page)).to_have_count(1)
        expect(messages(page)).to_contain_text("A decision")
        claude.post("A warning", kind="warning")
        codex.post("More chatter", kind="status")
        expect(messages(page)).to_have_count(2)
        page.get_by_label("Author").select_option("codex")
        expect(messages(page)).to_have_count(0)
        page.get_by_role("button", name="Show everything").click()
        expect(messages(page).last).to_contain_text("More chatter")
        # A link to what is filtered out ends the filter.
        page.locator(".filters").get_by_label("◆ decision").uncheck()
        ann.page.keyboard.press("Escape")
        page.keyboard.press("g")
        page.keyboard.type("3")
        page.keyboard.press("Enter")
        expect(page.locator(".row:focus")).to_contain_text("A decision")
        expect(page.locator(".filters").get_by_label("◆ decision")).to_be_checked()


def test_words_are_found_and_marked(visit: Visit, house: House, unique: Unique) -> None:
    name = unique("kitchen")
    with agents_in(house, name, "claude") as (claude,), visit("ann") as ann:
        sought = claude.post("The saffron is in the blue tin.").message.seq
        for number in range(250):
            claude.post(f"Chatter {number}")
        ann.sign_in()
        page = ann.visit(f"/page/rooms/{name}")
        page.locator("body").press("/")
        page.keyboard.type("saffron")
        expect(dialog(page).locator("mark")).to_have_text("saffron")
        assert violations(page) == []
        keep(page, "search")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator(".row:focus")).to_contain_text("blue tin")
        assert page.url.endswith(f"/page/rooms/{name}/{sought}")
        page.reload()
        expect(page.locator(".row:focus")).to_contain_text("blue tin")
        page.go_back()
        expect(messages(page).last).to_contain_text("Chatter 249")


def test_a_link_to_nothing_says_so(visit: Visit, house: House, unique: Unique) -> None:
    name = unique("kitchen")
    with agents_in(house, name, "claude") as (claude,), visit("ann") as ann:
        claude.post("See #999999")
        ann.sign_in()
        page = ann.visit(f"/page/rooms/{name}/999999")
        expect(page.get_by_role("alert").filter(has_text="#999999 is not shown")).to_be_visible()
        expect(messages(page).last).to_contain_text("See #999999")
        page = ann.visit("/page/rooms/no-such-room-anywhere")
        expect(page.get_by_text("There is no room")).to_be_visible()


def test_rows_that_grow_do_not_push_the_end_away(
    visit: Visit, house: House, unique: Unique
) -> None:
    """A quote or an answer's buttons come later than their row: no reason to leave the end."""
    name = unique("kitchen")
    with agents_in(house, name, "claude") as (claude,), visit("ann") as ann:
        for number in range(60):
            claude.post(f"Chatter {number}")
        ann.sign_in()
        page = ann.visit(f"/page/rooms/{name}")
        expect(messages(page).last).to_contain_text("Chatter 59")
        newest = page.get_by_role("button", name="Newest")
        expect(newest).to_be_hidden()
        # The growth, and then the event of an earlier scrolling, before anything is laid out anew.
        page.locator(".transcript").evaluate(
            """node => {
                node.querySelector(".row:last-child").append(document.createElement("textarea"));
                node.dispatchEvent(new Event("scroll"));
            }"""
        )
        claude.post("The last word")
        expect(messages(page).last).to_contain_text("The last word")
        expect(messages(page).last).to_be_in_viewport()
        expect(newest).to_be_hidden()
        page.locator(".transcript").evaluate("node => { node.scrollTop -= 300; }")
        expect(newest).to_be_visible()
        claude.post("Said below")
        expect(page.get_by_role("button", name="1 new")).to_be_visible()
        expect(messages(page).last).not_to_be_in_viewport()
