"""Layer profiles beside or below the panels of a figure."""

from collections.abc import Sequence

import numpy as np

from dashboard.arrange import Box
from dashboard.figures.head_map import Sheet
from dashboard.figures.numbers import Properties, packed
from dashboard.maps.profile import Profile

_ROOMY = 90  # pixels from which there is room for words


def side_profiles(profiles: Sequence[Profile | None], sheet: Sheet, panels: int) -> tuple[list[Properties], Properties]:
    """Traces and axes: bars on the panels' own layers, with one scale in all panels."""
    traces: list[Properties] = []
    axes: Properties = {"barmode": "relative", "bargap": 0.15}
    least, most = _ends(profiles[: len(sheet.place.sides)])
    for number, (profile, box) in enumerate(zip(profiles, sheet.place.sides, strict=False), start=1):
        mark = str(panels + number)
        if profile is not None:
            traces += _bars(profile, sheet, mark)
        axes |= _axes(profile, sheet, box, mark, (least, most))
    return traces, axes


def _ends(profiles: Sequence[Profile | None]) -> tuple[float, float]:
    """From where to where the bars of all panels go."""
    there = [profile for profile in profiles if profile is not None]
    longest = [np.max(profile.shares) if profile.signed else np.sum(profile.shares, axis=0).max() for profile in there]
    most = float(max(longest, default=0.0)) or 1.0
    return (-most if any(profile.signed for profile in there) else 0.0), most


def _bars(profile: Profile, sheet: Sheet, mark: str) -> list[Properties]:
    """One trace for each name."""
    bars = []
    for i, (name, shade, shares) in enumerate(zip(profile.names, profile.colours, profile.shares, strict=True)):
        signed = packed(-shares if profile.signed and i else shares)
        place = list(range(len(shares)))
        bars.append(
            {
                "type": "bar",
                "x": signed if sheet.lies.across else place,
                "y": place if sheet.lies.across else signed,
                "orientation": "h" if sheet.lies.across else "v",
                "customdata": list(sheet.layers),
                "text": [f"{100 * share:.0f} %" for share in shares],
                "textposition": "none",
                "hovertemplate": f"layer %{{customdata}}: {name} %{{text}}<extra></extra>",
                "marker": {"color": shade},
                "name": name,
                "xaxis": f"x{mark}",
                "yaxis": f"y{mark}",
                "showlegend": False,
            }
        )
    return bars


def _axes(profile: Profile | None, sheet: Sheet, box: Box, mark: str, ends: tuple[float, float]) -> Properties:
    """The layers follow the panel's axis; the shares have one scale."""
    place, across = sheet.place, sheet.lies.across
    marked = (-ends[1], 0.0, ends[1]) if not across or box.width >= _ROOMY else (0.0,)
    ticks = [tick for tick in marked if tick >= ends[0]]
    share = {
        "range": [ends[0] * 1.2, ends[1] * 1.2],
        "tickvals": ticks,
        "ticktext": [f"{abs(100 * tick):.0f} %" for tick in ticks],
        "zeroline": True,
        "zerolinecolor": sheet.palette.faint,
        "zerolinewidth": 1,
        "showgrid": False,
        "ticks": "",
    }
    layers = np.array([-0.5, len(sheet.layers) - 0.5]).tolist()
    layer = {"range": layers, "showticklabels": False, "showgrid": False, "zeroline": False, "ticks": ""}
    names = profile.names[::-1] if profile is not None and profile.signed else ("",)
    words = " · share of heads · ".join(names) if box.width >= 1.5 * _ROOMY else " · ".join(names)
    x, y = ({**share, "title": {"text": words, "standoff": 2}}, layer) if across else (layer, share)
    return {
        f"xaxis{mark}": {
            **x, "domain": [box.left / place.width, (box.left + box.width) / place.width], "anchor": f"y{mark}",
            **({} if across else {"matches": "x"}),
        },
        f"yaxis{mark}": {
            **y, "domain": [1 - (box.top + box.height) / place.height, 1 - box.top / place.height],
            "anchor": f"x{mark}", **({"matches": "y"} if across else {}),
        },
    }  # fmt: skip
