import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

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
