"""Charts as specifications of Vega-Lite, and their SVG, which vl-convert makes without network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vl_convert import vegalite_to_svg

VegaLite = dict[str, Any]
"""A chart, or one of its channels: `title`, `scale` and `axis`."""
Key = tuple[str, str]
"""A series: what decides its colour (an engine, a program, a rate), and its dashes and shape (a guarantee, a mode)."""
Values = dict[Key, list[tuple[float | str, float]]]
"""The values of each series on both axes. Of those with the same first value, the median is drawn."""

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""The colours of Okabe and Ito, which colour-blind readers distinguish."""
_DASHES = ((1, 0), (8, 4), (2, 3), (10, 3, 2, 3))
_SHAPES = ("circle", "square", "triangle-up", "diamond")
_CONFIG = {
    "autosize": {"type": "fit", "contains": "padding"},
    "view": {"continuousWidth": 800, "continuousHeight": 460, "step": 20, "stroke": None},
    "padding": 16,
    "background": "white",
    # vl-convert contains the first, which thus exists on every machine.
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",
    "numberFormat": ",.3~f",
    "title": {"fontSize": 17, "anchor": "start", "frame": "group", "offset": 14},
    "style": {"guide-label": {"fontSize": 12}, "guide-title": {"fontSize": 13, "fontWeight": "normal"}},
    "axis": {"labelFlush": False, "titlePadding": 10},
    "legend": {"orient": "top", "offset": 14, "columnPadding": 24, "labelLimit": 0},
    "point": {"filled": True, "opacity": 1, "size": 70},
    "rule": {"color": "#555555", "strokeDash": [6, 3]},
    "text": {"color": "#555555", "fontSize": 12, "align": "left"},
}


def bar_chart(title: str, value: VegaLite, values: Values, first: Sequence[str]) -> VegaLite:
    """Groups of horizontal bars, each followed by its value; the first of two values is the group.

    What is in `first` has the first colours, whether or not it has values.
    """
    colour, _, _ = _looks(values, first, {"symbolSize": 150})
    x = {"field": "y", "aggregate": "median", **value}
    y = {"field": "x", "sort": None, "title": None, "axis": {"ticks": False, "labelPadding": 8, "labelLimit": 0}}
    encoding = {"x": x, "y": y, "yOffset": {"field": "series", "sort": colour["scale"]["domain"]}}
    bars = {"mark": "bar", "encoding": {"color": colour}}
    texts = {"mark": {"type": "text", "dx": 4}, "encoding": {"text": {**x, "format": ",.0f"}}}
    # The text of the longest bar may need space beyond the axis.
    padding = {"left": 16, "top": 16, "right": 40, "bottom": 16}
    return _chart(title, values, {"padding": padding, "encoding": encoding, "layer": [bars, texts]})


def line_chart(title: str, x: VegaLite, y: VegaLite, values: Values, first: Sequence[str]) -> VegaLite:
    """Lines with points over two axes; for `first` see `bar_chart`."""
    return _chart(title, values, {"layer": _lines_and_points(x, y, values, first)})


def time_chart(title: str, x: VegaLite, y: VegaLite, values: Values, rules: Mapping[str, float]) -> VegaLite:
    """Lines of many points, and horizontal rules by their texts."""
    lines, _ = _lines_and_points(x, y, values, ())
    layers: list[object] = [lines]
    for text, at in rules.items():
        rule = {"mark": "rule", "encoding": {"y": {"datum": at}}}
        below = {"mark": {"type": "text", "text": text, "x": 6, "dy": 10}, "encoding": {"y": {"datum": at}}}
        layers.append({"data": {"values": [{}]}, "layer": [rule, below]})
    return _chart(title, values, {"layer": layers})


def stacked(title: str, charts: Sequence[VegaLite]) -> VegaLite:
    """Charts of the same series below each other, with one legend. Their own titles are left out."""
    config = {name: value for name, value in _CONFIG.items() if name != "autosize"}
    parts = [{name: value for name, value in chart.items() if name not in {"title", "config"}} for chart in charts]
    return {
        "title": title,
        "config": config,
        "resolve": {"scale": {"color": "shared", "strokeDash": "shared"}},
        "vconcat": [{**part, "width": 700, "height": 200} for part in parts],
    }


def svg(chart: VegaLite) -> str:
    """The chart as SVG without scripts and links. Equal charts have equal bytes."""
    return vegalite_to_svg(chart, vl_version="6.4")


def joined(words: Iterable[str]) -> str:
    """The words that are not empty."""
    return ", ".join(filter(None, words))


def _lines_and_points(x: VegaLite, y: VegaLite, values: Values, first: Sequence[str]) -> tuple[VegaLite, VegaLite]:
    """A layer of each."""
    colour, dash, shape = _looks(values, first, {"symbolType": "stroke", "symbolSize": 600, "symbolStrokeWidth": 2})
    axes = {"x": {"field": "x", "type": "quantitative", **x}, "y": {"field": "y", "aggregate": "median", **y}}
    lines = {"mark": "line", "encoding": {**axes, "color": colour, "strokeDash": dash}}
    return lines, {"mark": "point", "encoding": {**axes, "color": colour, "shape": shape}}


def _looks(values: Values, first: Sequence[str], legend: Mapping[str, object]) -> tuple[VegaLite, ...]:
    """The channels of colours, dashes and shapes."""
    colours = list(dict.fromkeys([*first, *(colour for colour, _ in values)]))
    variants = sorted({variant for _, variant in values}, key=lambda variant: (variant.count(","), variant))
    keys = sorted(values, key=lambda key: (colours.index(key[0]), variants.index(key[1])))
    names = [joined(key) for key in keys]
    # As many as fit into the width.
    columns = 3 if max(map(len, names)) < 28 else 2
    series = {"field": "series", "type": "nominal", "title": None, "legend": {**legend, "columns": columns}}
    colour_range = [_COLOURS[colours.index(colour) % len(_COLOURS)] for colour, _ in keys]
    dash_range = [_DASHES[variants.index(variant) % len(_DASHES)] for _, variant in keys]
    return (
        {**series, "scale": {"domain": names, "range": colour_range}},
        {**series, "scale": {"domain": names, "range": dash_range}},
        # Of another field, since shapes would replace the lines in the legend.
        {"field": "variant", "type": "nominal", "scale": {"domain": variants, "range": _SHAPES}, "legend": None},
    )


def _chart(title: str, values: Values, views: VegaLite) -> VegaLite:
    keys_and_points = [(key, point) for key, points in values.items() for point in points]
    rows = [{"series": joined(key), "variant": key[1], "x": x, "y": y} for key, (x, y) in keys_and_points]
    return {"title": title, "config": _CONFIG, "data": {"values": rows}, **views}
