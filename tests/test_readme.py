"""The README tells the truth: its commands parse, its counts are counted."""

import json
import re
import shlex
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from analysis.cli import _parser, main
from analysis.data.relations import CATEGORIES, builtin
from analysis.evidence.agreement import BOTH, IRRELEVANT, WORDS, agreements, p_words
from analysis.evidence.catalogue import Catalogue
from analysis.evidence.heads import results_of
from analysis.evidence.shipped import shipped_scores
from analysis.methods.ablation.report import curve_lines
from analysis.methods.ablation.result import record_of
from analysis.methods.causal.report import causal_data
from analysis.models.card import HeadId
from analysis.models.sources import fetched_models, gallery_models
from analysis.models.vocabulary import MIN_PAIRS, Vocabulary
from analysis.results.store import Store, cache_folder

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def relation_table(vocabulary: Vocabulary) -> list[str]:
    """The README's table of relations, made from the data."""
    lines = ["| category | name | relation | pairs | kept |", "|---|---|---|---|---|"]
    for category in CATEGORIES:
        for relation in (r for r in builtin().values() if r.category == category):
            kept = len(vocabulary.keep(relation))
            lines.append(f"| {category} | {relation.name} | {relation.title} | {len(relation.pairs)} | {kept} |")
    return lines


def test_relation_counts_are_counted(default_checkpoint):
    """Pairs and kept pairs of every relation, as the default model's tokenizer keeps them."""
    table = "\n".join(relation_table(Vocabulary.open(default_checkpoint.folder)))
    assert table in README


def added_pairs_table():
    """The README's table of what sources of several tokens add: by model, the cell of every relation."""
    start = README.index("| relation | pairs | smollm2-135m-instruct |")
    lines = README[start:].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    heading, _, *rows = rows
    return {model: {row[0]: row[column] for row in rows} for column, model in enumerate(heading[2:], 2)}


@pytest.mark.parametrize("model", ["smollm2-135m-instruct", "gemma-3-270m", "qwen2.5-coder-1.5b-instruct"])
def test_the_pairs_that_sources_of_several_tokens_add_are_what_relations_prints(model, capsys):
    """A model's column is the command's; those of the gallery where their weights are here."""
    if model in gallery_models() and model not in fetched_models(cache_folder()):
        pytest.skip(f"the weights of {model} are not here (make gallery fetches them)")
    assert main(["relations", model, "--json"]) == 0
    expected = {}
    for row in json.loads(capsys.readouterr().out):
        kept, added = row["models"][model].values()
        expected[row["title"]] = f"{kept} + {added}" if kept + added >= MIN_PAIRS else f"{kept} + {added} (n/a)"
    assert added_pairs_table()[model] == expected


@pytest.mark.parametrize("model", ["smollm2-135m-instruct", "gemma-3-270m", "qwen2.5-coder-1.5b-instruct"])
def test_the_pairs_of_single_tokens_are_those_of_the_shipped_results(model):
    """In every model's column, the first number is what its map was computed from."""
    items = shipped_scores("running", model).provenance.items
    kept = {title: int(cell.split(" + ")[0]) for title, cell in added_pairs_table()[model].items()}
    assert kept == {item.title: item.kept for item in items}


