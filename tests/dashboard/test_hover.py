import base64

import numpy as np

from analysis.results.scores import ONLY_SAMPLE
from dashboard.gates import ROLE_WORDS, role_codes
from dashboard.hover import packed
from dashboard.select import ALL
from dashboard.view import open_view
from tests.synthetic import ODD


def numbers(text, kind, shape):
    return np.frombuffer(base64.b64decode(text), kind).reshape(shape)


def test_the_browser_gets_the_numbers_of_the_panels(library):
    """Values, categories and the best relations of a head, as the scores have them."""
    view = open_view(library, "")
    sent = packed(view.scores, view.panels, view.state)
    shape = view.panels[0].value.shape
    for panel, told in zip(view.panels, sent["panels"], strict=True):
        (measure,) = told["measures"]
        assert (measure["name"], measure["low"], measure["step"], told["label"]) == ("", 0, 1, 0)
        assert np.array_equal(numbers(measure["value"], "<f4", shape), panel.value.astype("f4"))
    (label,) = sent["labels"]
    codes = numbers(label["codes"], "u1", shape)
    for layer, head in np.ndindex(shape):
        does = [panel.title for panel in view.panels if panel.key != ALL and panel.member[layer, head]]
        assert label["words"][codes[layer, head]] == (" · ".join(does) or "Unclassified")
    best = sent["best"]
    item = numbers(best["item"], "u1", (best["count"], *shape))
    score = numbers(best["score"], "<f4", item.shape)
    assert best["count"] == 3
    assert best["titles"][item[0, 23, 4]] == "country → capital"
    all_ = view.scores.score.sel(item=view.scores.items(), sample=ONLY_SAMPLE).max("kind").values
    assert np.array_equal(score[0], all_.max(axis=0).astype("f4"))


def test_a_causal_map_has_named_measures_and_a_label_for_each_panel(library):
    """Each measure within a step of what it was; the label is the head's role in that panel."""
    view = open_view(library, f"?model={ODD}&view=causal")
    sent = packed(view.scores, view.panels, view.state)
    shape = view.panels[0].value.shape
    for number, (panel, told) in enumerate(zip(view.panels, sent["panels"], strict=True)):
        assert told["label"] == number
        codes = numbers(sent["labels"][number]["codes"], "u1", shape)
        assert np.array_equal(codes, role_codes(panel, view.state.role))
        assert sent["labels"][number]["words"] == list(ROLE_WORDS)
        for (name, values), measure in zip(panel.measures, told["measures"], strict=True):
            assert (measure["name"], measure["type"]) == (name, "u2")
            back = measure["low"] + measure["step"] * numbers(measure["value"], "<u2", shape)
            assert np.abs(back - np.nan_to_num(values)).max() <= measure["step"]
