"""What the results support about a head, in words; heads by a question; heads alike. On the results that ship."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from analysis import cli
from analysis.errors import SettingError
from analysis.evidence.agreement import BOTH, WORDS, agreements, label_comparisons
from analysis.evidence.catalogue import Catalogue
from analysis.evidence.heads import (
    answers,
    findings_of,
    head_evidence,
    heads_like,
    matched_heads,
    results_of,
    strongest_findings,
    summary,
)
from analysis.evidence.quantities import quantities, values
from analysis.methods import method
from analysis.methods.salience.tokens import salient_tokens
from analysis.models.card import HeadId
from analysis.relations.findings import _does
from analysis.relations.pairs_file import shipped_hits
from analysis.results.findings import SearchQuestion
from analysis.results.intervals import t_tail

DEFAULT, GEMMA = "smollm2-135m-instruct", "gemma-3-270m"


@pytest.fixture
def shipped(store):
    """The results of a model by their methods, and its card."""

    def of(model):
        catalogue = Catalogue(store)
        card = catalogue.card(model)
        return results_of(catalogue, card), card

    return of


def heads(found):
    return [str(answer.head) for answer in found]


def test_a_finding_says_the_numbers_of_the_score_behind_it(shipped):
    """Hits, share, interval and rank of country → capital are those of the stored map."""
    results, _ = shipped(DEFAULT)
    scores = results["function"]
    where = {"item": "country_capital", "kind": "promote", "sample": "all", "layer": 23, "head": 4}
    hits, kept = int(scores.hits.sel(where)), scores.item("country_capital").kept
    first = findings_of({"function": scores}, HeadId(23, 4))[0]
    assert (hits, kept) == (26, 40)  # 0.65 of 40 has the interval 0.50–0.78
    assert "26 of 40 pairs, 0.65 (0.50–0.78), rank 1 of 270" in first.text
    assert math.isclose(first.strength, hits / kept)
    running = findings_of({"running": results["running"]}, HeadId(23, 4))
    told = [re.search(r": (on average )?([\d.]+) of 40 pairs", finding.text) for finding in running]
    (average,) = [found for found in told if found is not None]
    of_carriers = {name: value for name, value in where.items() if name != "sample"}
    mean = float(results["running"].hits.sel(of_carriers).mean())
    assert average[2] == f"{mean:.1f}".removesuffix(".0")
    assert bool(average[1]) is not mean.is_integer()


def test_nothing_is_said_of_scores_that_are_no_labels(shipped):
    """Every finding of the function map is a score above τ, and each such score is one."""
    results, card = shipped(DEFAULT)
    scores = results["function"]
    above = int((scores.score > 0.15).sum())
    told = 0
    for layer in card.layers:
        for head in range(card.heads):
            told += len(findings_of({"function": scores}, HeadId(layer, head)))
    assert told == above > 0


def test_a_label_from_weights_that_say_nothing_is_never_said_without_that(shipped):
    """None of Gemma's three is one in the running model: findings, paragraphs and searches say so, last."""
    results, card = shipped(GEMMA)
    heads_of_card = [HeadId(layer, head) for layer in card.layers for head in range(card.heads)]
    told = [finding for head in heads_of_card for finding in findings_of(results, head)]
    for text in ("suppress", "copying", "comparative", "pronoun"):
        told += [finding for answer in answers(results, card, text) for finding in answer.findings]
    doubtful = [finding for finding in told if finding.method == "function"]
    assert all("by its weights alone: " in finding.text for finding in doubtful)
    assert {str(finding.head) for finding in doubtful} == {"L0H1", "L14H3"}
    assert all(finding.text.endswith("; not seen in the running model.") for finding in doubtful)
    for head in {finding.head for finding in doubtful}:
        ordered = [finding.is_unconfirmed for finding in strongest_findings(results, head)]
        assert ordered == sorted(ordered)
        for sentence in re.split(r"(?<=\.) (?=[A-Z])", summary(results, head)):
            assert ("by its weights alone: " in sentence) is ("not seen in the running model" in sentence)