def test_the_tables_of_three_models_are_what_compare_prints(tmp_path, monkeypatch, capsys):
    """Labels, what the weights find, and the correlations of all maps that come with the project."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path))
    assert main(["compare"]) == 0
    labels, correlations = capsys.readouterr().out.strip().split("\n\n")
    assert labels in README
    assert correlations in README


def withstood():
    """The rows of the table of faults."""
    start = README.index("| what happens | what follows | proof |")
    return README[start:].split("\n\n")[0].splitlines()[2:]


def named_tests():
    """The tests that the section on faults names, each with its file."""
    for row in withstood():
        file = ""
        for path, name in re.findall(r"`([\w/.]*)::(\w+)`", row):
            file = path or file
            yield file, name


def test_every_row_of_what_it_withstands_names_a_test():
    """The files have these tests, those called slow are marked so, and no row is without a proof."""
    rows = withstood()
    assert len(rows) > 20
    assert all("::test_" in row or "`make bench`" in row for row in rows)
    for file, name in named_tests():
        text = (ROOT / file).read_text()
        assert f"\ndef {name}(" in text, (file, name)
        is_slow = text.partition(f"\ndef {name}(")[0].endswith("@pytest.mark.slow")
        told = re.search(rf"(slow )?`[\w/.]*::{name}`", README)
        assert bool(told[1]) == is_slow, (file, name)


def percent(share):
    return f"{100 * share:.1f} %"


def signed(number, digits):
    return f"{number:+.{digits}f}".replace("-", "−")


_ROLES = {"F": "facilitation", "R": "irrelevance", "N": "interference"}


def causal_claims():
    """What the README says of the shipped gates, made from them."""
    scores = shipped_scores("causal")
    data = causal_data(scores)
    settings = data["settings"]
    yield f"{settings['free_updates']} + {settings['push_updates']} updates of {settings['batch']} prompts"
    yield f"{data['seeds']} seeds"
    for task in data["tasks"]:
        title, found, helps, hurts = task["title"], task["evidence"], task["facilitation"], task["interference"]
        kinds = ", ".join(f"{kind['kind'].replace('_', ' ')} {kind['accuracy']:.0%}" for kind in task["kinds"])
        yield f"| {title} | {task['accuracy']:.0%} | {task['nll']:.2f} | {kinds} |"
        both = [f"{percent(helps[how])} / {percent(hurts[how])}" for how in ("always", "any")]
        yield f"| {title} | {both[0]} | {both[1]} |"
        yield f"{percent(found['some_role'])} ({title})"
        ends = [*found["last_nll"]["open"], *found["last_nll"]["shut"]]
        yield f"between {min(ends):.2f} and {max(ends):.2f} for {title}"
        yield f"{found['settled_open']:.0%} of G⁺ and {found['settled_shut']:.0%} of G⁻ for {title}"
        drifts = [*found["still_falling"]["open"], *found["still_falling"]["shut"]]
        yield f"{signed(min(drifts), 3)} to {signed(max(drifts), 3)} for {title}"
        yield f"{found['unpushed']:.0%} ({title})"
        effects = {letter: signed(found[f"effect_{role}"], 3) for letter, role in _ROLES.items()}
        yield f"{title} {', '.join(f'{effect} by {letter}' for letter, effect in effects.items())}"
        rho = task["agreement"]
        yield f"{title} {signed(rho['facilitation'], 2)} with F, {signed(rho['interference'], 2)} with N"


@pytest.mark.parametrize("claim", list(causal_claims()))
def test_numbers_of_the_causal_map_are_those_of_the_shipped_gates(claim):
    """Accuracy, shares, evidence, effects, correlations: however the text is broken into lines."""
    assert " ".join(claim.split()) in " ".join(README.split())


@pytest.mark.parametrize("model", ["smollm2-135m-instruct", "gemma-3-270m"])
def test_the_curves_of_ablation_are_those_that_ship(model):
    """The table of country → capital as the command prints it."""
    scores = shipped_scores("ablation", model)
    curve = record_of(scores, "country_capital").curve
    table = [line for line in curve_lines(curve, scores.provenance.model) if line.startswith("|")]
    assert "\n".join(table) in README


@pytest.mark.parametrize(("model", "head"), [("smollm2-135m-instruct", "L23H4"), ("gemma-3-270m", "L12H2")])
def test_the_paragraphs_about_heads_are_what_head_prints(model, head, tmp_path, monkeypatch, capsys):
    """After the command that prints it, however the text is broken into lines."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path))
    assert main(["head", model, head]) == 0
    paragraph = capsys.readouterr().out.splitlines()[2]
    words = " ".join(README.replace("\n> ", "\n").split())
    assert f"`python -m analysis head {model} {head}` prints: {paragraph}".replace("  ", " ") in words


def test_the_head_whose_loss_costs_gemma_most_scores_in_no_map():
    """What is said of it, from the results that ship."""
    ablation = shipped_scores("ablation", "gemma-3-270m")
    lost = ablation.score.sel(item="country_capital", sample="all")
    of_head = {kind: float(lost.sel(kind=kind, layer=9, head=3)) for kind in ("zero", "mean")}
    assert of_head["zero"] == float(lost.sel(kind="zero").min())
    assert f"L9H3, zero {signed(of_head['zero'], 2)}, mean {signed(of_head['mean'], 2)}" in " ".join(README.split())
    for name in ("function", "running"):
        score = shipped_scores(name, "gemma-3-270m").score.sel(item="country_capital", layer=9, head=3)
        assert float(score.max()) == 0


@pytest.mark.parametrize("command", re.findall(r"^python -m analysis (.*)$", README, re.MULTILINE))
def test_commands_are_real(command):
    """Every command of the README is one that the command line accepts."""
    _parser().parse_args(shlex.split(command, comments=True))


