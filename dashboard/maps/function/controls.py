"""The controls of the function map, from the most used on."""

import dash_mantine_components as dmc

from analysis.data.relations import FLOOR
from analysis.relations.scores import categories
from analysis.results.provenance import ScoredItem
from analysis.results.scores import OVER_SAMPLES, Scores
from dashboard.maps.control import Choice, Control, best_heads, item_choices, item_picker, picker, segments, slider
from dashboard.maps.function.basis import bases, has_carriers
from dashboard.maps.function.besides import offering
from dashboard.maps.function.state import FunctionState


def controls() -> list[Control]:
    """What the scores are read from, then rule, effect, colours and threshold, then which labels."""
    return [*_read_from(), *_shown(), *_labels()]


def _read_from() -> list[Control]:
    return [
        Control(
            "basis",
            "Read from",
            f"What each head does. {' '.join(f'{method.basis}: {method.about}.' for method in bases())}",
            segments("basis", "Read from", bases()[0].name, **{method.name: method.basis for method in bases()}),
            decides_choices=True,
        ),
        Control(
            "carriers",
            "Carriers",
            "The phrases before each word in the running model. A score is the mean over them, the lowest (every), the "
            "highest (some), or that of one phrase.",
            picker("carriers", "Carriers", 190),
            is_picker=True,
            conditional=True,
        ),
    ]


def _shown() -> list[Control]:
    default = FunctionState()
    kinds = {"both": "Both", "promote": "Promote", "suppress": "Suppress"}
    return [
        Control(
            "how",
            "Category rule",
            "Any: at least one relation of the category scores above τ. Always: every relation does.",
            segments("how", "Category rule", default.how, any="Any", always="Always"),
        ),
        Control(
            "kind",
            "Effect",
            "Promote: the head lifts the right token to the top. Suppress: it pushes it to the bottom.",
            segments("kind", "Effect", default.kind, **kinds),
        ),
        Control(
            "colour",
            "Colour by",
            "Category: one colour each above τ. Score: the number itself, from 0 to 1.",
            segments("colour", "Colour by", default.colour, categories="Category", scores="Score"),
        ),
        Control(
            "tau",
            "Threshold τ",
            "A score is the share of a relation's word pairs that the head maps correctly. Above τ it counts. Controls "
            f"are measured from {FLOOR} on: with a smaller τ, unspecific labels below it are not recognised.",
            slider("tau", "Threshold τ", default.tau),
            has_number=True,
        ),
    ]


def _labels() -> list[Control]:
    return [
        Control(
            "labels",
            "Labels",
            "Beyond copying: only labels whose targets outrank the source itself in at least half of the hits, and "
            "that shuffled targets would not earn. The others are drawn hollow. Copying relations, where source and "
            "target are the same word, are exempt from the first: their labels stay.",
            segments("labels", "Labels", FunctionState().labels, all="All", beyond="Beyond copying"),
            conditional=True,
        ),
        Control(
            "own",
            "Own relations",
            "A set of uploaded relations, in addition to the built-in ones. Upload your own under Models and jobs.",
            picker("own", "Own relations", 170),
            is_picker=True,
            conditional=True,
            decides_choices=True,
        ),
        Control(
            "also",
            "Also",
            "One more category: heads that look at the previous token, at an earlier occurrence of the same token, "
            "or at what followed it.",
            dmc.Switch(id="also", checked=False, label=_others(), size="sm"),
            prop="checked",
            conditional=True,
        ),
        item_picker("relation", "Relation", "One relation instead of the categories."),
        Control(
            "uncertain",
            "Uncertain",
            "A label is uncertain when its 95 % interval, which depends on the number of pairs, contains τ.",
            dmc.Switch(id="uncertain", checked=False, label="Show", size="sm", **{"aria-label": "Show uncertain"}),
            prop="checked",
            advanced=True,
        ),
        best_heads("top", "The strongest heads of each category; empty shows all."),
    ]


def _others() -> str:
    """The categories that other methods offer."""
    return ", ".join(method.category.capitalize() for method in offering())


def carrier_choices(scores: Scores | None) -> list[Choice]:
    """The ways to take all carriers together, then each alone."""
    words = {"mean": "Mean", "every": "Every: the lowest", "some": "Some: the highest"}
    groups: list[Choice] = [{"value": how, "label": words[how]} for how in OVER_SAMPLES]
    if scores is None or not has_carriers(scores):
        return groups
    groups.append({"group": "One", "items": [{"value": name, "label": name} for name in scores.samples]})
    return groups


def relation_choices(scores: Scores | None) -> list[Choice]:
    """All categories first, then the relations of each."""
    groups: dict[str, list[ScoredItem]] = {}
    if scores is not None:
        for category in categories(scores):
            groups[category] = [scores.item(name) for name in scores.items(category)]
    return item_choices("All, by category", groups)
