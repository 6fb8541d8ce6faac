import json
import os
import re
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from operator import add, mul, sub

import pytest
from hypothesis import example as for_example
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from analysis.data import questions
from analysis.data.files import MAX_BYTES, OwnFile
from analysis.data.questions import past_of, with_s
from analysis.data.tasks import MAX_ITEMS, MIN_ITEMS, TaskPrompt, builtin, read_contrast, read_task
from analysis.errors import HeadAtlasError, TaskError

QUESTIONS = {"math": questions.math(), "syntax": questions.syntax(), "commonsense": questions.commonsense()}
every_task = pytest.mark.parametrize("task", builtin().values(), ids=lambda task: task.name)


def lines(*rows):
    return "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode()


def numbered(count, **more):
    return [{"prompt": f"{n} + 1 =", "target": f" {n + 1}", **more} for n in range(count)]


def asked(item):
    return item.prompt.partition("\n")[2]


def example(item):
    return item.prompt.partition("\n")[0]


def test_the_three_tasks_have_their_kinds():
    """Math, syntax and commonsense, in this order, each with all its kinds."""
    assert {name: task.kinds for name, task in builtin().items()} == {
        "math": ("addition", "subtraction", "multiplication", "comparison", "sequence", "unit_step", "word_problem"),
        "syntax": ("past_tense", "plural", "pronoun", "question", "negation", "tense", "agreement"),
        "commonsense": ("use", "place", "people", "nature", "cause", "category"),
    }


@every_task
def test_no_prompt_comes_twice_in_600_batches_of_16(task):
    """At least 9,600 different prompts for training and 200 for validation, the same number of each kind."""
    assert len(task.train) >= 9_600
    assert len(task.validation) >= 200
    prompts = [item.prompt for item in task.train + task.validation]
    assert len(set(prompts)) == len(prompts)
    assert len(set(Counter(item.kind for item in task.train).values())) == 1
    assert {item.kind for item in task.train[:16]} == set(task.kinds)


@every_task
def test_no_question_of_validation_is_seen_in_training(task):
    """Neither asked nor worked out, not even in other words: 2 + 3 and 3 + 2 are one question."""
    for kind, every in QUESTIONS[task.name].items():
        key = {q.asked: q.key for q in every}
        worked = {q.asked + q.answer + q.rest: q.key for q in every}
        train, validation = ([item for item in items if item.kind == kind] for items in (task.train, task.validation))
        seen = {key[asked(item)] for item in train} | {worked[example(item)] for item in train}
        assert seen.isdisjoint(key[asked(item)] for item in validation)
        assert all(worked[example(item)] != key[asked(item)] for item in train + validation)


@every_task
def test_prompts_are_short_and_targets_begin_with_their_space(task):
    """No space at the end of a prompt, one at the beginning of a target."""
    longest = 150 if task.name == "commonsense" else 80
    for item in task.train + task.validation:
        assert len(asked(item)) <= longest
        assert item.prompt == item.prompt.strip()
        assert re.fullmatch(r" \S+( \S+){0,3}", item.target)


def test_each_kind_has_hundreds_of_different_questions():
    """About a hundred of each kind of math, several hundred of syntax, three hundred of commonsense in all."""
    for name, least in (("math", 95), ("syntax", 280)):
        assert [kind for kind, questions in QUESTIONS[name].items() if len({q.asked for q in questions}) < least] == []
    assert len({q.key for all_of_it in QUESTIONS["commonsense"].values() for q in all_of_it}) > 300


def test_every_sum_is_right():
    """The answers of math, worked out again from what is asked."""
    signs = {"+": add, "-": sub, "x": mul, "got": add, "lost": sub}
    for q in [q for all_of_it in questions.math().values() for q in all_of_it]:
        words, answer = q.asked.split(), int(q.answer)
        numbers = [int(number) for number in re.findall(r"\d+", q.asked)]
        if q.asked.startswith("max("):
            assert answer == sorted(numbers)[-1]
        elif q.asked.startswith("after "):
            assert answer == numbers[0] + 1
        elif len(numbers) == 3:
            assert answer - numbers[2] == numbers[2] - numbers[1] == numbers[1] - numbers[0]
        else:
            assert answer == next(signs[word] for word in words if word in signs)(*numbers)


@pytest.mark.parametrize(
    ("kind", "asking", "answer"),
    [
        ("past_tense", "today they stop, yesterday they", " stopped"),
        ("past_tense", "today they write, yesterday they", " wrote"),
        ("plural", "one city and many", " cities"),
        ("plural", "one child and many", " children"),
        ("pronoun", "my sister saw the boys:", " she saw them"),
        ("question", "they can swim:", " can they swim?"),
        ("question", "I am tired:", " am I tired?"),
        ("negation", "she cries:", " she does not cry"),
        ("negation", "you are late:", " you are not late"),
        ("tense", "she slept:", " she will sleep"),
        ("agreement", "The women near the king", " are"),
    ],
)
def test_a_form_is_as_a_grammar_book_has_it(kind, asking, answer):
    """One or two questions of each kind of syntax, by hand."""
    assert {q.asked: q.answer for q in QUESTIONS["syntax"][kind]}[asking] == answer


