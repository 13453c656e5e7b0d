"""What the two agents say. Each turn is said when all turns before it were heard."""

from __future__ import annotations

from typing import NamedTuple


class Line(NamedTuple):
    """One message. `answers` is the place in the script of the question that it answers."""

    speaker: str
    kind: str
    body: str
    answers: int | None = None


ADA, BOB = "ada", "bob"
AGENTS = (ADA, BOB)
AUDIENCE = "audience"

SCRIPT = (
    Line(ADA, "decision", "Search results come in pages: /search?page=3. Links stay short."),
    Line(BOB, "warning", "Pages shift while rows are added: a reader sees some twice, some never."),
    Line(BOB, "question", "Does any reader need to jump to page 40?"),
    Line(ADA, "answer", "No, they only ever go on from where they are.", answers=2),
    Line(BOB, "decision", "Then a cursor: /search?after=57, the last id that was seen."),
    Line(ADA, "question", "And when row 57 is deleted in between?"),
    Line(BOB, "answer", "Nothing breaks: 57 is a number to be greater than, not a row.", answers=5),
    Line(ADA, "decision", "Agreed: /search?after=<id>. I change the server, you the page."),
    Line(BOB, "status", "The page asks with after= now. Done here."),
    Line(ADA, "status", "The server answers it. Done, too."),
)
