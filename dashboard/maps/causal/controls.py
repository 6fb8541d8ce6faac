"""The controls of the causal map."""

from collections.abc import Mapping

import dash_mantine_components as dmc

from analysis.results.scores import Scores
from dashboard.maps.causal.gates import seeds
from dashboard.maps.causal.state import FIRST, CausalState
from dashboard.maps.control import Choice, Control, picker, segments, slider
from dashboard.setting import MAX_NAMES


def controls() -> list[Control]:
    """Tasks, columns, scores, seeds, fit, threshold."""
    return [*_shown(), *_fitted()]


def _shown() -> list[Control]:
    default = CausalState()
    scores = {
        "both": "Both",
        "facilitation": "Needs it (F)",
        "interference": "Hurts it (N)",
        "irrelevance": "Does not matter (R)",
        "preview": "Preview",
    }
    return [
        Control(
            "tasks",
            "Tasks",
            "The rows of the causal map: what the model was asked to do while its gates were fitted.",
            _tasks(),
            is_picker=True,
        ),
        Control(
            "columns",
            "Rule",
            "Always: the lowest value over all random initialisations (for the preview, prompts). Any: the highest.",
            segments("columns", "Rule", default.columns, both="Always + Any", always="Always", any="Any"),
        ),
        Control(
            "gates",
            "Show",
            "Both: which heads a task needs and which hurt it, as two colours. Or one score alone, or the gradient "
            "preview, a first-order estimate.",
            segments("gates", "Show", default.gates, **scores),
        ),
    ]


def _fitted() -> list[Control]:
    return [
        Control(
            "seed",
            "Seeds",
            "How many random initialisations Always and Any cover, or a single one.",
            picker("seed", "Seeds", 90),
            is_picker=True,
            advanced=True,
        ),
        Control(
            "fit",
            "Fit",
            "Which fit of the model's gates is shown: the longest, or another one.",
            picker("fit", "Fit", 96, comboboxProps={"width": 420, "position": "bottom-start"}),
            is_picker=True,
            decides_choices=True,
            conditional=True,
            advanced=True,
        ),
        Control(
            "role",
            "Threshold θ",
            "A head has a role if its score is at least θ; below that, its colour is fainter. The paper uses 0.5.",
            slider("role", "Threshold θ", CausalState().threshold),
            has_number=True,
        ),
    ]


def _tasks() -> dmc.MultiSelect:
    return dmc.MultiSelect(
        id="tasks", data=[], value=[], size="xs", w=180, maxValues=MAX_NAMES,
        hidePickedOptions=True, clearable=False, **{"aria-label": "Tasks"},
    )  # fmt: skip


def task_choices(causal: Scores | None) -> list[dict[str, str]]:
    """The tasks that gates were fitted for."""
    items = causal.provenance.items if causal is not None else ()
    return [{"value": item.name, "label": item.title} for item in items]


def fit_choices(fits: Mapping[str, str]) -> list[dict[str, str]]:
    """The longest, then all by their words."""
    return [{"value": "", "label": "Longest"}, *({"value": name, "label": words} for name, words in fits.items())]


def seed_choices(causal: Scores | None) -> list[Choice]:
    """All seeds, so many of them, one of them."""
    there = seeds(causal) if causal is not None else []
    choices: list[Choice] = [{"value": "", "label": f"All {len(there)}" if there else "All"}]
    fewer = [{"value": f"{FIRST}{count}", "label": f"First {count}"} for count in range(2, len(there))]
    if fewer:
        choices.append({"group": "Fewer", "items": fewer})
    single = [{"value": seed, "label": f"Seed {seed}"} for seed in there]
    return [*choices, {"group": "A single seed", "items": single}]