def test_a_label_that_the_running_model_was_not_asked_for_is_not_called_unseen(shipped):
    """A later map of other relations, or of other layers, says nothing."""
    results, _ = shipped(GEMMA)
    running = results["running"]
    alone = {"function": results["function"]}
    partly = replace(running, score=running.score.where(running.score.layer != 0))
    for others in (alone, alone | {"running": partly}, alone | {"context": results["context"]}):
        assert not any(finding.is_unconfirmed for finding in findings_of(others, HeadId(0, 1)))
    assert findings_of(results, HeadId(0, 1))[0].is_unconfirmed


def test_of_several_maps_of_a_label_the_running_model_s_is_told_and_the_others_in_brief(shipped):
    """In plain words, with its numbers; people's own relations, which have no phrase, by their title."""
    results, _ = shipped(DEFAULT)
    first = next(each for each in strongest_findings(results, HeadId(23, 4)) if each.method == "running")
    running = next(each for each in findings_of(results, HeadId(23, 4)) if each.method == "running")
    assert first.text.startswith("Maps countries to capitals in the running model: on average 27.8 of 40 pairs, 0.69 (")
    assert first.text == running.text.removesuffix(".") + "; by its weights alone 0.65, with context 0.69."
    own = replace(results["running"].provenance.items[0], category="custom", title="mine")
    assert _does(own, "promote") == "Promotes mine"


def test_a_paragraph_leaves_room_for_whether_the_head_matters(shipped):
    """Fifteen labels of one map do not crowd out what is lost without the head."""
    results, _ = shipped(GEMMA)
    text = summary(results, HeadId(12, 2))
    assert text.count("in the running model:") == 3
    assert "Set to zero at the last token it costs 0.67 ± 0.19 nats of log-probability on country → capital" in text
    assert summary({}, HeadId(1, 2)).startswith("Nothing stands out about L1H2")


def test_what_a_closed_gate_changes_is_not_told_as_an_ablation(shipped):
    """The validation of the gates has the other gates as they were fitted; the sentence says so."""
    results, _ = shipped(DEFAULT)
    of_gates = findings_of({"causal": results["causal"]}, HeadId(18, 6))
    effect = float(results["causal"].part("effect", "math")[18, 6])
    assert "off" not in of_gates[0].text
    assert of_gates[0].text.startswith("Needed for Math in 4 of 5 seeds (")
    assert of_gates[0].text.endswith(
        "; with the other gates as fitted in the first seed, "
        f"closing its own changes the targets' log-probability by {effect:+.3f}.".replace("-0", "−0")
    )


def test_gates_are_only_said_to_matter_where_most_seeds_and_the_measured_effect_agree(shipped):
    """Of every head and task; all roles stand in one sentence, and what is not supported says what was measured."""
    results, card = shipped(DEFAULT)
    scores = results["causal"]
    signs = {"facilitation": ("Needed for", -1), "interference": ("Hurts", 1)}
    said = {"claims": 0, "others": 0}
    for layer in card.layers:
        for head in range(card.heads):
            found = findings_of({"causal": scores}, HeadId(layer, head))
            assert len({finding.item for finding in found}) == len(found)
            for finding in found:
                verb, sign = signs[finding.kind]
                effect = sign * float(scores.part("effect", finding.item)[layer, head])
                gates = scores.score.sel(item=finding.item, kind=finding.kind, layer=layer, head=head).values
                if finding.text.startswith(("Needed for", "Hurts")):
                    assert finding.text.startswith(verb)
                    assert (gates >= 0.5).sum() >= 3
                    other = next(kind for kind in signs if kind != finding.kind)
                    against = scores.score.sel(item=finding.item, kind=other, layer=layer, head=head).values
                    assert (gates >= 0.5).sum() > (against >= 0.5).sum()
                    assert effect >= 0.01
                    said["claims"] += 1
                else:
                    assert " seeds, but closing it alone changes " in finding.text
                    said["others"] += 1
    assert min(said.values()) > 50
    # two heads whose gate is open, or both ways, in most seeds without any measured effect
    for layer, head, words in (
        (8, 5, "stays open in 5 and shut in 1 of 5"),
        (13, 2, "stays open in 2 and shut in 2 of 5"),
    ):
        of_math = next(one for one in findings_of({"causal": scores}, HeadId(layer, head)) if one.item == "math")
        assert f"Its gate for Math {words} seeds, but closing it alone changes nothing measurable" in of_math.text


