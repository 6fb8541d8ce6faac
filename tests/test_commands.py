"""The commands that compute a result again: what they ask for is what the result was computed with."""

from dataclasses import replace

import pytest

from analysis import methods
from analysis.cli import _parser
from analysis.evidence.shipped import shipped
from analysis.jobs.request import make_request
from analysis.methods.ablation.items import PromptItem
from analysis.options import chosen_settings
from analysis.results.provenance import Provenance, ScoredItem
from tests.synthetic import odd_scores
from tests.toy_method import ParityMethod

CARD = odd_scores().provenance.model


def parsed(command):
    """What the command line makes of arguments: the method and the request."""
    options = _parser().parse_args(command)
    settings = chosen_settings(options, options.method.settings, options.command)
    return options, make_request({"model": options.model, "methods": [options.method.name], **settings})


def made(method, settings, items=()):
    """The provenance of a result."""
    return Provenance.now(CARD, method.name, method.version, settings, tuple(items), "cpu")


def test_the_settings_of_a_method_that_nobody_knows_are_options():
    """Each under its own name, from the model of its settings, and the parser takes them."""
    method = ParityMethod()
    methods.register(method)
    try:
        (command,) = method.commands_for(made(method, {"shift": 3}))
        assert command == ["parity", CARD.id, "--shift", "3"]
        assert parsed(command)[1].shift == 3
    finally:
        methods.METHODS.remove(method)


def test_a_commit_is_asked_for_again():
    """A model from the hub is fetched at the revision that was read; a fingerprint is no revision."""
    facts = made(ParityMethod(), {"shift": 0})
    at_commit = replace(facts, model=replace(CARD, revision="a" * 40))
    assert ParityMethod().commands_for(at_commit)[0][:4] == ["parity", CARD.id, "--revision", "a" * 40]
    assert "--revision" not in ParityMethod().commands_for(facts)[0]


@pytest.mark.parametrize("result", shipped(), ids=lambda result: result.scores.provenance.method)
def test_the_commands_of_a_result_ask_for_its_settings(result):
    """Of every shipped result: the parser takes them, and they name its settings and items."""
    facts = result.scores.provenance
    method = methods.method(facts.method)
    asked = []
    for command in method.commands_for(facts):
        options, request = parsed(command)
        assert (options.method, options.model) == (method, facts.model.id)
        asked += method.asked(request).items
        if "free_updates" not in facts.settings:
            for name in set(method.settings.model_fields) & set(facts.settings) - {"layers"}:
                assert getattr(request, name) == facts.settings[name]
    if asked:
        assert set(asked) >= {item.name for item in facts.items if item.applicable}


def test_ablation_is_asked_for_as_it_was_computed(tmp_path, monkeypatch):
    """Where heads are off, how many prompts, the wording, built-in items by name, one's own as files, a prompt."""
    method = methods.method("ablation")
    items = (
        ScoredItem("math", "Maths", "task"),
        ScoredItem("country_capital", "country → capital", "knowledge"),
        ScoredItem("mine", "mine", "custom"),
        PromptItem("- Paris → x", " France").described(1),
    )
    facts = made(method, {"positions": "all", "prompts": 7, "wording": "templates"}, items)
    assert method.files_of(facts) == ["mine.csv"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text("".join(f"a{number},b{number}\n" for number in range(20)))
    _, request = parsed(method.commands_for(facts)[0])
    assert (request.positions, request.prompts, request.wording) == ("all", 7, "templates")
    assert (request.prompt, request.target) == ("- Paris → x", " France")
    assert set(method.asked(request).items) == {item.name for item in items}


def test_an_older_result_has_its_prompt_in_words():
    """Prompt and target stood in the sentence of the item alone."""
    method = methods.method("ablation")
    item = replace(PromptItem("Paris is in", " France").described(1), settings=None)
    settings = method.settings_of(made(method, {}, (item,)))
    assert (settings["prompt"], settings["target"]) == ("Paris is in", " France")


def test_some_layers_alone_are_asked_for():
    """All of a model's need no option."""
    method = methods.method("function")
    recorded = {"k_standard": 10, "k_copying": 1, "first_mlp": False}
    for layers, words in (([1, 5], ["--no-first-mlp", "--layers", "1,5"]), (list(CARD.layers), ["--no-first-mlp"])):
        (command,) = method.commands_for(made(method, {**recorded, "layers": layers}))
        assert command[command.index("--no-first-mlp") :] == words
        assert parsed(command)[1].layers == ([1, 5] if layers == [1, 5] else None)


def test_the_samples_of_every_relation_method_have_their_own_option():
    """Carriers of one, templates of another; neither is asked for what it does not know."""
    for name, option in (("running", "--carriers"), ("context", "--templates")):
        method = methods.method(name)
        recorded = {"k_standard": 10, "k_copying": 1, "sources": "any", method.samples_field: ["a <X>", "-b <X>"]}
        (command,) = method.commands_for(made(method, recorded, odd_scores().provenance.items))
        assert command[command.index(option) + 1 :][:2] == ["a <X>", "-b <X>"]
        assert ("--sources" in command) == (name == "running")
        assert command[command.index("--relations") + 1] == "odd.csv"