def test_forms_follow_the_spelling():
    """Regular plurals and pasts, and every verb of the grammars has a past that is known."""
    assert [with_s(word) for word in ("cat", "box", "fly", "boy", "bench", "dish")] == [
        "cats", "boxes", "flies", "boys", "benches", "dishes",
    ]  # fmt: skip
    assert [past_of(verb) for verb in ("walk", "hope", "cry", "play", "plan")] == [
        "walked", "hoped", "cried", "played", "planned",
    ]  # fmt: skip
    words = questions._data("words")
    assert set(words["intransitive"]) <= {*words["regular"], *dict(words["verbs"])}
    assert {*words["regular"]}.isdisjoint(dict(words["verbs"]))
    assert {*words["nouns"]}.isdisjoint(dict(words["plurals"]))


def test_right_answers_stand_under_every_letter():
    """Each question of commonsense has its answer once under A, B, C and D, among four different options."""
    for all_of_it in questions.commonsense().values():
        letters: dict[str, list[str]] = {}
        for q in all_of_it:
            letters.setdefault(q.key, []).append(q.answer)
            options = re.fullmatch(r".+ A\) (.+) B\) (.+) C\) (.+) D\) (.+) Answer:", q.asked).groups()
            assert len(set(options)) == 4
            assert q.key.endswith(options["ABCD".index(q.answer.strip())])
        assert all(sorted(found) == [" A", " B", " C", " D"] for found in letters.values())


@pytest.mark.parametrize("seed", ["1", "2"])
def test_tasks_are_the_same_in_every_process(seed):
    """Python's hash seed does not decide what is asked."""
    code = "from analysis.data.tasks import builtin; print(*(task.hash for task in builtin().values()))"
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert result.stdout.split() == [task.hash for task in builtin().values()]


def test_tasks_keep_their_hashes():
    """The fits that users have stored are found again: built-in tasks, own tasks and own pairs."""
    assert {name: task.hash for name, task in builtin().items()} == {
        "math": "e555ad49965f917c",
        "syntax": "28b46f02d8d101bd",
        "commonsense": "1cd85a8e721e813d",
    }
    assert read_task("mine.jsonl", lines(*numbered(20))).hash == "209e7b5a8df877b1"
    assert read_contrast("mine.jsonl", lines(*sided(numbered(20)))).hash == "672395b3851fc6f2"


def test_tokens_of_a_prompt_begin_the_tokens_of_the_whole(default_checkpoint):
    """The default model's tokenizer never joins a prompt's end with the beginning of its target."""
    tokenizer = Tokenizer.from_file(str(default_checkpoint.folder / "tokenizer.json"))
    for task in builtin().values():
        items = task.train[:1_000] + task.validation
        prompts = tokenizer.encode_batch([item.prompt for item in items])
        wholes = tokenizer.encode_batch([item.prompt + item.target for item in items])
        assert all(whole.ids[: len(p.ids)] == p.ids for p, whole in zip(prompts, wholes, strict=True))
        assert max(len(whole.ids) for whole in wholes) <= (60 if task.name == "commonsense" else 33)


def test_a_user_s_task_is_read_and_split():
    """One item in five is for validation, whatever the order of the lines; kind and blank lines are optional."""
    task = read_task("my_sums.jsonl", b"\xef\xbb\xbf" + lines(*numbered(20, kind="sum"), "", *numbered(0)))
    assert (task.name, task.title, task.kinds) == ("my_sums", "my sums", ("sum",))
    assert (len(task.train), len(task.validation)) == (16, 4)
    assert task.hash == read_task("other.jsonl", lines(*reversed(numbered(20, kind="sum")))).hash
    assert task.hash != read_task("other.jsonl", lines(*numbered(20))).hash
    small = read_task("small.jsonl", lines(*numbered(8)))
    assert (len(small.train), len(small.validation), small.kinds) == (7, 1, ("custom",))
    assert TaskPrompt("custom", "0 + 1 =", " 1") in small.train + small.validation


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("{", "broken JSON"),
        ("[" * 100_000, "broken JSON"),
        ("1" * 10_000, "broken JSON"),
        ([1, 2], "not an object"),
        ({"target": "x"}, "the prompt is missing"),
        ({"prompt": "x"}, "the target is missing"),
        ({"prompt": "x", "target": 3}, "the target must be text"),
        ({"prompt": "x", "target": "y", "kind": 3}, "the kind must be text"),
        ({"prompt": " ", "target": "y"}, "the prompt is empty"),
        ({"prompt": "x" * 5_000, "target": "y"}, "the prompt has more than 4,000 characters"),
        ({"prompt": "x", "target": "y" * 201}, "the target has more than 200 characters"),
        ({"prompt": "\ud800", "target": "y"}, "the prompt contains an unpaired surrogate"),
        ({"prompt": "3 + 1 =", "target": " 5"}, "repeats the prompt of line 4"),
    ],
)
def test_a_bad_line_is_named_with_its_reason(row, reason):
    """The message says the file, the line and what is wrong with it; the hint shows a good line."""
    with pytest.raises(TaskError, match=re.escape(f"mine.jsonl, line 9: {reason}")) as caught:
        read_task("mine.jsonl", lines(*numbered(8), row))
    assert '"prompt"' in caught.value.hint
    assert caught.value.exit_code == 9