def test_seeds_decide_alone_where_no_effect_was_measured(shipped):
    """A fit without its validation; one seed of five is not enough."""
    results, _ = shipped(DEFAULT)
    alone = replace(results["causal"], parts={})
    of_math = next(one for one in findings_of({"causal": alone}, HeadId(8, 5)) if one.item == "math")
    assert of_math.text == "Needed for Math in 5 of 5 seeds (facilitation 1.00 on average; interference in 1)."
    of_math = next(one for one in findings_of({"causal": alone}, HeadId(13, 2)) if one.item == "math")
    assert of_math.text.endswith("2 of 5 seeds, but the seeds do not agree.")


def test_a_paragraph_says_what_a_head_does_then_whether_it_matters_then_where_it_looks(shipped):
    """On all heads of two models; a label that was not confirmed comes last."""
    for model in (DEFAULT, GEMMA):
        results, card = shipped(model)
        for layer in card.layers:
            text = summary(results, HeadId(layer, 1))
            places = []
            for sentence in re.split(r"(?<=\.) (?=[A-Z])", text):
                if "not seen in the running model" in sentence:
                    places.append(3)
                elif re.search(r"in the running model|by its weights alone:|with context", sentence):
                    places.append(0)
                elif re.match("Set to zero|Needed for|Hurts|Its gate", sentence):
                    places.append(1)
                elif sentence.startswith(("Looks", "Induction", "Rests", "Acts")):
                    places.append(2)
            assert places == sorted(places)


def test_of_resting_on_the_first_token_only_the_heads_are_told_that_do_most(shipped):
    """One head in twenty, and after everything else; a search for sinks still finds the strongest."""
    results, card = shipped(DEFAULT)
    only = {"behaviour": results["behaviour"]}
    resting = []
    for layer in card.layers:
        for head in range(card.heads):
            found = findings_of(only, HeadId(layer, head))
            if any(finding.item == "first_token" for finding in found):
                assert found[-1].item == "first_token"
                resting.append(float(results["behaviour"].score.sel(item="first_token", layer=layer, head=head).item()))
    everything = results["behaviour"].score.sel(item="first_token").values.ravel()
    assert sorted(resting) == sorted(everything)[-13:]
    assert "Rests on the first token" in answers(only, card, "first token sink")[0].findings[0].text


def test_a_search_names_the_heads_of_a_relation_the_strongest_first(shipped):
    """The words of a title lead to the heads that the map ranks highest."""
    results, card = shipped(DEFAULT)
    only = {"function": results["function"]}
    best = [str(head) for head, score, _ in only["function"].top("country_capital", 9) if score > 0.15]
    promoting = [str(a.head) for a in answers(only, card, "promote capital")]
    assert promoting == best
    assert heads(answers(only, card, "suppress capital")) == ["L23H3"]


def test_a_search_for_a_token_finds_relations_and_salient_tokens(shipped):
    """Paris is said of heads for which it is a hit, and not of L23H4, the relation's best, which misses it."""
    results, card = shipped(DEFAULT)
    found = answers(results, card, "Paris")
    assert heads(found) == ["L29H2", "L29H1", "L23H5"]
    told = {(str(each.head), finding.method): finding.text for each in found for finding in each.findings}
    assert "in the running model, such as France → Paris after “No”:" in told["L29H2", "running"]
    assert "by its weights alone, such as France → Paris:" in told["L23H5", "function"]
    assert told["L23H5", "function"].endswith("; not this pair in the running model.")
    assert "Paris” when it attends to “␣downwards”" in told["L29H1", "salience"]


def test_heads_that_miss_a_pair_are_not_told_of_it(shipped):
    """Both heads that suppress capitals most miss Paris by every map whose pairs are known."""
    results, card = shipped(DEFAULT)
    assert answers(results, card, "suppress Paris") == []
    assert heads(answers(results, card, "suppress capital"))[0] == "L23H3"


