from __future__ import annotations

import pytest

from tests.bench import reports
from tests.bench.findings import Bars, Findings, Table, Target

MET = Target("batches", "at least", 0.6, 0.71)
MISSED = Target("post to waiter", "at most", 1.3, 1.42)


def findings(title: str, *targets: Target) -> Findings:
    return Findings(title, "How it is measured.", targets=list(targets))


@pytest.mark.parametrize(
    ("target", "met"),
    [
        (Target("", "at most", 2, 2), True),
        (Target("", "at most", 2, 2.01), False),
        (Target("", "at least", 8, 8), True),
        (Target("", "at least", 8, 7.99), False),
    ],
)
def test_a_target_is_met_on_the_good_side_of_its_limit(target: Target, met: bool) -> None:
    assert target.met is met


def test_a_target_says_its_limit_what_was_found_and_whether_it_is_met() -> None:
    text = reports.summary([findings("Callers", MET, MISSED)])
    assert "| batches | at least 0.6 × | 0.71 × | met |" in text
    assert "| post to waiter | at most 1.3 × | 1.42 × | **not met** |" in text


def test_the_summary_has_every_target_with_its_case() -> None:
    text = reports.summary([findings("Callers", MET), findings("Lone", MISSED), findings("Mixed")])
    assert text.startswith("1 of 2 are met.")
    assert "| Callers | batches | at least 0.6 × | 0.71 × | met |" in text
    assert "| Lone | post to waiter | at most 1.3 × | 1.42 × | **not met** |" in text


def test_a_limit_that_was_just_missed_does_not_look_met() -> None:
    text = reports.summary([findings("Lone", Target("post", "at most", 1.3, 1.3004))])
    assert "| post | at most 1.3 × | 1.3004 × | **not met** |" in text


def test_the_longest_bar_is_the_largest_value_and_none_is_empty() -> None:
    bars = Bars("Lone", "ms", {"ours": 2.0, "floor": 1.0, "loop": 0.001})
    text = reports.section(Findings("Lone", "", bars=[bars]))
    assert [line.count("█") for line in text.splitlines() if "█" in line] == [40, 20, 1]


def test_nothing_measured_has_bars_all_the_same() -> None:
    text = reports.section(Findings("Idle", "", bars=[Bars("idle", "%", {"ours": 0.0})]))
    assert "ours   0" in text


def test_a_table_has_its_first_column_left_and_the_numbers_right() -> None:
    table = Table(["", "ms"], [["ours", "1.5"]])
    text = reports.section(Findings("Lone", "", tables=[table]))
    assert "|  | ms |\n| --- | --: |\n| ours | 1.5 |" in text


def test_the_document_says_which_cases_are_missing() -> None:
    about, found = ["2 cores"], [findings("Lone", MET)]
    whole = reports.document(about, found, [])
    part = reports.document(about, found, ["mixed", "clients"])
    assert "failed" not in whole
    assert "failed and are missing: mixed, clients" in part
    assert whole.index("## Targets") < whole.index("* 2 cores") < whole.index("## Lone")
