import json
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.data import relations
from analysis.data.files import OwnFile
from analysis.data.relations import as_csv, builtin, choose, parse
from analysis.errors import HeadAtlasError, RelationError
from analysis.methods.function.settings import FunctionSettings
from analysis.models.vocabulary import MIN_PAIRS, Vocabulary

# The sizes of the sets that the MAPS paper published (arXiv 2412.11965, table of relations).
PUBLISHED = {
    "copying": 500, "name_copying": 156, "word_first_letter": 241, "word_last_letter": 241, "year_next_year": 700,
    "country_capital": 184, "country_language": 103, "object_superclass": 131, "product_company": 547,
    "work_location": 84, "adjective_comparative": 98, "adjective_superlative": 98, "word_antonym": 102,
    "word_synonym": 188, "verb_past": 114, "noun_pronoun": 270, "word_homophone": 146, "word_compound": 109,
    "english_french": 82, "english_spanish": 82,
}  # fmt: skip


def test_all_twenty_relations_are_there_and_as_large_as_published():
    """Each of our sets has at least as many pairs as the published one."""
    assert {name: len(relation.pairs) >= PUBLISHED[name] for name, relation in builtin().items()} == dict.fromkeys(
        PUBLISHED, True
    )
    assert Counter(relation.category for relation in builtin().values()) == {
        "algorithmic": 5, "knowledge": 5, "linguistic": 8, "translation": 2,
    }  # fmt: skip


@pytest.mark.parametrize("relation", builtin().values(), ids=lambda relation: relation.name)
def test_relation_is_tidy(relation):
    """No pair twice (whatever the case), no stray space, a title, a phrase, a sentence and a source."""
    folded = [(source.casefold(), target.casefold()) for source, target in relation.pairs]
    assert [pair for pair, count in Counter(folded).items() if count > 1] == []
    assert all(word == word.strip() and word for pair in relation.pairs for word in pair)
    assert relation.sentence.endswith(".")
    assert relation.title
    assert re.fullmatch(r"(Maps|Copies|Translates) .*[a-zA-Z]", relation.phrase)
    assert relation.source
    assert (relation.k == "copying") == (relation.name in {"copying", "name_copying"})


@pytest.mark.parametrize("name", ["copying", "name_copying"])
def test_copying_relations_copy(name):
    """A copied word is the word itself."""
    assert all(source == target for source, target in builtin()[name].pairs)


def test_relations_that_a_rule_decides_obey_it():
    """Letters, years and compounds are true by their spelling; nothing else maps a word to itself."""
    pairs = {name: relation.pairs for name, relation in builtin().items()}
    assert all(source[0].lower() == target for source, target in pairs["word_first_letter"])
    assert all(source[-1].lower() == target for source, target in pairs["word_last_letter"])
    assert all(int(source) + 1 == int(target) for source, target in pairs["year_next_year"])
    assert all(target.startswith(source) for source, target in pairs["word_compound"])
    others = set(pairs) - {"copying", "name_copying", "word_first_letter", "word_last_letter"}
    assert [(n, p) for n in others for p in pairs[n] if p[0].casefold() == p[1].casefold()] == []


def test_kept_pairs_of_the_default_model(default_checkpoint):
    """Each relation of the first three categories keeps 30 pairs, but years: the tokenizer splits numbers."""
    vocabulary = Vocabulary.open(default_checkpoint.folder)
    kept = {name: len(vocabulary.keep(r)) for name, r in builtin().items() if r.category != "translation"}
    assert {name for name, count in kept.items() if count < MIN_PAIRS} == {"year_next_year"}
    assert not any(vocabulary.single(str(year) for year in range(1000, 2100)))


def test_choosing_by_name_category_and_file(tmp_path):
    """Relations are asked for by name, by category or by file; nothing asked means all."""
    mine = tmp_path / "mine.csv"
    mine.write_text("hot,cold\nbig,small\n")
    both = FunctionSettings(relations=["copying"], files=[OwnFile.read(mine)])
    assert [r.name for r in both.chosen_relations()] == ["copying", "mine"]
    assert [r.category for r in choose(["knowledge"])] == ["knowledge"] * 5
    assert len(FunctionSettings().chosen_relations()) == 20
    with pytest.raises(RelationError, match="'nonsense'"):
        choose(["nonsense"])