def test_a_search_for_a_source_and_its_target_finds_the_pair(shipped):
    """Of relations, and of salient tokens and what they promote."""
    results, card = shipped(DEFAULT)
    assert heads(answers(results, card, "France Paris")) == heads(answers(results, card, "France → Paris"))
    assert heads(answers(results, card, "France Paris"))[0] == "L29H2"
    assert heads(answers(results, card, "downwards Paris")) == ["L29H1"]
    assert answers(results, card, "Paris France") == []


def test_capitals_that_were_typed_count(shipped):
    """Small letters find both; the token is shown as it is."""
    results, card = shipped(DEFAULT)
    for text in ("paris", "Paris"):
        assert "France → Paris" in answers(results, card, text)[0].findings[0].text
    assert answers(results, card, "PARIS") == []
    only = {"salience": results["salience"]}
    small = {finding.text for answer in answers(only, card, "cat") for finding in answer.findings}
    large = {finding.text for answer in answers(only, card, "Cat") for finding in answer.findings}
    assert large < small
    assert all("“Cat”" in text or "“␣Cat”" in text for text in large)


@pytest.mark.parametrize("model", [DEFAULT, GEMMA])
def test_every_pair_that_a_search_claims_is_a_hit_of_the_head(shipped, model):
    """By the pairs behind the label, which come with the project; both wordings occur."""
    results, card = shipped(model)
    claimed = []
    for text in ("Paris", "hot", "cats", "Madrid"):
        for answer in answers(results, card, text):
            for finding in answer.findings:
                if " pairs, " not in finding.text:
                    continue
                hits = shipped_hits(card.id, card.fingerprint, finding.method, finding.item, finding.kind, finding.head)
                pairs = set() if hits is None else set().union(*hits.samples.values())
                there = {f"{source} → {target}" for source, target in pairs}
                example = re.search(r", such as (.*?)(?: after “[^”]*”)?: ", finding.text)
                claimed.append(example is not None)
                assert finding.is_near is (example is None)
                assert example is None or set(example[1].split(", ")) <= there
    assert {True, False} == set(claimed)


def test_other_settings_than_the_default_claim_no_pair(shipped):
    """The pairs that come with the project are those of the default k."""
    results, card = shipped(DEFAULT)
    scores = results["function"]
    settings = {**scores.provenance.settings, "k_standard": 3}
    other = replace(scores, provenance=replace(scores.provenance, settings=settings))
    texts = [answer.findings[0].text for answer in answers({"function": other}, card, "Paris")]
    assert texts
    assert not any("such as" in text for text in texts)


def test_of_equally_sure_heads_those_come_first_whose_loss_is_larger(shipped):
    """Facilitation of 1.00 in all seeds: by the loss of log-probability without the head."""
    results, card = shipped(DEFAULT)
    found = [answer.findings[0] for answer in answers({"causal": results["causal"]}, card, "needed for math")]
    effect = results["causal"].part("effect", "math")
    losses = [-float(effect[card.layers.index(each.head.layer), each.head.head]) for each in found]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] == pytest.approx(-float(effect.min()))


def test_a_change_without_a_head_has_one_interval_and_one_rank_wherever_it_is_told(shipped):
    """A loss by its size, a gain from the other end, which is said; ± is the 95 % interval of the stored error."""
    scores = shipped(DEFAULT)[0]["ablation"]
    lost = findings_of({"ablation": scores}, HeadId(23, 4))[0].text
    errors = {kind: float(scores.part(f"error {kind}", "country_capital")[23, 4]) for kind in ("zero", "mean")}
    t = 2.0687  # of 23 degrees of freedom: there are 24 prompts
    zeroed, averaged = (f"{t * error:.2f}" for error in errors.values())
    assert lost == (
        f"Set to zero at the last token it costs 2.00 ± {zeroed} nats of log-probability on country → capital "
        f"(18 → 9 of 24 right), rank 1 of 270; set to its mean 1.85 ± {averaged} (18 → 10)."
    )
    printed = method("ablation").report_text(scores)
    assert f"L23H4 -2.000 ± {t * errors['zero']:.3f} (-0.375)" in printed
    values = scores.score.sel(item="country_capital", kind="zero", sample="all").values
    rank = 1 + int((values > values[16, 1]).sum())
    assert f", rank {rank} of 270 by gain; " in findings_of({"ablation": scores}, HeadId(16, 1))[0].text
    line = next(line for line in method("ablation").head_text(scores, HeadId(16, 1)) if "capital, zero" in line)
    assert line.endswith(f"rank {rank} by gain")


