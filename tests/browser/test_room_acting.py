"""Taking part in a room: two people and three agents, each thing that one can do once."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.rooms import agents_in, dialog, field, messages, row, write
from tests.browser.visitors import House

Unique = Callable[[str], str]


def test_two_people_and_three_agents_talk(visit: Visit, house: House, unique: Unique) -> None:
    """What each of them does shows with everybody at once, without a reload."""
    name = unique("kitchen")
    with (
        agents_in(house, name, "claude", "codex", "gemini") as (claude, codex, gemini),
        visit("ann") as ann,
        visit("bob") as bob,
    ):
        ann.sign_in("--operator")
        bob.sign_in()
        one, other = ann.visit(f"/page/rooms/{name}"), bob.visit(f"/page/rooms/{name}")
        expect(other.get_by_text("The room begins here")).to_be_visible()

        question = codex.post("Ship it?", "question").message.seq
        expect(one.locator(".open-questions")).to_contain_text("Ship it?")
        other.get_by_role("button", name=f"Answer Yes to message {question}").click()
        answer = one.locator(".message.answer")
        expect(answer).to_contain_text("Yes.")
        expect(answer.locator(".quote")).to_contain_text("Ship it?")
        expect(one.locator(".open-questions")).not_to_contain_text("Ship it?")
        expect(one.get_by_role("button", name=re.compile("^Answer Yes"))).to_have_count(0)

        write(one, "I decide: **today**.")
        expect(messages(other).last).to_contain_text("I decide: **today**.")
        said = claude.post("The oven is on.", kind="warning").message.seq
        gemini.react(said, "agree")
        chip = row(one, said).get_by_role("button", name=re.compile("agree: 1 agent$"))
        expect(chip).to_be_visible()
        row(other, said).hover()
        row(other, said).get_by_role("button", name="React to").click()
        dialog(other).get_by_role("button", name="agree").click()
        expect(dialog(other).get_by_role("button", name="agree")).to_have_attribute(
            "aria-pressed", "true"
        )
        expect(
            row(one, said).get_by_role("button", name="agree: 1 person, 1 agent")
        ).to_be_visible()
        other.keyboard.press("Escape")

        claude.set_status("basting the goose")
        expect(one.get_by_role("complementary")).to_contain_text("basting the goose")
        expect(row(one, said + 3)).to_contain_text("basting the goose")
        codex.take("the-draft")
        expect(other.locator(".claims")).to_contain_text("the-draft")


def test_who_answers_is_a_member_then(visit: Visit, house: House, unique: Unique) -> None:
    """Also where one is active elsewhere: then beside it, so that no claim is lost there."""
    here, there = unique("kitchen"), unique("garden")
    with (
        agents_in(house, here, "claude") as (claude,),
        agents_in(house, there, "codex"),
        visit("zoe") as zoe,
    ):
        zoe.sign_in()
        page = zoe.visit(f"/page/rooms/{here}")
        expect(page.get_by_text("You are reading along")).to_be_visible()
        write(page, "Good morning")
        expect(page.get_by_text("You are in this room as")).to_be_visible()
        page = zoe.visit(f"/page/rooms/{there}")
        write(page, "Good morning here, too")
        expect(messages(page).last).to_contain_text("zoe")
        expect(page.get_by_text("You are in this room as")).to_be_visible()
        active = {member.name for member in claude.members() if member.state == "active"}
        assert active == {"claude", "zoe"}
        page.reload()
        expect(page.locator(".message.mine")).to_contain_text("Good morning here, too")

        page.get_by_role("button", name="Leave", exact=True).click()
        expect(page.get_by_text("You are reading along")).to_be_visible()
        with house.agent("codex") as codex:
            codex.room(there).post("Are you still reading?")
        expect(messages(page).last).to_contain_text("Are you still reading?")
        page.get_by_role("button", name="Join", exact=True).click()
        expect(page.get_by_text("You are in this room as")).to_be_visible()


def test_claims_and_statuses(visit: Visit, house: House, unique: Unique) -> None:
    name = unique("kitchen")
    with agents_in(house, name, "claude") as (claude,), visit("ann") as ann:
        ann.sign_in()
        page = ann.visit(f"/page/rooms/{name}")
        page.get_by_label("What to claim").fill("the sink")
        page.get_by_role("button", name="Claim", exact=True).click()
        expect(page.locator(".claim.mine")).to_contain_text("the sink")
        page.get_by_role("button", name="Renew the claim on the sink").click()
        expect(page.locator(".event.claim").last).to_contain_text("renewed")
        page.get_by_role("button", name="Release the sink").click()
        expect(page.get_by_text("Nothing is claimed.")).to_be_visible()

        claude.take("the stove")
        page.get_by_label("What to claim").fill("the stove")
        page.keyboard.press("Enter")
        refusal = page.get_by_role("alert").filter(has_text="the stove")
        expect(refusal).to_contain_text("claude holds")
        expect(refusal.locator(".recovery")).not_to_be_empty()
        expect(page.get_by_label("What to claim")).to_have_value("the stove")

        page.get_by_label("What I am doing").fill("washing up")
        page.get_by_role("button", name="Set", exact=True).click()
        bar = page.get_by_role("progressbar", name="Status of ann")
        expect(bar).to_have_attribute("aria-valuetext", re.compile("left$"))
        page.get_by_role("button", name="Clear my status").click()
        expect(bar).to_have_count(0)
        expect(page.locator(".event.status").last).to_contain_text("is done: washing up")


def test_a_conversation_with_an_agent(visit: Visit, house: House, unique: Unique) -> None:
    name = unique("kitchen")
    with agents_in(house, name, "claude", "codex") as (claude, _), visit("ann") as ann:
        ann.sign_in("--operator")
        page = ann.visit(f"/page/rooms/{name}")
        page.get_by_role("button", name="Open a conversation with claude").click()
        expect(page.get_by_role("heading", name="With claude")).to_be_visible()
        write(page, "Between us")
        conversation = claude.client.open_conversation("ann")
        expect(messages(page)).to_contain_text("Between us")
        conversation.send("Understood.", kind="note", reply_to=1)
        reply = messages(page).last
        expect(reply).to_contain_text("Understood.")
        expect(reply.locator(".quote")).to_contain_text("Between us")
        # The operator reads what two agents say to each other, and cannot write there.
        between = claude.client.open_conversation("codex")
        between.send("Psst", kind="question")
        page = ann.visit(f"/page/conversations/{between.ref}")
        expect(messages(page)).to_contain_text("Psst")
        expect(field(page)).to_have_count(0)
        expect(page.get_by_text("You read this conversation as the operator")).to_be_visible()
