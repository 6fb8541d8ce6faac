import json

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from analysis.data.relations import parse
from analysis.errors import TokenizerMissing
from analysis.models.vocabulary import Vocabulary
from tests.tiny_models import save_tokenizer


def test_default_model_marks_word_starts(default_checkpoint):
    """' Paris' is one token of the default model; 'Ouagadougou' is not; the token reads with its space."""
    words = Vocabulary.open(default_checkpoint.folder)
    found = words.single(["Paris", "Ouagadougou"])
    assert set(found) == {"Paris"}
    assert words.text(found["Paris"]) == " Paris"
    assert len(words) == default_checkpoint.card.vocabulary


def test_tokenizer_that_adds_the_space_itself(tmp_path):
    """Llama-2-like tokenizers put a word-start mark before any text; a second space must not lose the word."""
    names = {"▁": 0, "▁hot": 1, "h": 2, "o": 3, "t": 4, "ho": 5, "hot": 6, "▁▁": 7}
    tokenizer = Tokenizer(models.BPE(names, [("h", "o"), ("ho", "t"), ("▁", "hot"), ("▁", "▁")]))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    words = Vocabulary.open(tmp_path)
    assert words.single(["hot"]) == {"hot": 1}
    assert words.text(1) == " hot"


def test_words_the_tokenizer_does_not_know(tmp_path):
    """An unknown-word token is no token for the word."""
    save_tokenizer(tmp_path, 50)
    words = Vocabulary.open(tmp_path)
    assert words.single(["w3", "w48", "nonsense"]) == {"w3": 3, "w48": 48}


def test_pairs_that_become_equal_count_once(tmp_path):
    """Two words with one token make one pair."""
    tokenizer = Tokenizer(models.WordLevel({"hot": 0, "cold": 1, "[UNK]": 2}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    words = Vocabulary(tokenizer)
    assert words.keep(parse(b"hot,cold\nHot,cold\nhot,unheard", "r.csv")) == ((0, 1),)


def test_missing_or_broken_tokenizer(tmp_path):
    """Without tokenizer files there is nothing to look words up in."""
    with pytest.raises(TokenizerMissing):
        Vocabulary.open(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(TokenizerMissing):
        Vocabulary.open(tmp_path)


def test_a_word_inside_a_word_is_no_word(tmp_path):
    """'hot' without its word start is another token than ' hot'; it does not stand for the word."""
    names = {"Ġ": 0, "h": 1, "o": 2, "t": 3, "ho": 4, "hot": 5}
    tokenizer = Tokenizer(models.BPE(names, [("h", "o"), ("ho", "t")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    assert Vocabulary(tokenizer).single(["hot"]) == {}


def test_padding_and_truncation_saved_with_a_tokenizer(tmp_path):
    """Some checkpoints save both; they must not change what one word becomes."""
    save_tokenizer(tmp_path, 50)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    tokenizer.enable_padding(length=4)
    tokenizer.enable_truncation(1)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert Vocabulary.open(tmp_path).single(["w3", "w3 w4"]) == {"w3": 3}


def test_tokens_without_an_embedding_are_dropped(tmp_path):
    """A tokenizer may know more tokens than the model has embeddings."""
    save_tokenizer(tmp_path, 50)
    relation = parse(b"w1,w2\nw1,w40", "r.csv")
    assert Vocabulary.open(tmp_path).keep(relation, 40) == ((1, 2),)


# ---- BOS -------------------------------------------------------------------------------------------------------------


def begun(folder, adds, **config):
    """A tokenizer that adds w0 in front and w1 behind by itself, or nothing, with what its config says."""
    save_tokenizer(folder, 50)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.add_special_tokens(["w0", "w1"])
    if adds:
        tokenizer.post_processor = processors.TemplateProcessing("w0 $A w1", special_tokens=[("w0", 0), ("w1", 1)])
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return Vocabulary.open(folder)


@pytest.mark.parametrize("token", ["w0", {"content": "w0", "special": True}])
@pytest.mark.parametrize("adds", [True, False])
def test_bos_as_the_config_says(tmp_path, adds, token):
    """True puts it in front exactly once, false nowhere, whatever the tokenizer does by itself."""
    words = begun(tmp_path, adds, add_bos_token=True, bos_token=token)
    assert [tokens.ids for tokens in words.encoded(["w5 w6", "w0 w5", ""])] == [(0, 5, 6), (0, 5), (0,)]
    assert words.encoded(["w5 w6"])[0].spans == ((0, 0), (0, 2), (3, 5))
    assert words.prefix("w5") == (0, 5)
    words = begun(tmp_path, adds, add_bos_token=False, bos_token=token)
    assert words.prefix("w5 w6") == (5, 6)
    assert words.encoded(["w5 w6"])[0].spans == ((0, 2), (3, 5))
    assert words.prefix("w0 w5") == (0, 5)  # written in the text itself


@pytest.mark.parametrize("config", [{}, {"bos_token": "w0"}, {"add_bos_token": "yes"}, {"add_bos_token": True}])
def test_bos_of_which_the_config_says_too_little(tmp_path, config):
    """The tokenizer decides, as without a config."""
    assert begun(tmp_path, True, **config).prefix("w5") == (0, 5)
    assert begun(tmp_path, False, **config).prefix("w5") == (5,)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_tokenizer_config_is_ignored(tmp_path, content):
    """Only BOS is read from it."""
    begun(tmp_path, True)
    (tmp_path / "tokenizer_config.json").write_bytes(content)
    assert Vocabulary.open(tmp_path).prefix("w5") == (0, 5)


def test_the_default_model_adds_nothing(default_checkpoint):
    """The shipped results were computed from texts without BOS."""
    assert Vocabulary.open(default_checkpoint.folder).prefix("Hello") == (19556,)


def test_a_tokenizer_is_read_once_until_its_files_change(tmp_path):
    """The same folder gives the same one; another config, in the same folder, another one."""
    first = begun(tmp_path, True)
    assert Vocabulary.open(tmp_path) is first
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"bos_token": "w0", "add_bos_token": False}))
    assert Vocabulary.open(tmp_path).prefix("w5") == (5,)