def test_a_search_for_a_task_names_heads_by_the_seeds_in_which_they_have_a_role(shipped):
    """Needed for math: heads with facilitation in all five seeds go first."""
    results, card = shipped(DEFAULT)
    found = answers(results, card, "needed for math")
    gates = results["causal"].score.sel(item="math", kind="facilitation").values
    first = found[0].head
    assert (gates[:, card.layers.index(first.layer), first.head] >= 0.5).all()
    assert "in 5 of 5 seeds" in found[0].findings[0].text
    assert all(finding.item == "math" for answer in found for finding in answer.findings)


@pytest.mark.parametrize("text", ["L23H4", "23.4", "a23.h4"])
def test_a_head_s_name_finds_the_head(shipped, text):
    """However it is written."""
    results, card = shipped(DEFAULT)
    assert heads(answers(results, card, text)) == ["L23H4"]


@pytest.mark.parametrize("text", ["", " ", "zzz", "99.99", "→", "\x00", "<script>", "L23H4 L23H5", "a" * 500])
def test_a_search_for_nothing_known_gives_no_head(shipped, text):
    """And does not fail."""
    results, card = shipped(DEFAULT)
    assert answers(results, card, text) == []


def test_on_a_model_whose_weights_say_nothing_the_running_map_is_found(shipped):
    """Antonyms of Gemma: L13H0, which copies nothing."""
    results, card = shipped(GEMMA)
    first = answers(results, card, "antonym")[0]
    assert str(first.head) == "L13H0"
    assert "running model" in first.findings[0].text
    assert "copy-like" not in first.findings[0].text


def test_heads_alike_are_those_of_the_largest_cosine(shipped):
    """Equal to a loop over all heads."""
    results, card = shipped(DEFAULT)
    head = HeadId(23, 4)
    blocks = []
    for name in results:
        if name == "salience":  # σ says how strongly a head acts, not on what
            continue
        scores = results[name].score.sel(item=results[name].items()).mean("sample")
        values = np.nan_to_num(scores.values).reshape(-1, 270).T
        values = values - np.median(values, axis=0)
        blocks.append(values / np.sqrt((values**2).sum()))
    rows = np.concatenate(blocks, axis=1)
    mine = rows[23 * 9 + 4]
    cosines = {}
    for place, row in enumerate(rows):
        name = f"L{place // 9}H{place % 9}"
        lengths = math.sqrt(row @ row) * math.sqrt(mine @ mine)
        cosines[name] = row @ mine / lengths if lengths else 0.0
    del cosines["L23H4"]
    expected = sorted(cosines, key=lambda name: -cosines[name])[:6]
    alike = heads_like(results, card, head)
    assert [str(other.head) for other in alike] == expected
    assert all(math.isclose(other.cosine, cosines[str(other.head)]) for other in alike)
    assert alike[0].by == ("country → capital, zero (ablation)", "country → capital, mean (ablation)")


@pytest.mark.parametrize("verb", ["promotes", "suppress"])
def test_a_search_for_what_promotes_or_suppresses_a_token_finds_salient_tokens_too(shipped, verb):
    """The answers about the token itself, those with the verb only; the verb alone finds no tokens."""
    results, card = shipped(DEFAULT)
    only = {"salience": results["salience"]}
    both = [finding for answer in answers(only, card, "Winnipeg") for finding in answer.findings]
    asked = [finding for answer in answers(only, card, f"{verb} Winnipeg") for finding in answer.findings]
    assert asked
    assert {finding.text for finding in asked} < {finding.text for finding in both}
    assert all(finding.text.lower().startswith(verb) for finding in asked)
    assert answers(only, card, verb) == []


