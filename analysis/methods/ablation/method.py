"""Ablation as a method: its settings, how results are ranked, what it says of a head."""

from typing import Any

import xarray as xr

from analysis.data import relations, tasks
from analysis.data.files import OwnFile
from analysis.data.tasks import DEFAULT_TASKS
from analysis.method import Method, RequestSummary
from analysis.methods.ablation import report
from analysis.methods.ablation.findings import ablation_answers, ablation_findings
from analysis.methods.ablation.items import PROMPT, TASK, old_prompt
from analysis.methods.ablation.plan import AblationPlan
from analysis.methods.ablation.result import (
    ACCURACY,
    BOTH,
    KINDS,
    LEAST_CHANGE,
    NAME,
    POSITION_WORDS,
    VERSION,
    record_of,
    run_name,
    sure_changes,
)
from analysis.methods.ablation.settings import DEFAULT_RELATIONS, AblationSettings
from analysis.models.card import HeadId, ModelCard
from analysis.options import Command
from analysis.results.findings import Finding, SearchQuestion
from analysis.results.labels import LabelRule
from analysis.results.provenance import JsonObject, Provenance, ScoredItem
from analysis.results.scores import Scores


class AblationMethod(Method):
    """What a task, a relation or a prompt loses when one head is switched off."""

    name = NAME
    title = "Ablation map"
    sentence = "What a task, a relation or a prompt loses without each head: minutes."
    version = VERSION
    settings = AblationSettings
    answers_whether = True
    replacements = (*KINDS, BOTH)
    gallery_size = 5e8
    label = LabelRule(
        LEAST_CHANGE,
        "Δ",
        "significant |Δ log P|",
        unit="nats",
        note="changes that are not significant, at 5 % false discoveries, count as 0",
    )
    commands = (
        Command(
            "ablation",
            "what a task, a relation or a prompt loses when one head is switched off "
            f"({', '.join((*DEFAULT_TASKS, *DEFAULT_RELATIONS))} when none is named)",
            ("tasks", "relations", "prompt", "target", "positions", "prompts", "wording", "curve"),
        ),
    )

    def plan(self, card: ModelCard, settings: AblationSettings) -> AblationPlan:
        """For a model; refuses invalid settings."""
        return AblationPlan(
            card=card,
            items=settings.chosen_items(),
            positions=settings.positions,
            most=settings.prompts,
            wording=settings.wording,
            curve=settings.curve,
        )

    def settings_of(self, provenance: Provenance) -> JsonObject:
        """The items by name, each where the command line takes it, and how heads are switched off."""
        settings = super().settings_of(provenance)
        named: dict[str, list[str]] = {"tasks": [], "relations": []}
        for item in provenance.items:
            if item.category == PROMPT:
                settings |= item.settings or old_prompt(item)
            else:
                field = "tasks" if item.category == TASK else "relations"
                named[field].append(_file_name(item) if _is_own(item) else item.name)
        return settings | named

    def files_of(self, provenance: Provenance) -> list[str]:
        """Tasks and relations of one's own."""
        return [_file_name(item) for item in provenance.items if _is_own(item)]

    def asked(self, settings: AblationSettings, card: ModelCard | None = None) -> RequestSummary:
        """The items; in words when they are not the default ones."""
        items = settings.chosen_items()
        titles = ", ".join(item.described(0).title for item in items)
        words = f"{titles} ({settings.prompts} prompts, heads switched off at {POSITION_WORDS[settings.positions]})"
        run = run_name({name: getattr(settings, name) for name in ("positions", "prompts", "wording")})
        return RequestSummary(tuple(item.name for item in items), run, words=words)

    def takes(self, field: str, file: OwnFile) -> bool:
        """Tasks and relations of one's own, but not pairs to contrast."""
        return field == "files"

    def identity(self, settings: AblationSettings) -> Any:
        """The content of the items, and how heads are switched off."""
        items = sorted([item.name, item.hash] for item in settings.chosen_items())
        return [items, settings.positions, settings.prompts, settings.wording, settings.curve]

    def rank(self, scores: Scores) -> Any:
        """A result with curves before one without."""
        curves = sum(bool(record_of(scores, item.name).curve) for item in scores.provenance.items)
        present, count, date = super().rank(scores)
        return present, curves, count, date

    def choice(self, provenance: Provenance) -> str:
        """How heads were switched off: results of one way stand in one map."""
        return run_name(provenance.settings)

    def words(self, provenance: Provenance) -> str:
        """The items, and where heads are off."""
        titles = ", ".join(item.title for item in provenance.items)
        return f"{titles}: heads switched off at {POSITION_WORDS[provenance.settings['positions']]}"

    def report(self, scores: Scores) -> JsonObject:
        """The untouched model, the heads that matter most, the curves."""
        return report.ablation_data(scores)

    def report_text(self, scores: Scores) -> str:
        """The same in words."""
        return report.ablation_text(scores)

    def head(self, scores: Scores, head: HeadId) -> JsonObject:
        """What every item loses without the head."""
        return {self.name: report.head_losses(scores, head)}

    def no_head(self, card: ModelCard, head: HeadId) -> JsonObject:
        """No items."""
        return {self.name: []}

    def head_text(self, scores: Scores, head: HeadId) -> list[str]:
        """The same for a terminal."""
        return report.head_lines(scores, head)

    def unit(self, item: str, kind: str) -> str:
        """Changes of the log-probability, or of the share of right answers."""
        return "change of accuracy" if kind.startswith(ACCURACY) else "nats"

    def strengths(self, scores: Scores, how: str = "mean") -> xr.DataArray:  # [item, layer, head]
        """How much the log-probability changes without the head, either way; 0 where that is not told from none."""
        return sure_changes(scores)

    def strengths_replaced(self, scores: Scores, how: str, replaced: str) -> xr.DataArray:  # [item, layer, head]
        """The same with the head's output set to its mean, or as far as zero and mean agree."""
        return sure_changes(scores, replaced or self.replacements[0])

    def findings(self, scores: Scores, head: HeadId) -> list[Finding]:
        """What changes clearly without the head."""
        return ablation_findings(scores, head)

    def answers(self, scores: Scores, question: SearchQuestion) -> list[Finding]:
        """The heads without which a task or relation changes most."""
        return ablation_answers(scores, question)


def _is_own(item: ScoredItem) -> bool:
    """Whether somebody brought it as a file."""
    return item.category != PROMPT and item.name not in tasks.builtin() and item.name not in relations.builtin()


def _file_name(item: ScoredItem) -> str:
    return f"{item.name}.jsonl" if item.category == TASK else f"{item.name}.csv"
