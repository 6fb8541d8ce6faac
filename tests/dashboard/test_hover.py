import base64

import numpy as np

from analysis.results.scores import ONLY_SAMPLE
from dashboard.page.hover import packed
from dashboard.view import open_view


def test_the_browser_gets_the_numbers_of_the_panels(library):
    """Values, membership and the best relations of a head, as the scores have them."""
    view = open_view(library, "")
    found = packed(view.scores, view.panels, view.state)
    for panel, sent in zip(view.panels, found["panels"], strict=True):
        value = np.frombuffer(base64.b64decode(sent["value"]), "<f4").reshape(panel.value.shape)
        assert np.array_equal(value, panel.value.astype("f4"))
        member = np.frombuffer(base64.b64decode(sent["member"]), "u1").reshape(panel.value.shape)
        assert np.array_equal(member.astype(bool), panel.member)
    best = np.frombuffer(base64.b64decode(found["best"]), "u1").reshape(3, *view.panels[0].value.shape)
    score = np.frombuffer(base64.b64decode(found["best_score"]), "<f4").reshape(best.shape)
    assert found["relations"][best[0, 23, 4]] == "country → capital"
    all_ = view.scores.score.sel(item=view.scores.items(), sample=ONLY_SAMPLE).max("kind").values
    assert np.array_equal(score[0], all_.max(axis=0).astype("f4"))