def test_salient_tokens_are_told_only_of_a_model_whose_weights_say_something(shipped, capsys, tmp_path, monkeypatch):
    """They are read from the weights alone: of Gemma no paragraph and no search has them, and their table says why."""
    results, card = shipped(GEMMA)
    head = HeadId(12, 2)
    assert all(finding.method != "salience" for finding in findings_of(results, head))
    word = salient_tokens(results["salience"], head)[0].promoted[0].text
    assert answers({"salience": results["salience"]}, card, word)
    assert answers(results, card, word) == []
    words = "this model's weights-only map does not hold (r = 0.00)"
    assert head_evidence(results, card, head)["remarks"] == {"salience": words}
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path))
    assert cli.main(["head", GEMMA, str(head)]) == 0
    assert words in capsys.readouterr().out
    results, card = shipped(DEFAULT)
    assert any(finding.method == "salience" for finding in findings_of(results, HeadId(23, 4)))
    assert head_evidence(results, card, head)["remarks"] == {}


def test_words_of_a_question_may_be_the_first_letters_of_words():
    """Three letters are enough; a number must be equal."""
    assert SearchQuestion.of("capit").is_about("country → capital")
    assert SearchQuestion.of("Country capital").is_about("country_capital")
    assert not SearchQuestion.of("ca").is_about("country → capital")
    assert not SearchQuestion.of("12").is_about("task 123")
    assert not SearchQuestion.of("").is_about("anything")


