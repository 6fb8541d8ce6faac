import base64
import gzip
import json

import numpy as np
import pytest

from analysis.results.scores import ONLY_SAMPLE
from dashboard.numbers import numbers_of
from dashboard.page.hover import packed
from dashboard.view import open_view
from tests.dashboard.made import view_of
from tests.synthetic import big_scores, causal_scores_of


def numbers(text, kind, shape):
    return np.frombuffer(base64.b64decode(text), kind).reshape(shape)


def test_the_browser_gets_the_words_of_every_head(catalogue):
    """Its categories are those of the panels that it belongs to; what it does best the rules of the map tell."""
    view = open_view(catalogue, "")
    found = packed(view, dark=False)
    for panel, sent in zip(view.panels, found["panels"], strict=True):
        label = found["labels"][sent["label"]]
        words = np.array(label["words"])[numbers(label["codes"], "<u2", panel.value.shape)]
        if panel.tone:
            assert np.array_equal(np.char.find(words, panel.title) >= 0, panel.member)
    assert len(found["labels"]) == 1
    assert found["best"] is None


def test_what_heads_do_best_comes_with_the_other_maps(catalogue):
    """The function map's best relations, as its scores have them; each causal panel has roles of its own."""
    view = open_view(catalogue, "?view=causal")
    found = packed(view, dark=False)
    assert [panel["label"] for panel in found["panels"]] == [0, 1, 2, 3]
    assert found["labels"][0]["words"][1] == "needs it (F)"
    best = found["best"]
    shape = (best["count"], *view.panels[0].value.shape)
    item, score = numbers(best["item"], "u1", shape), numbers(best["score"], "<f4", shape)
    verb = numbers(best["verb"], "u1", shape)
    assert best["titles"][item[0, 23, 4]] == "country → capital"
    assert best["verbs"][verb[0, 23, 4]] == "promotes"
    assert [numbers(best[end], "u1", shape)[0, 23, 4] for end in ("low", "high")] == [50, 78]
    scores = view.results["function"]
    all_ = scores.score.sel(item=scores.items(), sample=ONLY_SAMPLE).max("kind").values
    assert np.array_equal(score[0], all_.max(axis=0).astype("f4"))


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


@pytest.mark.parametrize("view", ["function", "causal"])
def test_a_big_model_is_small_on_the_wire(view):
    """Maps of 80 × 64 heads and the numbers behind them take less than 300 kB together, compressed."""
    scores = big_scores()
    shown = view_of(scores if view == "function" else causal_scores_of(scores.provenance.model))
    sent = [json.dumps(packed(shown, dark=False)).encode(), numbers_of(shown)]
    assert sum(len(gzip.compress(content, 4)) for content in sent) < 300_000