@pytest.mark.parametrize("model", ["smollm2-135m-instruct", "gemma-3-270m"])
def test_the_agreement_of_labels_and_causes_is_that_of_the_shipped_results(store, model):
    """Every row of its tables."""
    catalogue = Catalogue(store)
    rows = []
    for each in agreements(results_of(catalogue, catalogue.card(model))):
        neither, unlabelled, irrelevant, both = each.counts.values()
        p = p_words(each.p).removeprefix("p ").removeprefix("= ")
        numbers = f"{both} | {each.expected:.1f} | {p} | {irrelevant} | {unlabelled} | {neither}"
        rows.append(f"| {each.what} | {each.whether} | {each.title} | {numbers} |")
    assert "\n".join(rows) in README


def agreement_claims():
    """What the README says of country → capital beside its tables, made from the results that ship."""
    with TemporaryDirectory() as folder, closing(Store(Path(folder))) as store:
        catalogue = Catalogue(store)
        results = {
            name: results_of(catalogue, catalogue.card(name)) for name in ("smollm2-135m-instruct", "gemma-3-270m")
        }
    small, gemma = results.values()

    def counted(of_model, what="running", **how):
        return next(
            each
            for each in agreements(of_model, **how)
            if (each.what, each.whether, each.item) == (what, "ablation", "country_capital")
        )

    def numbers(each):
        return f"{each.counts[WORDS[BOTH]]} against {each.expected:.1f}"

    def with_p(each):
        return f"{numbers(each)} ({p_words(each.p)})"

    yield f"{numbers(counted(small))} on SmolLM2 ({p_words(counted(small).p)})"
    yield f"{numbers(counted(gemma))} on Gemma ({p_words(counted(gemma).p)})"
    for model in (small, gemma):
        beyond = counted(model, beyond=True).counts
        none = not beyond[WORDS[BOTH]] and not beyond[WORDS[IRRELEVANT]]
        yield "no label beyond copying for this relation on either model" if none else "some labels beyond copying"
    weights = counted(small, "function", beyond=True)
    yield f"{weights.heads[WORDS[BOTH]][0]} ({numbers(weights)}, {p_words(weights.p)})"
    yield f"Gemma's labels say nothing: {with_p(counted(gemma, replaced='mean'))}"
    yield f"SmolLM2's still do: {with_p(counted(small, replaced='mean'))}"
    first, second, third = counted(small).heads[WORDS[BOTH]]
    mates = small["running"].provenance.model.group_mates(HeadId.parse(first))
    assert {str(mate) for mate in mates} == {second, third}
    yield f"{first}, {second} and {third} share one value matrix"
    zeroed = small["ablation"].score.sel(item="country_capital", kind="zero", sample="all")
    lost = {name: -float(zeroed[HeadId.parse(name).layer, HeadId.parse(name).head]) for name in (first, second, third)}
    yield f"{second} costs {lost[second]:.2f} nats, the other two {lost[first]:.2f} and {lost[third]:.2f}"
    kinds = small["running"].score.mean("sample").sel(item="country_capital", layer=23, head=3)
    assert float(kinds.sel(kind="suppress")) > 0.15 > float(kinds.sel(kind="promote"))
    weights = counted(gemma, "function").counts
    assert (weights[WORDS[BOTH]], weights[WORDS[IRRELEVANT]]) == (0, 0)
    yield "The weights name no head of Gemma"


def test_what_is_said_of_agreement_beside_its_tables_is_what_the_results_give():
    """Every option that the text names, by the results that ship."""
    words = " ".join(README.split())
    for claim in agreement_claims():
        assert claim in words.replace("**", ""), claim


def test_random_draws_of_the_curves_contain_as_many_labelled_heads_as_is_said():
    """Heads above τ by the weights or in the running model, among all heads of each draw."""
    draws = {}
    for model in ("smollm2-135m-instruct", "gemma-3-270m"):
        labelled = set()
        for name in ("function", "running"):
            scores = shipped_scores(name, model).over_samples("mean")
            best = scores.score.sel(item="country_capital", sample="all").max("kind")
            labelled |= {f"L{layer}H{head}" for layer, head in np.argwhere(best.values > 0.15)}
        curve = record_of(shipped_scores("ablation", model), "country_capital").curve
        draws[model] = sum(bool(labelled & set(order.heads)) for order in curve if order.name.startswith("random"))
    assert list(draws.values()) == [2, 5]
    assert "heads of two of SmolLM2's five draws and of all five of Gemma's" in " ".join(README.split())
