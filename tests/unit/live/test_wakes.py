from coordroomsd.live import wakes
from coordroomsd.live.wakes import Wakes


def test_the_last_word_of_a_hook_counts() -> None:
    said = Wakes()
    assert said.of("default", "ann") == "none"
    said.note("default", "ann", "hook")
    said.note("default", "ann", "push")
    said.note("default", "ann", "shout")
    assert said.of("default", "ann") == "push"
    assert said.of("other", "ann") == "none"


def test_only_so_many_are_remembered(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(wakes, "KEPT", 2)
    said = Wakes()
    for name in ("ann", "bob", "cat"):
        said.note("default", name, "hook")
    assert [said.of("default", name) for name in ("ann", "bob", "cat")] == ["none", "hook", "hook"]