def test_the_command_line_searches(capsys, tmp_path, monkeypatch):
    """As text and as JSON; an unknown model is an error in words."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path))
    assert cli.main(["search", DEFAULT, "needed", "for", "math"]) == 0
    assert "Needed for Math" in capsys.readouterr().out
    assert cli.main(["search", DEFAULT, "Paris", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["head"] == "L29H2"
    assert cli.main(["search", DEFAULT, "zzz"]) == 0
    assert "No head" in capsys.readouterr().out
    assert cli.main(["search", "no/model", "zzz"]) == 3


def test_the_command_line_tells_of_a_head_what_all_results_say(shipped, capsys, tmp_path, monkeypatch):
    """The paragraph, every method's lines, the heads like it; no weights are opened."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path))
    results, card = shipped(GEMMA)
    assert cli.main(["head", GEMMA, "L12H2"]) == 0
    text = capsys.readouterr().out
    alike = heads_like(results, card, HeadId(12, 2))
    assert text.splitlines()[2] == summary(results, HeadId(12, 2))
    assert "with context" in text
    assert "when it is off" in text
    assert [line.split()[0] for line in text.splitlines()[-len(alike) :]] == [str(other.head) for other in alike]
    assert cli.main(["head", GEMMA, "L12H2", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["summary"] == summary(results, HeadId(12, 2))
    assert [other["head"] for other in data["alike"]] == [str(other.head) for other in alike]
    assert {finding["method"] for finding in data["findings"]} >= {"running", "context", "ablation"}
    assert data["ablation"]


def test_agreement_counts_heads_as_a_loop_over_them_does(shipped):
    """Labelled: any relation above τ. Causal: F or N of at least 0.5 on average over the seeds."""
    results, card = shipped(DEFAULT)
    of_gates = [each for each in agreements(results) if each.whether == "causal"]
    listed = {(each.what, each.item): each for each in of_gates}
    assert set(listed) == {(what, task) for what in ("function", "running", "context") for task in ("math", "syntax")}
    scores, gates = results["running"].score.mean("sample"), results["causal"].score.mean("sample")
    counts = dict.fromkeys(WORDS, 0)
    for layer in card.layers:
        for head in range(card.heads):
            is_labelled = float(scores.sel(layer=layer, head=head).max()) > 0.15
            roles = gates.sel(item="syntax", layer=layer, head=head)
            is_causal = max(float(roles.sel(kind="facilitation")), float(roles.sel(kind="interference"))) >= 0.5
            counts[WORDS[2 * is_labelled + is_causal]] += 1
    assert listed["running", "syntax"].counts == counts
    assert sum(counts.values()) == 270
    assert counts[WORDS[BOTH]] > 0


def test_the_command_line_takes_thresholds_of_agreement(capsys, tmp_path, monkeypatch):
    """The others stay as they are; what is no threshold is wrong usage, in words."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path))
    printed = []
    for more in ([], ["--threshold", "running=0.9", "ablation=0.5"]):
        assert cli.main(["agreement", GEMMA, *more, "--json"]) == 0
        printed.append({(one["what"], one["item"]): one for one in json.loads(capsys.readouterr().out)})
    usual, strict = printed
    assert strict["running", "math"]["thresholds"] == {"running": 0.9, "ablation": 0.5}
    assert strict["context", "math"]["thresholds"] == {"context": 0.15, "ablation": 0.5}
    assert strict["running", "math"]["counts"][WORDS[BOTH]] < usual["running", "math"]["counts"][WORDS[BOTH]]
    assert cli.main(["agreement", GEMMA, "--threshold", "running=much"]) == SettingError.exit_code
    assert "METHOD=NUMBER" in capsys.readouterr().err


def test_the_command_line_names_the_heads_of_each_class(capsys, tmp_path, monkeypatch):
    """As text below each row and as JSON; with the mean in a head's place Gemma's labels no longer tell."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path))
    assert cli.main(["agreement", DEFAULT, "--heads"]) == 0
    assert "  labelled and causal: L23H3 L23H4 L23H5\n" in capsys.readouterr().out
    both = {}
    for replaced in ("zero", "mean"):
        assert cli.main(["agreement", GEMMA, "--heads", "--replaced", replaced, "--json"]) == 0
        for one in json.loads(capsys.readouterr().out):
            assert {words: len(names) for words, names in one["heads"].items()} == one["counts"]
            assert one["replaced"] == replaced
            if (one["what"], one["item"]) == ("running", "country_capital"):
                both[replaced] = one["heads"][WORDS[BOTH]], one["p_both"]
    assert set(both["mean"][0]) < set(both["zero"][0])
    assert both["zero"][1] < 0.01 < 0.4 < both["mean"][1]


def test_a_change_is_told_from_none_by_its_p_among_those_of_all_heads(shipped):
    """Benjamini and Hochberg's procedure by a loop over the ranks: for Math no head changes enough."""
    scores = shipped(DEFAULT)[0]["ablation"]
    strengths = method("ablation").strengths(scores)
    assert float(strengths.sel(item="math").max()) < 0.1
    change = scores.score.sel(item="country_capital", kind="zero", sample="all").values
    error = scores.part("error zero", "country_capital")
    ordered = sorted(np.abs(change / error).ravel())[::-1]
    told = int((strengths.sel(item="country_capital").values > 0).sum())
    assert 32 < told < 270
    assert float(t_tail(ordered[told - 1], 23)) <= 0.05 * told / 270
    for rank in range(told + 1, 271):
        assert float(t_tail(ordered[rank - 1], 23)) > 0.05 * rank / 270


def test_a_model_with_one_kind_of_result_has_no_agreement(shipped):
    """Labels without causes say nothing of whether labelled heads matter."""
    results, _ = shipped(GEMMA)
    assert agreements({name: results[name] for name in ("function", "running", "behaviour")}) == []
    assert agreements({"ablation": results["ablation"]}) == []


def test_heads_of_two_models_are_matched_by_their_scores(shipped):
    """A model matches itself head by head; across models the matches are heads of the same relations."""
    results, card = shipped(DEFAULT)
    for match in matched_heads(results, card, results, card, most=10):
        assert match.head == match.other
        assert math.isclose(match.cosine, 1.0)
    others, gemma = shipped(GEMMA)
    first = matched_heads({"running": results["running"]}, card, {"running": others["running"]}, gemma)[0]
    mine = results["running"].score.mean("sample").sel(layer=first.head.layer, head=first.head.head).max("kind")
    theirs = others["running"].score.mean("sample").sel(layer=first.other.layer, head=first.other.head).max("kind")
    assert str(mine.fillna(0).idxmax("item").values) == str(theirs.fillna(0).idxmax("item").values)


def test_every_quantity_that_is_listed_can_be_read(shipped):
    """One value per head, and an unknown key is an error in words."""
    results, card = shipped(DEFAULT)
    listed = quantities(results)
    assert len({each.key for each in listed}) == len(listed) > 100
    for each in listed:
        assert values(results, each.key).shape == (len(card.layers), card.heads)
    expected = results["running"].score.sel(item="country_capital", kind="promote").mean("sample").values
    assert np.allclose(values(results, "running/country_capital/promote"), expected)
    wrong = ["", "function", "function/nothing/promote", "function/copying/nothing", "agreement/x/y/z", "/" * 50]
    wrong += ["function/copying/promote@always", "running/copying/promote@nothing", "function/any:nothing/promote"]
    wrong += ["causal/math/gradient@share", "behaviour/entropy/strength", "causal/any:nothing/strength"]
    for key in wrong:
        with pytest.raises(SettingError):
            values(results, key)


def test_a_number_of_several_samples_is_their_mean_their_extremes_or_one_of_them(shipped):
    """Always is the smallest of the seeds and Any the largest, as on the causal map."""
    results, _ = shipped(DEFAULT)
    key, scores = "causal/math/facilitation", results["causal"].score.sel(item="math", kind="facilitation")
    assert np.allclose(values(results, f"{key}@always"), scores.min("sample"))
    assert np.allclose(values(results, f"{key}@any"), scores.max("sample"))
    assert np.allclose(values(results, f"{key}@seed 2"), scores.sel(sample="seed 2"))
    listed = {each.key: each for each in quantities(results)}
    assert listed[key].samples == ("always", "any", *results["causal"].samples)
    assert listed["function/copying/promote"].samples == ()


def test_the_strongest_relation_of_a_category_is_a_number(shipped):
    """The largest score of its relations for each head; what decides about labels is one, too."""
    results, _ = shipped(DEFAULT)
    running = results["running"]
    of_knowledge = running.score.sel(item=running.items("knowledge"), kind="promote")
    assert np.allclose(values(results, "running/any:knowledge/promote"), of_knowledge.mean("sample").max("item"))
    assert np.allclose(values(results, "running/any:knowledge/promote@any"), of_knowledge.max(["sample", "item"]))
    for comparison in label_comparisons(results, "running", "causal", "every"):
        assert np.array_equal(values(results, "running/any/strength"), comparison.label, equal_nan=True)
        cause = values(results, f"causal/{comparison.item}/strength@always")
        assert np.array_equal(cause, comparison.cause, equal_nan=True)


def test_numbers_of_one_unit_can_be_subtracted(shipped):
    """Scores of all function maps are; shares of pairs, gates, and changes of the log-probability are not."""
    results, _ = shipped(DEFAULT)
    unit = {each.key: each.unit for each in quantities(results)}
    assert unit["function/copying/promote"] == unit["running/any:knowledge/suppress"] == unit["context/any/strength"]
    several = ["function/copying/promote", "running/country_capital/beyond promote", "causal/math/facilitation"]
    several += [
        "ablation/math/zero",
        "ablation/math/accuracy zero",
        "behaviour/entropy/measured",
        "salience/salience/sigma",
    ]
    several += ["behaviour/induction/score", "behaviour/entropy/score", "agreement/running/causal/math"]
    assert len({unit[key] for key in several}) == len(several)
    assert unit["ablation/math/zero"] == unit["causal/math/effect"] == unit["ablation/math/strength"]


def test_a_search_for_induction_finds_the_strongest_induction_head(shipped):
    """By its attention on repeated random tokens; what it does not do is not said of it."""
    results, card = shipped(DEFAULT)
    found = answers(results, card, "induction")
    assert str(found[0].head) == "L18H6"
    assert "rank 1 of 270" in found[0].findings[0].text
    told = [finding.item for finding in findings_of({"behaviour": results["behaviour"]}, HeadId(18, 6))]
    scores = results["behaviour"].score.sel(kind="score", layer=18, head=6, sample="all")
    assert told == [name for name in told if float(scores.sel(item=name)) >= 0.3]
    assert "induction" in told
