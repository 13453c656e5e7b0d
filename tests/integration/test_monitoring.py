"""The dashboard, the alert rules and Prometheus' configuration, against a daemon's numbers."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.acceptance.daemons import running
from tests.integration.callers import ListeningDaemon

DOCS = Path(__file__).parents[2] / "docs"
MONITORING = DOCS / "monitoring"

Exposed = dict[str, list[dict[str, str]]]


@pytest.fixture(scope="module")
def exposed() -> Exposed:
    """Every name at /metrics with the labels of its series, once something has happened."""
    with running(ListeningDaemon()) as daemon:
        ann = daemon.agent("ann")
        ann.ok("POST", "/rooms", {"name": "plan"})
        text = ann.call("GET", "/metrics", base="").content.decode()
    names: Exposed = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            names.setdefault(sample.name, []).append(sample.labels)
    return names


@pytest.fixture(scope="module")
def rules() -> list[dict[str, Any]]:
    [group] = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"]
    rules: list[dict[str, Any]] = group["rules"]
    return rules


@pytest.fixture(scope="module")
def panels() -> list[dict[str, Any]]:
    panels: list[dict[str, Any]] = json.loads((MONITORING / "dashboard.json").read_text())["panels"]
    return panels


def check(expression: str, exposed: Exposed) -> None:
    """Each name is exposed, and each value that a label is compared with is one that it has."""
    found = re.findall(r"\b((?:coordrooms|process)_\w+)(?:\{([^}]*)\})?", expression)
    assert found, expression
    for name, matchers in found:
        assert name in exposed, f"{name} is not at /metrics"
        for label, values in re.findall(r'(\w+)=~?"([^"$]*)"', matchers):
            # Prometheus adds these two.
            if label not in ("job", "instance"):
                known = {labels[label] for labels in exposed[name]}
                assert set(values.split("|")) <= known, f"{name}{{{label}}} has {known}"


def test_alerts_are_about_what_there_is(rules: list[dict[str, Any]], exposed: Exposed) -> None:
    for rule in rules:
        if "up{" not in rule["expr"]:
            check(rule["expr"], exposed)
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"]["summary"].endswith((".", "}}."))
    names = [rule["alert"] for rule in rules]
    assert len(set(names)) == len(names)


def test_each_alert_is_explained_and_no_other(rules: list[dict[str, Any]]) -> None:
    explained = re.findall(r"^\| `(Coordrooms\w+)` ", (DOCS / "operations.md").read_text(), re.M)
    assert explained == [rule["alert"] for rule in rules]


def test_panels_show_what_there_is(panels: list[dict[str, Any]], exposed: Exposed) -> None:
    places: set[tuple[int, int]] = set()
    for panel in panels:
        for target in panel["targets"]:
            check(target["expr"], exposed)
        at = panel["gridPos"]
        place = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not place & places, f"{panel['title']} lies on another"
        assert at["x"] + at["w"] <= 24
        places |= place
    assert len({panel["id"] for panel in panels}) == len(panels)


def test_no_number_is_left_out(panels: list[dict[str, Any]], exposed: Exposed) -> None:
    """Whoever adds one decides where it is seen."""
    shown = " ".join(target["expr"] for panel in panels for target in panel["targets"])
    own = {re.sub(r"_(bucket|count|sum)$", "", name) for name in exposed if "coordrooms_" in name}
    # Of no use beside others over time: how many rooms and callers there are that have a deadline.
    unseen = {"coordrooms_deadlines", "coordrooms_buckets"}
    assert {name for name in own if name not in shown} == unseen


@pytest.mark.skipif(shutil.which("promtool") is None, reason="there is no promtool here")
def test_prometheus_takes_them(tmp_path: Path) -> None:
    for name in ("alerts.yml", "prometheus.yml"):
        text = (MONITORING / name).read_text()
        token = tmp_path / "token"
        token.touch()
        (tmp_path / name).write_text(text.replace("/etc/prometheus/coordroomsd.token", str(token)))
    done = subprocess.run(
        ["promtool", "check", "config", str(tmp_path / "prometheus.yml")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
