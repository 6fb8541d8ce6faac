import sqlite3

import pytest

from analysis.errors import StoreError
from analysis.results.store import Store, cache_folder


def test_what_was_put_is_found_again(tmp_path):
    """Small and large values survive closing the store."""
    store = Store(tmp_path)
    store.put("a/1", b"small")
    store.put("a/2", b"x" * 500_000)
    store.close()
    again = Store(tmp_path)
    assert again.get("a/1") == b"small"
    assert again.get("a/2") == b"x" * 500_000
    assert sorted(again.names("a/")) == ["a/1", "a/2"]
    assert again.get("b") is None
    assert again.size() > 500_000


def test_a_damaged_value_is_forgotten_and_the_others_stay(tmp_path):
    """A flipped byte in a file, or a missing file, costs that entry only."""
    store = Store(tmp_path)
    store.put("large", b"x" * 500_000)
    store.put("other", b"y" * 400_000)
    store.put("lost", b"z" * 300_000)
    files = {path.stat().st_size: path for path in tmp_path.rglob("*.val")}
    damaged, lost = files[500_016], files[300_016]
    damaged.write_bytes(b"x" * 500_016)
    lost.unlink()
    assert store.get("large") is None
    assert store.get("lost") is None
    assert store.get("other") == b"y" * 400_000
    store.put("large", b"again")
    assert store.get("large") == b"again"


def test_nothing_is_ever_pickled(tmp_path):
    """Values are bytes; anything else is refused, also when somebody planted a pickle in the database."""
    store = Store(tmp_path)
    with pytest.raises(TypeError):
        store._cache.set("key", {"not": "bytes"})
    store.put("planted", b"fine")
    with sqlite3.connect(tmp_path / "cache.db") as database:
        database.execute("UPDATE Cache SET mode = 4, value = ? WHERE key = 'planted'", (b"cos\nsystem\n(S'true'\ntR.",))
    assert store.get("planted") is None


def test_a_folder_that_cannot_be_used(tmp_path):
    """A path that is a file: a named error with a hint."""
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(StoreError) as caught:
        Store(path)
    assert "HEAD_ATLAS_CACHE" in caught.value.hint


def test_cache_folder_can_be_chosen(monkeypatch, tmp_path):
    """HEAD_ATLAS_CACHE decides, else the user's cache folder."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("HEAD_ATLAS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "head-atlas"
