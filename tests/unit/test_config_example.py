import itertools
import re
import tomllib
from pathlib import Path

from coordroomsd.config import Config, load
from coordroomsd.locations import Account
from coordroomsd.settings import SECTIONS

EXAMPLE = (Path(__file__).parents[2] / "config.example.toml").read_text()
SYSTEM = Account(uid=0, environment={})


def values(config: Config) -> dict[str, object]:
    return {
        f"{section}.{key}": getattr(getattr(config, section), key)
        for section, model in SECTIONS.items()
        for key in model.model_fields
    }


def uncommented(example: str) -> str:
    return re.sub(r"^#(?=\w+ = )", "", example, flags=re.MULTILINE)


def test_the_example_has_every_key_and_no_other() -> None:
    shown = tomllib.loads(uncommented(EXAMPLE))
    assert {section: list(table) for section, table in shown.items()} == {
        section: list(model.model_fields) for section, model in SECTIONS.items()
    }


def test_the_example_sets_nothing() -> None:
    assert all(table == {} for table in tomllib.loads(EXAMPLE).values())


def test_the_example_shows_the_defaults(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(uncommented(EXAMPLE))
    shown = values(load(file, account=SYSTEM))
    defaults = values(load(account=SYSTEM))
    without = {"database.url", "database.run_as", "server.listen", "tracing.endpoint"}
    assert {key for key, value in defaults.items() if value is None} == without
    assert {key for key in shown if shown[key] != defaults[key]} == without


def test_the_example_names_what_waits_for_a_restart() -> None:
    [named] = re.findall(
        r"^# changed\. Keys (.*) wait for a restart\.$", EXAMPLE, flags=re.MULTILINE
    )
    waiting = []
    for section, model in SECTIONS.items():
        keys = [key for key in model.model_fields if not model.is_reloaded(key)]
        waiting += [f"[{section}]"] if len(keys) == len(model.model_fields) else keys
    assert set(re.findall(r"\[?[a-z_]{3,}\]?", named)) - {"under", "and"} == set(waiting)


def test_the_example_says_why_above_each_key_or_pair() -> None:
    lines = EXAMPLE.splitlines()
    for before, line in itertools.pairwise(lines):
        if re.match(r"#\w+ = ", line):
            a_pair = re.match(r"#(\w+)_burst = ", before) and re.match(r"#(\w+)_per_s = ", line)
            assert a_pair or re.match(r"# \w", before), line
