"""Taking part from the overview: answering, making a room, talking to one alone."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.overviews import card, open_questions
from tests.browser.rooms import enter
from tests.browser.visitors import House

Unique = Callable[[str], str]


def test_a_question_is_answered_with_one_click(visit: Visit, house: House, unique: Unique) -> None:
    name = unique("asking")
    with visit("ann") as ann, house.agent(unique("ida")) as ida:
        seat = ida.join(name, create=True)
        asked = seat.post("Shall I merge the branch?", kind="question").message
        page = ann.sign_in()
        row = open_questions(page, "Shall I merge the branch?")
        row.get_by_role("button", name="Yes").dblclick()
        expect(row).to_have_count(0)
        expect(page.get_by_role("status").filter(has_text="Answered.")).to_have_count(1)
        [answer] = [one for one in seat.history().messages if one.kind == "answer"]
        assert (answer.body, answer.reply_to) == ("Yes.", asked.id)
        assert answer.author is not None
        assert (answer.author.name, answer.author.kind) == ("ann", "human")


def test_a_question_is_answered_by_the_keyboard_while_others_come(
    visit: Visit, house: House, unique: Unique
) -> None:
    with visit("ann") as ann, house.agent(unique("ida")) as ida:
        seat = ida.join(unique("asking"), create=True)
        asked = seat.post("Shall I merge the first branch?", kind="question").message
        page = ann.sign_in()
        no = open_questions(page, "the first branch").get_by_role("button", name="No")
        no.focus()
        seat.post("And the second branch?", kind="question")
        expect(open_questions(page, "And the second branch?")).to_be_visible()
        expect(no).to_be_focused()
        page.keyboard.press("Enter")
        expect(open_questions(page, "the first branch")).to_have_count(0)
        [answer] = [one for one in seat.history().messages if one.kind == "answer"]
        assert (answer.body, answer.reply_to) == ("No.", asked.id)


def test_nobody_answers_oneself(visit: Visit, house: House, unique: Unique) -> None:
    room = unique("own")
    with visit("ann") as ann, house.person("ann") as herself:
        enter(herself, room).post("Who takes the tests?", kind="question")
        page = ann.sign_in()
        row = open_questions(page, room)
        expect(row).to_be_visible()
        expect(row.get_by_role("button")).to_have_count(0)


def test_a_room_is_made_and_entered(visit: Visit, unique: Unique) -> None:
    with visit("una") as una:
        page = una.sign_in()
        for name in (unique("first"), unique("second")):
            # Also beside the room that one is active in.
            page.get_by_label("Name of a new room").fill(name)
            page.keyboard.press("Enter")
            expect(page.get_by_role("heading", name=name)).to_be_visible()
            page.get_by_role("link", name="coordrooms").click()
        expect(card(page, name)).to_contain_text("una")
        page.get_by_label("Name of a new room").fill(name)
        page.get_by_role("button", name="Make it").click()
        expect(page.get_by_role("alert").filter(has_text="There is a room named")).to_be_visible()


def test_one_talks_to_somebody_alone(visit: Visit, house: House, unique: Unique) -> None:
    name = unique("tom")
    with house.agent(name) as tom, visit("ann") as ann:
        tom.join(unique("room"), create=True)
        page = ann.sign_in()
        page.get_by_label("Find somebody by name").fill(name)
        page.get_by_role("button", name=f"Talk to {name}").click()
        expect(page).to_have_url(re.compile("/page/conversations/"))
        page.get_by_role("link", name="coordrooms").click()
        expect(page.get_by_role("region", name="Conversations of two")).to_contain_text(name)


def test_an_operator_sees_what_agents_say_to_each_other_and_speaks_to_one(
    visit: Visit, house: House, unique: Unique
) -> None:
    names = unique("ada"), unique("ben")
    with house.agent(names[0]) as ada, house.agent(names[1]) as ben, visit("boss") as boss:
        for one in (ada, ben):
            one.join(unique("room"), create=True)
        ada.open_conversation(names[1]).send("Yours locks the table.", "note")
        page = boss.sign_in("--operator")
        threads = page.get_by_role("region", name="Conversations of two").get_by_role("listitem")
        thread = threads.filter(has_text=" and ".join(names))
        expect(thread).to_contain_text("Yours locks the table.")
        page.get_by_label("Find somebody by name").fill(names[0])
        page.get_by_role("button", name=f"Talk to {names[0]}").click()
        expect(page).to_have_url(re.compile("/page/conversations/"))
        assert "admin" in [one.kind for one in ada.conversations()]