def test_two_files_of_one_name_are_refused(tmp_path):
    """A score's item must mean one thing."""
    (tmp_path / "a").mkdir()
    for folder, pair in ((tmp_path, "hot,cold"), (tmp_path / "a", "big,small")):
        (folder / "mine.csv").write_text(pair)
    files = [OwnFile.read(tmp_path / "mine.csv"), OwnFile.read(tmp_path / "a" / "mine.csv")]
    with pytest.raises(RelationError, match="two relations"):
        FunctionSettings(files=files).chosen_relations()


def test_json_and_csv_mean_the_same():
    """Both formats, with or without header, byte-order mark or blank lines, give the same pairs."""
    expected = (("France", "Paris"), ("a, b", "<img src=x>"))
    assert parse(json.dumps(expected).encode(), "r.json").pairs == expected
    assert parse(b'\xef\xbb\xbfsource,target\nFrance,Paris\n\n"a, b",<img src=x>\n', "r.csv").pairs == expected
    assert parse(b' [["France","Paris"],\n["a, b","<img src=x>"]] ', "r.txt").pairs == expected
    assert parse(b"hot,cold", "mine.csv").name == "mine"


@pytest.mark.parametrize(
    ("content", "filename", "message"),
    [
        (b"hot,cold\nbig\nup,down", "r.csv", "r.csv, line 2: expected two columns, found 1"),
        (b"hot,cold\nbig,small,tiny", "r.csv", "line 2: expected two columns, found 3"),
        (b"hot,cold\nbig,", "r.csv", "line 2: an empty word"),
        (b"hot,cold\nup,down\nhot,cold", "r.csv", "line 3: repeats line 1"),
        (b'[["a","b"],\n["c"]]', "r.json", "r.json, pair 2: expected two columns, found 1"),
        (b'[["a","b"],\n["c",3]]', "r.json", "pair 2: both must be text"),
        (b'[["a","b"],\n"cd"]', "r.json", "pair 2: not a pair"),
        (b'[["a","b"], ["c","d"], ["a","b"]]', "r.json", "pair 3: repeats pair 1"),
        (b'[["a","b"], ["c","d"], [NaN,"b"]]', "r.json", "pair 3: both must be text"),
        (b'[["a","b"], [' + b"1" * 4_301 + b',"c"]]', "r.json", "a number with too many digits"),
        (b'[["a","b"]\n["c","d"]]', "r.json", "line 2: ',' is missing"),
        (b'[["a","b"],\n["c","d]]', "r.json", "line 2: broken JSON"),
        (b'[["a","b"],\n["c"\n"d"]]', "r.json", "line 3: ',' is missing"),
        (b'[["a","b"]]\nx', "r.json", "line 2: text after the list"),
        (b'{"a": "b"}', "r.json", "line 1: '[' is missing"),
        (b"hot,cold\n\xff,x", "r.csv", "line 2: not UTF-8"),
        (b"", "r.csv", "holds no pairs"),
        (b"[]", "r.json", "holds no pairs"),
        (b"x," + b"y" * 101, "r.csv", "more than 100 characters"),
        (b'"hot,cold', "r.csv", "line 1"),
        (b'[["\\ud800", "b"]]', "r.json", "pair 1: an unpaired surrogate"),
    ],
)
def test_malformed_relations_name_place_and_reason(content, filename, message):
    """Bad input gets the reason and its place: the line, or the number of the pair in a JSON list."""
    with pytest.raises(RelationError) as caught:
        parse(content, filename)
    assert message in str(caught.value)
    assert caught.value.hint


def test_all_bad_lines_at_once():
    """All problems of a file are listed together, so that it is fixed in one go and not line by line."""
    with pytest.raises(RelationError) as caught:
        parse(b"a\nb,c\nd\n", "r.csv")
    assert "line 1" in str(caught.value)
    assert "line 3" in str(caught.value)
    with pytest.raises(RelationError, match="pair 1: both must be text\nr.json, pair 3: an empty word"):
        parse(b'[["a", 1], ["b", "c"], ["d", ""]]', "r.json")


