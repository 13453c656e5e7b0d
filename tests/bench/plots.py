"""The plot: one panel of bars for each of the findings' titles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib

from tests.bench.findings import Bars, number

matplotlib.use("Agg")

from matplotlib import pyplot

_OURS, _OTHERS = "#2f6f8f", "#b9c4cc"
_COLUMNS = 2


def draw(panels: Sequence[Bars], path: Path) -> None:
    rows = -(-len(panels) // _COLUMNS)
    # As high as the one with the most bars in it, so that bars are about alike.
    heights = [
        0.9 + 0.24 * max(len(bars.values) for bars in panels[row * _COLUMNS : (row + 1) * _COLUMNS])
        for row in range(rows)
    ]
    figure, axes = pyplot.subplots(
        rows, _COLUMNS, figsize=(13, sum(heights)), squeeze=False, height_ratios=heights
    )
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    for axis, bars in zip(axes.flat, panels, strict=False):
        names, values = list(bars.values)[::-1], list(bars.values.values())[::-1]
        colours = [_OURS if name.startswith("coordrooms") else _OTHERS for name in names]
        drawn = axis.barh(names, values, color=colours)
        axis.bar_label(drawn, [f" {number(value)}" for value in values], fontsize=8)
        axis.set_title(f"{bars.title}, {bars.unit}", fontsize=10, loc="left")
        axis.tick_params(labelsize=8)
        # Each bar has its number.
        axis.xaxis.set_visible(False)
        axis.spines[["top", "right", "bottom"]].set_visible(False)
        axis.margins(x=0.15)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
