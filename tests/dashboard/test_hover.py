import base64
import gzip
import json

import numpy as np

from analysis.results.scores import ONLY_SAMPLE
from dashboard.page.hover import packed
from dashboard.view import open_view
from tests.dashboard.made import view_of
from tests.synthetic import big_scores


def numbers(text, kind, shape):
    return np.frombuffer(base64.b64decode(text), kind).reshape(shape)


def test_the_browser_gets_the_numbers_of_the_panels(catalogue):
    """Values, categories and the best relations of a head, as the scores have them."""
    view = open_view(catalogue, "")
    found = packed(view, dark=False)
    for panel, sent in zip(view.panels, found["panels"], strict=True):
        (measure,) = sent["measures"]
        assert (measure["type"], measure["low"], measure["step"]) == ("f4", 0, 1)
        value = np.frombuffer(base64.b64decode(measure["value"]), "<f4").reshape(panel.value.shape)
        assert np.array_equal(value, panel.value.astype("f4"))
        label = found["labels"][sent["label"]]
        codes = np.frombuffer(base64.b64decode(label["codes"]), "<u2").reshape(panel.value.shape)
        words = np.array(label["words"])[codes]
        if panel.tone:
            assert np.array_equal(np.char.find(words, panel.title) >= 0, panel.member)
    assert len(found["labels"]) == 1
    best = found["best"]
    item = np.frombuffer(base64.b64decode(best["item"]), "u1").reshape(best["count"], *view.panels[0].value.shape)
    score = np.frombuffer(base64.b64decode(best["score"]), "<f4").reshape(item.shape)
    verb = np.frombuffer(base64.b64decode(best["verb"]), "u1").reshape(item.shape)
    assert best["titles"][item[0, 23, 4]] == "country → capital"
    assert best["verbs"][verb[0, 23, 4]] == "promotes"
    scores = view.results["function"]
    all_ = scores.score.sel(item=scores.items(), sample=ONLY_SAMPLE).max("kind").values
    assert np.array_equal(score[0], all_.max(axis=0).astype("f4"))


def test_two_bytes_are_enough_for_gates(catalogue):
    """F, N and R come back to four decimals, with each panel's own roles and the function map's best relations."""
    view = open_view(catalogue, "?view=causal")
    found = packed(view, dark=False)
    for panel, sent in zip(view.panels, found["panels"], strict=True):
        for measure, packed_measure in zip(panel.measures, sent["measures"], strict=True):
            steps = np.frombuffer(base64.b64decode(packed_measure["value"]), "<u2").reshape(panel.value.shape)
            value = packed_measure["low"] + packed_measure["step"] * steps
            assert np.allclose(value, measure.value, atol=1e-4)
    assert [panel["label"] for panel in found["panels"]] == [0, 1, 2, 3]
    assert found["labels"][0]["words"][1] == "needs it (F)"
    assert found["best"]["count"] == 3


def test_the_browser_gets_the_looks_of_the_panels(catalogue):
    """A byte per head, a colour for each, marks where there are any; titles with their notes."""
    view = open_view(catalogue, "?kind=suppress")
    looks = view.map.looks(view.shown, view.shown.palette(dark=True))
    for panel, look, sent in zip(view.panels, looks, packed(view, dark=True)["panels"], strict=True):
        assert (sent["title"], sent["note"]) == (panel.title, panel.note)
        assert np.array_equal(numbers(sent["look"]["codes"], "u1", panel.value.shape), look.codes)
        assert max(look.codes.ravel()) < len(sent["look"]["shades"])
        if look.marks.any():
            assert np.array_equal(numbers(sent["look"]["marks"], "u1", panel.value.shape), look.marks)
        else:
            assert sent["look"]["marks"] == ""


def test_beside_the_table_stands_the_first_map_alone(catalogue):
    """The others' numbers are there for the tooltip."""
    found = packed(open_view(catalogue, "?view=table"), dark=False)
    assert found["drawn"] == 1
    assert len(found["panels"]) == 5


def test_profiles_are_sent_as_shares_of_layers(catalogue):
    """Of the causal map one for each role, which go two ways."""
    view = open_view(catalogue, "?view=causal")
    for panel, sent in zip(view.panels, packed(view, dark=False)["panels"], strict=True):
        assert sent["profile"]["signed"]
        shares = [numbers(row, "<f4", len(view.card.layers)) for row in sent["profile"]["shares"]]
        assert np.allclose(shares, panel.belongs.mean(axis=-1))


def test_a_big_model_is_small_on_the_wire():
    """Five panels of 80 × 64 heads with all their numbers take less than 300 kB, compressed."""
    content = json.dumps(packed(view_of(big_scores()), dark=False)).encode()
    assert len(gzip.compress(content, 4)) < 300_000
