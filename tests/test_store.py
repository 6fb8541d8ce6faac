import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest
from diskcache import Disk
from hypothesis import given
from hypothesis import strategies as st

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
    assert [again.bytes_of(name) for name in ("a/1", "a/2", "b", "\ud800")] == [5, 500_000, None, None]
    assert again.get("b") is None
    assert again.get("\ud800") is None  # no entry can have half a character in its name
    assert again.size() > 500_000


def test_a_connection_takes_little_memory(tmp_path):
    """Every thread has one of its own: a megabyte of pages at most, and nothing mapped."""
    store = Store(tmp_path)

    def settings_of_mine():
        return [store._cache._sql(f"PRAGMA {name}").fetchall()[0][0] for name in ("cache_size", "mmap_size")]

    with ThreadPoolExecutor(1) as other:
        assert other.submit(settings_of_mine).result() == settings_of_mine() == [256, 0]


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
    store = Store(tmp_path / "store")
    with pytest.raises(TypeError):
        store._cache.set("key", {"not": "bytes"})
    store.put("planted", b"fine")
    planted = b"cposix\nmkdir\n(S'" + str(tmp_path / "ran").encode() + b"'\ntR."
    with sqlite3.connect(tmp_path / "store" / "cache.db") as database:
        database.execute("UPDATE Cache SET mode = 4, value = ? WHERE key = 'planted'", (planted,))
    assert store.get("planted") is None
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("mode", "column", "value"),
    [
        (1, "value", "7"), (1, "value", "1.5"), (1, "value", "'text'"), (1, "value", "CAST(x'ff' AS TEXT)"),
        (2, "filename", "7"), (2, "filename", "'text'"), (9, "value", "x'00'"),
    ],
)  # fmt: skip
def test_a_row_with_something_else_than_bytes_is_damaged(tmp_path, mode, column, value):
    """A number or a text where the bytes or their file's name should be: no value, and it can be put again."""
    store = Store(tmp_path)
    store.put("planted", b"fine")
    with sqlite3.connect(tmp_path / "cache.db") as database:
        database.execute(f"UPDATE Cache SET mode = {mode}, {column} = {value}")
    assert store.get("planted") is None
    store.put("planted", b"again")
    assert store.get("planted") == b"again"


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


def test_contains_says_what_is_there_without_reading_it(tmp_path, monkeypatch):
    """Small and large values are found by their name alone: neither disk nor database gives out a value."""
    store = Store(tmp_path)
    store.put("small", b"x")
    store.put("large", b"x" * 500_000)
    statements = []
    store._cache._con.set_trace_callback(statements.append)

    def fetch(*arguments):
        raise AssertionError("a value was read")

    monkeypatch.setattr(Disk, "fetch", fetch)
    assert store.contains("small")
    assert store.contains("large")
    assert not store.contains("absent")
    assert not store.contains("smal")
    assert not store.contains("\ud800")
    store.delete("small")
    assert not store.contains("small")
    selects = [statement for statement in statements if statement.startswith("SELECT rowid FROM Cache")]
    assert len(selects) == 5
    assert not any("value" in statement for statement in statements)


def test_a_store_that_fails_is_named_by_every_question(tmp_path):
    """Once the database is gone, `get`, `contains`, `bytes_of` and `names` all raise the same named error."""
    store = Store(tmp_path)
    store.put("a", b"x")
    store._cache._sql("DROP TABLE Cache")
    for question in (store.get, store.contains, store.bytes_of, lambda prefix: list(store.names(prefix))):
        with pytest.raises(StoreError, match="cannot be used"):
            question("a")


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One store for all examples of a law."""
    store = Store(tmp_path_factory.mktemp("store"))
    yield store
    store.close()


# Few characters, so that keys share prefixes: at both ends of Unicode, around the gap of the surrogates, LIKE's
# wildcards, upper and lower case, and NUL.
edges = st.text(st.sampled_from("aA/%_\0\ud7ff\ue000\U0010ffff"), max_size=4)
keys = edges | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@given(st.lists(keys, unique=True, max_size=12), edges | st.text(max_size=3))
def test_names_are_those_that_start_with_the_prefix(shared, keys, prefix):
    """For any keys and any prefix: what a look at every key finds, in the order in which they were put."""
    for key in keys:
        shared.put(key, b"x")
    shared._cache.set(b"bytes", b"x")  # other kinds of keys are no names
    shared._cache.set(7, b"x")
    shared._cache.set(("a", 1), b"x")
    try:
        assert list(shared.names(prefix)) == [key for key in keys if key.startswith(prefix)]
        assert all(shared.contains(key) for key in keys)
    finally:
        shared._cache.clear()


def test_names_are_looked_up_in_the_index(tmp_path):
    """SQLite searches the index of keys, so that a prefix costs what it finds and not what the store holds."""
    store = Store(tmp_path)
    statements = []
    store._cache._con.set_trace_callback(statements.append)
    assert list(store.names("job/")) == []
    (statement,) = [statement for statement in statements if "ORDER BY" in statement]
    plan = store._cache._sql(f"EXPLAIN QUERY PLAN {statement}").fetchall()
    assert any("SEARCH Cache USING" in step and "(key>? AND key<?)" in step for *_, step in plan)


def test_a_pickled_key_is_not_loaded(tmp_path):
    """Somebody planted a row whose key is a pickle: it is no name, and going over the entries does not load it."""
    store = Store(tmp_path / "store")
    store.put("mine", b"fine")
    planted = b"cposix\nmkdir\n(S'" + str(tmp_path / "ran").encode() + b"'\ntR."
    with sqlite3.connect(tmp_path / "store" / "cache.db") as database:
        database.execute("UPDATE Cache SET key = ?, raw = 0", (planted,))
    assert list(store.names()) == []
    with pytest.raises(ValueError, match="names only"):
        list(store._cache)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["../victim", "ab/../../victim", "ab/cd/" + "0" * 28 + ".val"])
def test_a_row_does_not_lead_out_of_the_store(tmp_path, name):
    """A file name with dots, or through a link, is neither read nor deleted when its entry goes."""
    victim = tmp_path / "victim"
    store = Store(tmp_path / "store")
    store.put("large", bytes(100_000))
    content = bytes((tmp_path / "store").rglob("*.val").__next__().read_bytes())
    if name.endswith(".val"):
        (tmp_path / "outside" / "cd").mkdir(parents=True)
        (tmp_path / "store" / "ab").symlink_to(tmp_path / "outside")
        victim = tmp_path / "outside" / "cd" / name.rpartition("/")[2]
    victim.write_bytes(content)
    with sqlite3.connect(tmp_path / "store" / "cache.db") as database:
        database.execute("UPDATE Cache SET filename = ?", (name,))
    assert store.get("large") is None
    store.put("large", b"again")
    assert store.get("large") == b"again"
    assert victim.read_bytes() == content


def test_a_store_that_is_deleted_meanwhile_is_noticed(tmp_path, caplog):
    """What is put after that is on the disk, where the next process finds it, and the log says what happened."""
    store = Store(tmp_path / "store")
    store.put("before", b"1")
    shutil.rmtree(tmp_path / "store")
    assert store.get("before") is None
    store.put("after", b"2")
    again = Store(tmp_path / "store")
    assert again.get("after") == b"2"
    assert "was deleted or replaced" in caplog.text