def test_size_limits(tmp_path):
    """Files and lists that are too large are refused before they cost time."""
    many = "\n".join(f"a{i},b{i}" for i in range(relations.MAX_PAIRS + 1)).encode()
    with pytest.raises(RelationError, match="20,000 pairs"):
        parse(many, "r.csv")
    huge = tmp_path / "huge.csv"
    with huge.open("wb") as stream:
        stream.truncate(10**9)
    with pytest.raises(RelationError, match="larger than 10 MB"):
        OwnFile.read(huge)
    with pytest.raises(RelationError, match="nested too deeply"):
        parse(b"[" * 200_000, "r.json")


@given(st.binary(max_size=200), st.sampled_from(["r.csv", "r.json", "r"]))
def test_no_bytes_break_the_reader(content, filename):
    """Any bytes are a relation or a named error."""
    try:
        relation = parse(content, filename)
        assert relation.pairs
        assert relation.hash
    except HeadAtlasError as error:
        assert error.hint


words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(str.strip)


@given(st.lists(st.tuples(words, words), min_size=1, max_size=20, unique_by=lambda p: (p[0].strip(), p[1].strip())))
def test_written_pairs_are_read_back(pairs):
    """Any words listed in JSON come back, without the spaces around them."""
    assert parse(json.dumps(pairs).encode(), "r.json").pairs == tuple((s.strip(), t.strip()) for s, t in pairs)


# Stored results are found by these: a hash changes only with a pair or with the kind of k.
HASHES = {
    "copying": "c45a1c53f0d56281", "name_copying": "5ce9bad6a01b5643", "word_first_letter": "0bceae0917ff8300",
    "word_last_letter": "09d779c35e5ad7af", "year_next_year": "7d7c0bee68fcec11", "country_capital": "72099c54471246e9",
    "country_language": "b43cd009beedaf60", "object_superclass": "a8feff4afde9ca77",
    "product_company": "99e3ac8beef3ef28", "work_location": "cd745abced609428",
    "adjective_comparative": "e7acaa6159ab50ef", "adjective_superlative": "3dbe6daa3add9b54",
    "noun_pronoun": "4ed659114aa5d22d", "verb_past": "596b2f4bb3ad9094", "word_antonym": "5cb31075bf1aea12",
    "word_compound": "e207167cda315557", "word_homophone": "a0cabeb92b61266e", "word_synonym": "fb9994f439fe361e",
    "english_french": "80111ea6c0475a59", "english_spanish": "2e6e9bb6ceaaa318",
}  # fmt: skip


def test_relations_keep_their_hashes_and_their_order():
    """The results that users have stored are found again, and maps show the relations in the same order."""
    assert {name: builtin()[name].hash for name in HASHES} == HASHES
    assert [name for name in builtin() if name in HASHES] == list(HASHES)
    assert parse(b"hot,cold\nbig,small", "mine.csv").hash == "d6f2a6bcdd778f78"


def test_hash_depends_on_pairs_only():
    """Renaming a file keeps its results valid; another pair does not."""
    assert parse(b"hot,cold", "a.csv").hash == parse(b"hot,cold", "b.csv").hash
    assert parse(b"hot,cold", "a.csv").hash != parse(b"cold,hot", "a.csv").hash


@pytest.mark.parametrize("word", ["=1+1", "+a", "-ing", "@a", "'=a", "''-", "'tis", "plain"])
def test_pairs_in_a_csv_file_are_no_formulas_and_come_back(word):
    """A spreadsheet runs nothing of a downloaded file, and the same file brought again has the same pairs."""
    text = as_csv([(word, "b")])
    cell = text.splitlines()[1].rpartition(",")[0]
    assert not cell.startswith(("=", "+", "-", "@"))
    assert parse(text.encode(), "own.csv").pairs == ((word, "b"),)
