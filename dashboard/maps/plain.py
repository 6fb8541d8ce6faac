"""A plain map: one number for every head and panel, from which Python and the scripts draw it by the same rules.

What a map says of itself here holds whatever its local settings are (assets/atlas/maps/plain.mjs follows them).
`dashboard.maps.panel_choice` has the controls by which one panel is shown alone, and only its best heads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.models.card import ModelCard
from analysis.results.scores import Bools, Floats, Missing
from dashboard.maps.entry import LegendEntry
from dashboard.maps.look import LEVELS, Look, level, scale, slopes
from dashboard.maps.packing import pack
from dashboard.maps.panel import Panel, PanelLabel, PanelMeasure, heads_in
from dashboard.maps.sentences import number
from dashboard.maps.steps import SLOPES, STEPS, Slopes, Steps, score_steps, slope_steps
from dashboard.maps.swatch import Swatch
from dashboard.palette import Colours, blend
from dashboard.setting import Part, settings_of

_FINE = 65  # levels of a scale with a middle
_BAR = 9  # colours of the legend's bar
_FAINT = 0.25  # of its colour that a head has beside the best ones


@dataclass(frozen=True, eq=False)
class PlainPanel:
    """A number of every head, [layer, head], and what it is called."""

    key: str
    title: str
    value: Floats  # from 0 to 1, or around 0 on a signed map; NaN where there is none
    reason: npt.NDArray[np.int8]  # a `Missing` where there is no value
    variant: str = ""  # the value of the choosing setting under which it is shown; empty: always
    member: Bools | None = None  # heads that belong; None: those whose value reaches the threshold
    called: str = ""  # what a head is called that belongs
    number: str = ""  # what the tooltip calls the number; empty when the title says it
    digits: int = 2
    ranked: bool = True
    remark: str = ""  # after the title, instead of how many belong
    tone: str = ""  # the name of the colour that it has (`Map.tones`)

    @property
    def steepest(self) -> float:
        """Where a signed scale ends."""
        return float(np.abs(np.nan_to_num(self.value)).max()) or 1.0


@dataclass(frozen=True, eq=False)
class PlainPanels:
    """All panels under all local settings."""

    panels: Sequence[PlainPanel]
    threshold: str = ""  # the key of the setting from which value on a head belongs; only of values from 0 to 1
    chooses: str = ""  # the key of the setting that says which variant is shown
    alone: str = ""  # the key of the setting that says which panel is shown alone
    top: str = ""  # the key of the setting that says how many of a panel's best heads are not faint; 0 is all
    otherwise: str = ""  # what a head is called that belongs to no panel
    signed: bool = False  # colours go both ways from 0, up to each panel's steepest value
    scale: str = ""  # what the colour bar means; none without
    ends: tuple[str, str] = ("0", "1")  # what stands at both ends of the bar

    def of_variant(self, state: Part) -> list[PlainPanel]:
        """The panels of a state, whichever is shown alone."""
        variant = _value(state, self.chooses) if self.chooses else ""
        return [panel for panel in self.panels if panel.variant in {"", variant}]

    def shown(self, state: Part) -> list[PlainPanel]:
        """The panels of a state."""
        there = self.of_variant(state)
        alone = _value(state, self.alone) if self.alone else ""
        return [panel for panel in there if panel.key == alone] or there

    def best(self, state: Part) -> int:
        """How many of a panel's best heads are not faint; 0 is all."""
        return int(_value(state, self.top)) if self.top else 0


def _value(state: Part, key: str) -> Any:
    return getattr(state, settings_of(type(state))[key].name)


def panels(plain: PlainPanels, state: Part) -> tuple[Panel, ...]:
    """What each panel shows under a state; all of them call a head the same, by all panels of its variant."""
    least = _value(state, plain.threshold) if plain.threshold else np.inf
    there = plain.of_variant(state)
    label = _label(plain, there, [_members(panel, least) for panel in there])
    made = []
    for panel in plain.shown(state):
        member, faint = _members(panel, least), _faint(plain, panel, plain.best(state))
        measure = PanelMeasure(panel.number, panel.value, panel.digits, panel.ranked)
        made.append(
            Panel(
                key=panel.key,
                title=panel.title,
                value=panel.value,
                member=member & ~faint,
                reason=_reason(panel),
                tone=panel.tone,
                measures=(measure,),
                label=label,
                remark=panel.remark or _counted(panel, member, faint, least),
                faint=faint,
                steepest=panel.steepest,
            )
        )
    return tuple(made)


def _counted(panel: PlainPanel, member: Bools, faint: Bools, least: float) -> str:
    """How many heads belong, and how many of them are not faint where that is not all."""
    every, here = int(member.sum()), int((member & ~faint).sum())
    counted = heads_in(every) if here == every else f"{here} of {heads_in(every)}"
    return counted if panel.member is not None else f"{counted} ≥ {number(least)}"


def _faint(plain: PlainPanels, panel: PlainPanel, best: int) -> Bools:
    """The heads beside so many best ones, on a signed map those that are furthest from 0; equal ones stay together."""
    steps = _steps(plain, panel).astype(np.int64)  # numbers that the scripts cannot tell apart are equal
    known = ~np.isnan(panel.value)
    strength = np.where(known, np.abs(steps), -1)
    if not best or best >= known.sum():
        return np.zeros(known.shape, bool)
    least = np.sort(strength[known])[-best]
    return np.asarray(known & (strength < least))


def _steps(plain: PlainPanels, panel: PlainPanel) -> Steps | Slopes:
    """The numbers of a panel as the scripts get them."""
    return slope_steps(panel.value, panel.steepest) if plain.signed else score_steps(panel.value)


