"""A method that is defined in the tests alone works in the command line and as a job on a real Dask cluster."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import methods
from analysis.cli import main
from analysis.errors import SettingError, TaskError
from analysis.evidence.catalogue import Catalogue
from analysis.jobs.engine import Engine
from analysis.jobs.request import Request, make_request
from analysis.settings import Settings, check_groups
from tests.engine.conftest import engine, models, scheduler  # noqa: F401  # fixtures
from tests.engine.test_engine import wait
from tests.toy_method import NAME, ParityMethod

ROOT = Path(__file__).parent.parent


@pytest.fixture
def parity():
    """Registered for one test."""
    method = ParityMethod()
    methods.register(method)
    yield method
    methods.METHODS.remove(method)


def even(scores):
    """What every head's score must be."""
    layers, heads = scores.score.sizes["layer"], scores.score.sizes["head"]
    return (np.add.outer(np.arange(layers), np.arange(heads)) % 2 == 0).astype(float)


def test_a_method_is_registered_once(parity):
    """A second one of the same name is refused, and one that is not there has a named error."""
    with pytest.raises(SettingError, match="already"):
        methods.register(ParityMethod())
    with pytest.raises(SettingError, match="no method"):
        methods.method("nonsense")


class WordedShift(Settings):
    """The toy's setting with a meaning of its own."""

    shift: str = ""


class OwnModel(Settings):
    """What every request says already."""

    model: int = 0


@pytest.mark.parametrize(("settings", "name"), [(WordedShift, "shift"), (OwnModel, "model")])
def test_two_meanings_of_one_setting_are_refused(parity, settings, name):
    """A request has every setting once, so a second definition would be ignored in silence."""
    other = ParityMethod()
    other.name, other.settings = "other", settings
    with pytest.raises(SettingError, match=f"{settings.__name__}.*{name!r}"):
        methods.register(other)
    assert other not in methods.METHODS


class RefusingMethod(ParityMethod):
    """Takes files of none but its own kind."""

    def check_files(self, settings, folder):
        """Why a file is of no use, and what helps."""
        return {"odd.csv": TaskError("odd.csv: its lines are odd", "Even them out.")}


def test_a_file_is_refused_with_the_methods_own_hint():
    """What helps depends on the method: nothing general is said in its place."""
    method = RefusingMethod()
    methods.register(method)
    try:
        with pytest.raises(TaskError, match="odd.csv: its lines are odd") as refused:
            make_request({"model": "a/model", "methods": [NAME]}).check_files()
    finally:
        methods.METHODS.remove(method)
    assert refused.value.hint == "Even them out."


def test_a_setting_that_two_methods_share_is_welcome(parity):
    """The same group, or one that was derived from it; those of the project itself are shared in this way, too."""
    check_groups([Request, *(method.settings for method in methods.METHODS)])
    other = ParityMethod()
    other.name, other.settings = "other", type("MoreParity", (ParityMethod.settings,), {})
    methods.register(other)
    methods.METHODS.remove(other)


def test_no_file_of_the_product_names_it():
    """Neither code nor data nor style sheets have its name: whatever is seen of it comes from the two lists."""
    files = [ROOT / "app.py"]
    for folder in ("analysis", "dashboard", "assets"):
        files += [path for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert len(files) > 400
    naming = [str(path) for path in files if NAME in path.name.lower() or NAME.encode() in path.read_bytes().lower()]
    assert naming == []


def test_its_command_is_there(parity, tiny_folder, tmp_path, monkeypatch, capsys):
    """With its own options and limits; the second time it comes from the store; it writes CSV and Parquet."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path / "cache"))
    command = ["parity", str(tiny_folder), "--json"]
    assert main([*command, "--shift", "1", "--out", str(tmp_path / "p.csv")]) == 0
    frame = pd.read_csv(tmp_path / "p.csv")
    assert frame.set_index(["layer", "head"])["score"].loc[1, 0] == 1
    assert set(frame["method"]) == {NAME}
    assert json.loads(capsys.readouterr().out)["from_store"] is False
    assert main([*command, "--shift", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["from_store"] is True
    assert main([*command, "--shift", "10"]) == 2
    assert "Shift: 10 is too large; at most 9 is allowed" in capsys.readouterr().out
    assert main(["parity", str(tiny_folder)]) == 0
    assert "Parity map of" in capsys.readouterr().out


def test_its_list_is_a_command_too(parity, capsys):
    """What a method offers besides computing stands among the commands."""
    assert main(["parities"]) == 0
    assert capsys.readouterr().out == "even, odd\n"


def test_it_runs_as_a_job(parity, engine, store):  # noqa: F811
    """On the worker, whose process was never told of it: the steps bring their own code."""
    request = make_request({"model": "small", "methods": [NAME, "function"], "shift": 3})
    job = wait(engine, engine.submit(request))
    assert (job.state, job.message) == ("done", "")
    assert "parity is a toy" in job.remarks
    assert job.asked[NAME].words == "shifted by 3"
    catalogue = Catalogue(store, engine)
    scores = catalogue.result(catalogue.card("small"), NAME)
    np.testing.assert_array_equal(scores.score.values[0, 0, 0], 1 - even(scores))
    assert scores.provenance.device == "a toy"
    assert catalogue.result(catalogue.card("small"), "function") is not None


def test_a_result_of_a_method_that_is_gone_hides_nothing(store, tiny_folder):
    """A store may hold results, and jobs, of a method that this installation does not have."""
    from analysis.models.checkpoint import Checkpoint
    from tests.computing import function_plan, function_scores
    from tests.test_plan import RELATION

    checkpoint = Checkpoint.open(tiny_folder, "small")
    scores = function_scores(checkpoint, function_plan(checkpoint, (RELATION,)), store, "cpu")
    foreign = ParityMethod().plan(checkpoint.card, ParityMethod.settings()).assembled(store, "")
    store.put(f"result/{checkpoint.card.fingerprint}/{NAME}/0", foreign.to_parquet())
    catalogue = Catalogue(store, Engine(store))
    assert catalogue.result(catalogue.card("small"), "function").score.equals(scores.score)
    assert [entry.provenance.method for entry in catalogue.listed()].count(NAME) == 0
