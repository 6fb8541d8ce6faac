"""The README tells the truth: its commands parse, its counts are counted."""

import json
import re
import shlex
from pathlib import Path

import pytest

from analysis.cli import _parser, main
from analysis.data.relations import CATEGORIES, builtin
from analysis.evidence.agreement import agreements
from analysis.evidence.catalogue import Catalogue
from analysis.evidence.heads import results_of
from analysis.evidence.shipped import shipped_scores
from analysis.methods.ablation.report import curve_lines
from analysis.methods.ablation.result import record_of
from analysis.methods.causal.report import causal_data
from analysis.models.vocabulary import MIN_PAIRS, Vocabulary

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


def test_the_pairs_that_sources_of_several_tokens_add_are_what_relations_prints(capsys):
    """The default model's column is the command's."""
    assert main(["relations", "smollm2-135m-instruct", "--json"]) == 0
    expected = {}
    for row in json.loads(capsys.readouterr().out):
        kept, added = row["models"]["smollm2-135m-instruct"].values()
        expected[row["title"]] = f"{kept} + {added}" if kept + added >= MIN_PAIRS else f"{kept} + {added} (n/a)"
    assert added_pairs_table()["smollm2-135m-instruct"] == expected


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
        numbers = f"{both} | {each.expected:.1f} | {irrelevant} | {unlabelled} | {neither}"
        rows.append(f"| {each.what} | {each.whether} | {each.title} | {numbers} |")
    assert "\n".join(rows) in README
