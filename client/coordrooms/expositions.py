"""The text format of Prometheus (version 0.0.4), as the daemon writes it at /metrics."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from .calls import Call

_SAMPLE = re.compile(r"(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)(?: \d+)?$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")


class Series(NamedTuple):
    """One line of numbers: `labels` are pairs of name and value, sorted by name."""

    name: str
    labels: tuple[tuple[str, str], ...]


Samples = Mapping[Series, float]


def metrics(within_s: float | None = None) -> Call[None]:
    """Its answer is text: see `parsed`."""
    return Call("GET", "/metrics", lambda _: None, within_s=within_s, base="")


def parsed(text: str) -> dict[Series, float]:
    """The samples in an exposition; lines that are none are left out."""
    samples = {}
    for line in text.split("\n"):
        match = None if line.startswith("#") else _SAMPLE.match(line)
        if match:
            labels = _LABEL.findall(match["labels"] or "")
            pairs = sorted((name, _ESCAPED.sub(_meant, value)) for name, value in labels)
            try:
                samples[Series(match["name"], tuple(pairs))] = float(match["value"])
            except ValueError:
                continue
    return samples


def one(samples: Samples, name: str, **labels: str) -> float | None:
    return samples.get(Series(name, tuple(sorted(labels.items()))))


def by_label(samples: Samples, name: str, label: str) -> dict[str, float]:
    """The numbers of one name by the value of its label."""
    return {
        dict(series.labels)[label]: value
        for series, value in samples.items()
        if series.name == name and label in dict(series.labels)
    }


def since(
    before: Samples, after: Samples, is_counter: Callable[[str], bool]
) -> dict[Series, float]:
    """How much every counter of `after` has grown; one that is smaller had begun anew."""
    grown = {}
    for series, value in after.items():
        if is_counter(series.name):
            earlier = before.get(series, 0.0)
            grown[series] = value - earlier if value >= earlier else value
    return grown


def quantile(part: float, grown: Samples, name: str) -> float | None:
    """Of a histogram's growth, as Prometheus reckons it: even within a bucket.

    None when nothing fell into it. In the last bucket, which has no end, its beginning.
    """
    buckets = sorted(
        (float(bound), count) for bound, count in by_label(grown, f"{name}_bucket", "le").items()
    )
    if not buckets or not buckets[-1][1]:
        return None
    rank = part * buckets[-1][1]
    low, below = 0.0, 0.0
    for bound, count in buckets:
        if count >= rank and count > below:
            if bound == float("inf"):
                return low
            return low + (bound - low) * (rank - below) / (count - below)
        low, below = bound, count
    return low


def _meant(escape: re.Match[str]) -> str:
    return "\n" if escape[1] == "n" else escape[1]