def _members(panel: PlainPanel, least: float) -> Bools:
    if panel.member is not None:
        return panel.member
    with np.errstate(invalid="ignore"):
        return np.asarray(panel.value >= least)


def _reason(panel: PlainPanel) -> npt.NDArray[np.int8]:
    return np.where(np.isnan(panel.value), panel.reason, Missing.PRESENT).astype(np.int8)


def _label(plain: PlainPanels, shown: Sequence[PlainPanel], members: Sequence[Bools]) -> PanelLabel | None:
    """What every head is called by all panels to which it belongs; None where panels have no such words."""
    called = [(panel.called, member.ravel()) for panel, member in zip(shown, members, strict=True) if panel.called]
    if not called:
        return None
    words = []
    for head in range(called[0][1].size):
        mine = [name for name, member in called if member[head]]
        words.append(" · ".join(mine) or plain.otherwise)
    return PanelLabel.of(words, members[0].shape)


def looks(plain: PlainPanels, drawn: Sequence[Panel], palette: Colours) -> list[Look]:
    """From empty to the panel's own colour, or both ways from empty."""
    made = []
    for panel in drawn:
        colour = 1.0 if panel.faint is None else np.where(panel.faint, _FAINT, 1.0)
        if plain.signed:
            share, levels = (colour * (slope_steps(panel.value, panel.steepest) / SLOPES) + 1) / 2, _FINE
        else:
            share, levels = colour * np.where(np.isnan(panel.value), 0, score_steps(panel.value) / STEPS), LEVELS
        codes = np.where(np.isnan(panel.value), panel.reason, level(share, levels) + len(palette.missing))
        shades = _shades(plain, panel.tone, palette, levels)
        made.append(Look(codes.astype(np.uint8), (*palette.missing, *shades), palette.empty))
    return made


def _shades(plain: PlainPanels, tone: str, palette: Colours, levels: int) -> list[str]:
    return slopes(palette, levels) if plain.signed else scale(palette.empty, palette.of(tone), levels)


def legend(plain: PlainPanels, state: Part, drawn: Sequence[Panel], palette: Colours) -> list[LegendEntry]:
    """A colour bar, and what faint colours mean where there are any."""
    if not plain.scale:
        return []
    tone = plain.panels[0].tone
    entries = [
        LegendEntry(plain.scale, kind="ramp", shades=tuple(_shades(plain, tone, palette, _BAR)), ends=plain.ends)
    ]
    if _has_faint(drawn):
        words = _faint_words(plain.best(state))
        entries.append(LegendEntry(words, kind="ramp", shades=tuple(_faint_shades(plain, tone, palette))))
    return entries


def _has_faint(drawn: Sequence[Panel]) -> bool:
    return any(panel.faint is not None and panel.faint.any() for panel in drawn)


def _faint_words(best: int) -> str:
    return f"faint: not among the top {best} of the panel"


def _faint_shades(plain: PlainPanels, tone: str, palette: Colours) -> list[str]:
    """The colours of faint heads, from the weakest on."""
    if plain.signed:
        return [palette.slope(-_FAINT), palette.slope(0), palette.slope(_FAINT)]
    return [palette.empty, blend(palette.empty, palette.of(tone), _FAINT)]


def swatches(plain: PlainPanels, state: Part, shown: Sequence[Panel], palette: Colours) -> list[Swatch]:
    """The ends of the colour bar, for a picture; without one, each panel's own colour."""
    if plain.signed:
        below, above = plain.ends
        words = f"{above} ({plain.scale})" if plain.scale else above
        ends = [Swatch(palette.slope(-1), below), Swatch(palette.slope(0), "0"), Swatch(palette.slope(1), words)]
    elif not plain.scale:
        ends = [Swatch(palette.of(panel.tone), f"{panel.title}: score 1") for panel in shown]
    else:
        least, most = plain.ends
        ends = [Swatch(palette.of(plain.panels[0].tone), f"{most} ({plain.scale})"), Swatch(palette.empty, least)]
    if _has_faint(shown):
        shade = _faint_shades(plain, shown[0].tone, palette)[-1]
        ends.append(Swatch(shade, _faint_words(plain.best(state))))
    return ends


def topic(plain: PlainPanels, state: Part) -> str:
    """The title of the panel that is shown alone."""
    there, shown = plain.of_variant(state), plain.shown(state)
    return shown[0].title if len(shown) < len(there) else ""


def packed(plain: PlainPanels, card: ModelCard, facts: Mapping[str, Any]) -> bytes:
    """All that the scripts need to draw it under every local setting: arrays run over panels, layers and heads."""
    about_panels: list[dict[str, Any]] = []
    steps: list[Steps | Slopes] = []
    reasons: list[npt.NDArray[np.uint8]] = []
    members: list[npt.NDArray[np.uint8]] = []
    for panel in plain.panels:
        about_panels.append(
            {
                "key": panel.key,
                "title": panel.title,
                "variant": panel.variant,
                "counted": None if panel.member is None else len(members),
                "called": panel.called,
                "number": panel.number,
                "digits": panel.digits,
                "ranked": panel.ranked,
                "remark": panel.remark,
                "tone": panel.tone,
                "steepest": panel.steepest,
            }
        )
        steps.append(_steps(plain, panel))
        reasons.append(_reason(panel).astype(np.uint8))
        if panel.member is not None:
            members.append(panel.member.astype(np.uint8))
    arrays: dict[str, npt.NDArray[Any]] = {"steps": np.stack(steps), "reasons": np.stack(reasons)}
    if members:
        arrays["members"] = np.stack(members)
    names = ("threshold", "chooses", "alone", "top", "otherwise", "signed", "scale", "ends")
    rules = {name: getattr(plain, name) for name in names}
    return pack({**facts, **rules, "layers": list(card.layers), "heads": card.heads, "panels": about_panels}, arrays)
