"""Coming in, going out, and what is the same in all views."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Visit
from tests.browser.visitors import (
    THEMES,
    WIDTHS,
    House,
    is_wider_than_the_screen,
    keep,
    violations,
    visiting,
)


def test_a_link_lets_in_once_and_leaves_no_code_behind(visit: Visit, house: House) -> None:
    link = house.link("ann")
    with visit("ann") as first, visit("ann") as second:
        first.page.goto(link)
        expect(first.page.get_by_role("button", name="Sign out")).to_be_visible()
        assert "#" not in first.page.url
        assert first.page.evaluate("history.length") <= 2
        second.page.goto(link)
        expect(second.page.get_by_role("heading", name="Signed out")).to_be_visible()
        expect(second.page.get_by_text("coordrooms dashboard", exact=True)).to_be_visible()
        assert violations(second.page) == []
        # A link that is used up takes nothing from who is signed in.
        first.page.goto(link)
        expect(first.page.get_by_role("button", name="Sign out")).to_be_visible()


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_who_is_signed_out_is_told_what_to_type(visit: Visit, theme: str, width: str) -> None:
    with visit("ann", size=WIDTHS[width], theme=theme) as ann:
        page = ann.sign_in()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_text("You signed out.")).to_be_visible()
        assert violations(page) == []
        assert not is_wider_than_the_screen(page)
        keep(page, f"signed-out-{theme}-{width}")


def test_a_house_without_rooms_says_how_one_is_made(browser: Browser, own_house: House) -> None:
    for theme in THEMES:
        for width, size in WIDTHS.items():
            with visiting(browser, own_house, "ann", size, theme) as ann:
                page = ann.sign_in()
                expect(page.get_by_text("There is no room yet")).to_be_visible()
                assert violations(page) == []
                assert not is_wider_than_the_screen(page)
                keep(page, f"no-rooms-{theme}-{width}")


def test_signing_out_reaches_the_other_tab(visit: Visit) -> None:
    with visit("ann") as ann:
        page = ann.sign_in()
        other = ann.context.new_page()
        other.goto(page.url)
        other.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="Signed out")).to_be_visible()
        page.reload()
        expect(page.get_by_role("heading", name="Signed out")).to_be_visible()


def test_a_session_that_ends_says_what_to_type(visit: Visit, house: House) -> None:
    with visit("zoe") as zoe:
        page = zoe.sign_in()
        house.revoke("zoe")
        expect(page.get_by_role("heading", name="Signed out")).to_be_visible()
        expect(page.get_by_text("coordrooms dashboard", exact=True)).to_be_visible()


def test_a_restart_signs_nobody_out(browser: Browser, own_house: House) -> None:
    with visiting(browser, own_house, "ann") as ann:
        page = ann.sign_in()
        expect(page.get_by_role("heading", name="Rooms")).to_be_visible()
        own_house.kill()
        expect(page.get_by_role("status").filter(has_text="Reconnecting")).to_be_visible()
        own_house.start()
        expect(page.get_by_role("status").filter(has_text="Reconnecting")).to_be_hidden()
        with own_house.agent("cody") as cody:
            cody.join("kitchen", create=True)
            expect(page.get_by_role("link", name="kitchen", exact=True)).to_be_visible()
        page.reload()
        expect(page.get_by_role("link", name="kitchen", exact=True)).to_be_visible()


def test_the_theme_is_the_system_s_until_one_is_chosen(visit: Visit) -> None:
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    with visit("ann", theme="dark") as ann:
        page = ann.sign_in()
        dark = page.evaluate(ground)
        page.get_by_role("button", name="Theme: system").click()
        page.get_by_role("button", name="Theme: light").wait_for()
        light = page.evaluate(ground)
        assert light != dark
        page.reload()
        page.get_by_role("button", name="Theme: light").click()
        assert page.evaluate(ground) == dark
        page.emulate_media(color_scheme="light")
        assert page.evaluate(ground) == dark


def test_the_first_key_leads_past_the_top(visit: Visit) -> None:
    with visit("ann") as ann:
        page = ann.sign_in()
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()


def test_an_address_that_is_none_says_so(visit: Visit) -> None:
    with visit("ann") as ann:
        ann.sign_in()
        page = ann.visit("/page/elsewhere")
        expect(page.get_by_text("There is no such page")).to_be_visible()
        page.get_by_role("link", name="Rooms").first.click()
        expect(page.get_by_role("heading", name="Rooms")).to_be_visible()
        page.go_back()
        expect(page.get_by_text("There is no such page")).to_be_visible()


def test_what_a_peer_wrote_could_run_nothing_even_as_markup(visit: Visit) -> None:
    """The second line of defence: views make no markup of anybody's words."""
    with visit("ann") as ann:
        page = ann.sign_in()
        refused = page.evaluate(
            """() => {
                try { document.body.innerHTML = "<img src=x onerror=window.ran=1>"; }
                catch (error) { return error.name; }
                return "";
            }"""
        )
        assert refused == "TypeError"
        ann.faults.clear()
        assert page.evaluate("window.ran") is None