def test_a_bad_file_is_refused_as_a_whole(tmp_path):
    """Too large, too long, too short, not text, not there; many bad lines are cut short."""
    for content, reason in [
        (b" " * (MAX_BYTES + 1), "larger than 10 MB"),
        (lines(*numbered(MAX_ITEMS + 1)), "more than 20,000 items"),
        (lines(*numbered(7)), "holds 7 items"),
        (b"", "holds 0 items"),
        (b'{"prompt": "a"}\n\xff', "line 2: not UTF-8"),
        (b"{\n" * 50, "and perhaps more"),
    ]:
        with pytest.raises(TaskError, match=reason):
            read_task("mine.jsonl", content)
    with pytest.raises(TaskError, match="cannot be read"):
        OwnFile.read(tmp_path / "nothing.jsonl")


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.just("same"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["prompt", "target", "kind", "other"]), inner, max_size=4)
    ),
    max_leaves=5,
)


@given(st.binary() | st.lists(json_values | st.sampled_from(numbered(30)), max_size=30).map(lambda rows: lines(*rows)))
def test_any_bytes_give_a_task_or_a_reason(content):
    """Whatever is uploaded, nothing but a TaskError is raised, and a task has both its parts."""
    try:
        task = read_task("any.jsonl", content)
    except HeadAtlasError as error:
        assert isinstance(error, TaskError)
        assert error.hint
    else:
        assert len(task.train) > len(task.validation) > 0


PAIR = {"forget": {"prompt": "a b", "target": " c"}, "retain": {"prompt": "a d", "target": " e"}}


def test_pairs_to_contrast_are_read_and_a_broken_line_is_named():
    """Eight lines or more, each with both sides; all that are wrong are told with number and reason."""
    others = [{**PAIR, "forget": {"prompt": f"a {n}", "target": " c"}} for n in range(8)]
    found = read_contrast("pairs.jsonl", lines(*others))
    assert len(found.forget) == len(found.retain) == 8
    with pytest.raises(TaskError, match="line 2: not an object with forget and retain"):
        read_contrast("pairs.jsonl", lines(PAIR, {"forget": PAIR["forget"]}))
    with pytest.raises(TaskError, match="line 1: retain: the target is missing"):
        read_contrast("pairs.jsonl", lines({**PAIR, "retain": {"prompt": "x"}}))
    with pytest.raises(TaskError, match="holds 1 pairs"):
        read_contrast("pairs.jsonl", lines(PAIR))
    with pytest.raises(TaskError, match="line 2: repeats the prompt of line 1\n.*line 3: retain: the prompt is empty"):
        read_contrast("pairs.jsonl", lines(PAIR, PAIR, {**PAIR, "retain": {"prompt": "", "target": "x"}}))


def sided(rows):
    """Rows as sides of pairs: each with the one after it."""
    return [{"forget": forget, "retain": retain} for forget, retain in pairwise(rows)]


pair_rows = st.lists(json_values | st.sampled_from(numbered(30)), max_size=30).map(sided)


@for_example(lines(*sided(numbered(30))))
@given(st.binary(max_size=300) | pair_rows.map(lambda rows: lines(*rows)))
def test_any_bytes_are_pairs_or_a_task_error(content):
    """Whatever is uploaded, nothing but a TaskError with a hint is raised, and pairs have as many of both sides."""
    try:
        contrast = read_contrast("any.jsonl", content)
    except HeadAtlasError as error:
        assert isinstance(error, TaskError)
        assert error.hint
    else:
        assert len(contrast.forget) == len(contrast.retain) >= MIN_ITEMS
        assert all(item.prompt.strip() and item.target.strip() for item in contrast.forget + contrast.retain)
