"""The causal map: which heads a task needs and which hurt it, by gates that were fitted while the model did it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from dash import html

from analysis.data.tasks import DEFAULT_TASKS
from analysis.method import RequestSummary
from analysis.methods.causal.method import CausalMethod
from analysis.models.card import HeadId, ModelCard
from analysis.results.provenance import Provenance
from analysis.results.scores import Scores
from dashboard.maps.causal import card as card_part
from dashboard.maps.causal import exports, legend, matrix, table, trial, words
from dashboard.maps.causal.colours import looks, tones
from dashboard.maps.causal.controls import controls, fit_choices, seed_choices, task_choices
from dashboard.maps.causal.gates import (
    COLUMN_NAMES,
    FIRST_TASKS,
    PREVIEW,
    first_seeds,
    is_of_one_seed,
    seeds,
    shown_tasks,
    task_names,
)
from dashboard.maps.causal.numbers import numbers
from dashboard.maps.causal.panels import panels
from dashboard.maps.causal.profile import layer_shares
from dashboard.maps.causal.sections import SECTIONS, contents
from dashboard.maps.causal.state import CausalState
from dashboard.maps.causal.tasks import share_tables
from dashboard.maps.causal.words import CausalView
from dashboard.maps.columns import Cells, Column
from dashboard.maps.control import Control
from dashboard.maps.counts import ShareTable
from dashboard.maps.entry import LegendEntry
from dashboard.maps.head_part import AskedHead, HeadPart
from dashboard.maps.head_rows import HeadRows
from dashboard.maps.look import Look
from dashboard.maps.map import Map
from dashboard.maps.panel import Panel
from dashboard.maps.paper import Paper
from dashboard.maps.profile import Profile
from dashboard.maps.section import Content, Section
from dashboard.maps.sentences import Said
from dashboard.maps.swatch import Swatch
from dashboard.palette import Colours
from dashboard.setting import SettingValues


class CausalMap(Map[CausalState]):
    """A row of panels for each task; Always and Any over the seeds."""

    name = CausalMethod.name
    title = CausalMethod.title
    part = CausalState
    paper = Paper("Nam et al. 2025", "Nam et al., Causal Head Gating, NeurIPS 2025", "https://arxiv.org/abs/2505.13737")
    layers_upward = True  # as published
    help = (
        "In the causal map every head has a gate, fitted while the model does a task. Facilitation F: the task "
        "needs the head. Interference N: the head hurts it. Irrelevance R: it does not matter."
    )

    def choice(self, state: CausalState) -> str:
        """The fit that goes first."""
        return state.fit

    def repaired(
        self, state: CausalState, results: Mapping[str, Scores], choices: Mapping[str, str], card: ModelCard
    ) -> tuple[CausalState, list[str]]:
        """Only a fit, tasks and seeds that the model has; the first tasks need not be named."""
        notices = []
        if state.fit and state.fit not in choices:
            notices.append(f"{card.id} has no fit {state.fit} here; the default one is shown.")
            state = replace(state, fit="")
        result = results.get(self.name)
        if result is None:
            return state, notices
        there = task_names(result)
        notices += [f"{card.id} has no gates for the task {task!r}." for task in state.tasks if task not in there]
        tasks = tuple(task for task in state.tasks if task in there)
        state = replace(state, tasks=() if tasks == there[:FIRST_TASKS] else tasks)
        if state.one_seed and state.one_seed not in seeds(result):
            notices.append(f"{card.id} has no seed {state.one_seed}; all seeds are shown.")
            state = replace(state, seed="")
        if state.first_seeds >= len(seeds(result)):
            state = replace(state, seed="")
        return state, notices

    def narrowed(self, result: Scores, state: CausalState, results: Mapping[str, Scores]) -> Scores:
        """Only the first seeds, when so many are asked for."""
        return first_seeds(result, state.first_seeds) if state.first_seeds else result

    def state_of_result(self, provenance: Provenance) -> CausalState:
        """Its own fit goes first."""
        return CausalState(fit=CausalMethod().choice(provenance))

    def state_of_job(self, asked: Mapping[str, RequestSummary]) -> CausalState:
        """The tasks that were asked for, from this very fit."""
        gates = asked[self.name]
        tasks = () if gates.items[:FIRST_TASKS] == DEFAULT_TASKS else gates.items
        return CausalState(tasks=tasks, gates="preview" if gates.variant == PREVIEW else "both", fit=gates.choice)

    def controls(self) -> Sequence[Control]:
        """Tasks, columns, scores, seeds, fit, threshold."""
        return controls()

    def offered(self, shown: CausalView | None, choices: Mapping[str, str]) -> dict[str, list[Any]]:
        """The tasks, seeds and fits of the model."""
        causal = shown.whole if shown is not None else None
        return {"tasks": task_choices(causal), "seed": seed_choices(causal), "fit": fit_choices(choices)}

    def control_values(self, shown: CausalView | None, state: CausalState) -> SettingValues:
        """The tasks that are on the page, chosen or not."""
        tasks = list(shown_tasks(shown.whole, state)) if shown is not None else []
        return {**super().control_values(shown, state), "tasks": tasks}

    def needless(self, shown: CausalView | None, state: CausalState, choices: Mapping[str, str]) -> set[str]:
        """Fits, where there is one."""
        return set() if len(choices) > 1 else {"fit"}

    def idle(self, shown: CausalView) -> dict[str, str]:
        """Threshold and seeds, of the preview; Always and Any, of one seed; seeds, where there is one."""
        if shown.state.gates == PREVIEW:
            words = "The preview comes from gradients alone."
            return {"role": f"{words} It has no threshold.", "seed": f"{words} It has no seeds."}
        reasons = {}
        if shown.state.one_seed or is_of_one_seed(shown.result):
            reasons["columns"] = "One seed is shown: Always and Any would be the same."
        if is_of_one_seed(shown.whole):
            reasons["seed"] = "There is only one seed."
        return reasons

    def called(self, shown: CausalView) -> dict[str, dict[str, str]]:
        """The preview's mean takes the place of Always beside Any."""
        return {"columns": {"both": COLUMN_NAMES["mean"]}} if shown.state.gates == PREVIEW else {}

    def panels(self, shown: CausalView) -> tuple[Panel, ...]:
        """Tasks by columns."""
        return panels(shown.result, shown.state)

    def numbers(self, shown: CausalView) -> bytes:
        """All scores on the page."""
        return numbers(shown)

    def tones(self, palette: Colours) -> Mapping[str, str]:
        """A colour for each role, and those of the cells."""
        return tones(palette)

    def looks(self, shown: CausalView, palette: Colours) -> Sequence[Look]:
        """Two roles mixed, one score alone, or gradients around 0."""
        return looks(shown.panels, shown.state, palette)

    def profile(self, panel: Panel, palette: Colours) -> Profile | None:
        """The share of a layer's heads that facilitate, and that interfere."""
        return layer_shares(panel, palette)

    def warning(self, shown: CausalView) -> list[Any]:
        """That a fit is a trial."""
        return trial.warning(shown)

    def shares(self, shown: CausalView, palette: Colours) -> Sequence[ShareTable]:
        """The share of heads with each role."""
        return share_tables(shown.result, shown.state, palette)

    def said(self, shown: CausalView) -> list[Said]:
        """What colours mean, and over which seeds."""
        return words.said(shown)

    def legend(self, shown: CausalView, palette: Colours) -> list[LegendEntry]:
        """A square of both roles, or a colour bar."""
        return legend.legend(shown, palette)

    def sections(self) -> Sequence[Section]:
        """Tasks, validation, loss curves."""
        return SECTIONS

    def contents(self, shown: CausalView, width: int, dark: bool) -> Mapping[str, Content]:
        """The sections' contents for the tasks on the page."""
        return contents(shown, width, dark)

    def absent(self, card: ModelCard, state: CausalState) -> list[Any]:
        """What it would say, and how to get it."""
        return [
            html.H2(f"No causal map of {card.id} yet"),
            html.P(
                "The causal map says which heads help or hurt the model while it does a task such as arithmetic. It is "
                "found by fitting one gate for each head, which takes minutes to hours."
            ),
            html.P(
                ["Request it under ", html.B("Models and jobs"), " with the method ", html.B(self.title), ", or run"]
            ),
            html.P(html.Code(self.command(card.id))),
        ]

    def head_part(self, asked: AskedHead, shown: CausalView | None) -> HeadPart | None:
        """Its gates in every seed; nothing when there are none."""
        return card_part.head_part(asked, shown) if shown is not None else None

    def head_rows(self, heads: Sequence[HeadId], shown: CausalView) -> HeadRows:
        """F and N of every task."""
        return matrix.head_rows(heads, shown)

    def columns(self, shown: CausalView) -> list[Column]:
        """Roles, scores, effect and preview of each task."""
        return table.columns(shown.result)

    def cells(self, shown: CausalView) -> dict[str, Cells]:
        """Their values."""
        return table.cells(shown.result, shown.state.threshold)

    def swatches(self, shown: CausalView, palette: Colours) -> list[Swatch]:
        """The corners of the two channels, or the ends of a scale."""
        return legend.swatches(shown, palette)

    def heading(self, shown: CausalView) -> str:
        """Which heads light up."""
        return legend.heading(shown)

    def origin(self, provenance: Provenance) -> str:
        """By what it was found."""
        return "causal map by learned gates"

    def source(self, provenance: Provenance) -> list[str]:
        """Seeds and updates."""
        return [f"{provenance.settings.get('seeds', '?')} seeds", f"{_updates(provenance) or '?'} updates"]

    def frame(self, shown: CausalView) -> pd.DataFrame:
        """A row for each head, panel and score."""
        return exports.frame(shown)

    def scores_frame(self, result: Scores) -> pd.DataFrame:
        """One row per score that there is."""
        return exports.scores_frame(result)

    def reproduce(self, shown: CausalView, title: str, address: str) -> str:
        """A script that fits each task on the page again."""
        return exports.reproduce(shown, title, address)


def _updates(provenance: Provenance) -> str:
    settings = provenance.settings
    return "+".join(str(settings[name]) for name in ("free_updates", "push_updates") if name in settings)
