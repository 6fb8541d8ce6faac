import base64

import numpy as np

from analysis.results.scores import ONLY_SAMPLE
from dashboard.page.hover import packed
from dashboard.view import open_view


def numbers(text, kind, shape):
    return np.frombuffer(base64.b64decode(text), kind).reshape(shape)


def test_the_browser_gets_the_numbers_of_the_panels(catalogue):
    """Values, categories and the best relations of a head, as the scores have them."""
    view = open_view(catalogue, "")
    found = packed(view)
    for panel, sent in zip(view.panels, found["panels"], strict=True):
        (measure,) = sent["measures"]
        assert (measure["type"], measure["low"], measure["step"]) == ("f4", 0, 1)
        value = np.frombuffer(base64.b64decode(measure["value"]), "<f4").reshape(panel.value.shape)
        assert np.array_equal(value, panel.value.astype("f4"))
        label = found["labels"][sent["label"]]
        codes = np.frombuffer(base64.b64decode(label["codes"]), "u1").reshape(panel.value.shape)
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
    found = packed(view)
    for panel, sent in zip(view.panels, found["panels"], strict=True):
        for measure, packed_measure in zip(panel.measures, sent["measures"], strict=True):
            steps = np.frombuffer(base64.b64decode(packed_measure["value"]), "<u2").reshape(panel.value.shape)
            value = packed_measure["low"] + packed_measure["step"] * steps
            assert np.allclose(value, measure.value, atol=1e-4)
    assert [panel["label"] for panel in found["panels"]] == [0, 1, 2, 3]
    assert found["labels"][0]["words"][1] == "facilitating"
    assert found["best"]["count"] == 3
