"""Pages of plain HTML: a head's own, and the answers to a search."""

import base64
import re
from html import escape

import pytest

from dashboard.addresses import CompareState, PromptState
from dashboard.page.markup import as_html
from dashboard.palette import colours
from dashboard.query import query_of, read_query, written
from dashboard.web.comparison import _against, choices_of
from tests import synthetic
from tests.dashboard.made import catalogue_of
from tests.faults.test_hostile import client_of


@pytest.fixture
def client(store):
    synthetic.fill(store)
    return client_of(store)


def test_a_head_s_page_has_words_maps_numbers_and_ways_on(client):
    """With a title and a text for previews, neighbours, group mates, heads like it and the papers."""
    page = client.get("/head/L23H4").text
    assert re.search(r'<main[^>]* data-model="smollm2-135m-instruct@[0-9a-f]{8}"', page)  # what its script asks about
    assert "<title>L23H4 of smollm2-135m-instruct – Head Atlas</title>" in page
    assert re.search(r'property="og:description" content="[^"]*Maps countries to capitals', page)
    assert "rank 1 of 270" in page
    assert '<small class="remark">copy-like</small>' in page
    for other in ("L23H3", "L23H5"):
        assert f'href="/head/{other}?model=smollm2-135m-instruct@' in page
    for words in ("Similar heads", "2412.11965", "2505.13737", "Gates", "Function map", "data-pairs"):
        assert words in page
    pictures = 2 * 5  # light and dark of function, causal, behaviour, ablation, agreement
    assert page.count("data:image/svg+xml;base64,") == pictures
    for name in re.findall(r"var\((--tone-[a-z]+)\)", page):
        assert f"{name}:#" in page  # a colour by its name has one


def test_a_head_s_page_says_which_function_map_its_numbers_are_of(client):
    """And leads to the same page by the others: the paragraph speaks of the running model, too."""
    page = client.get("/head/L29H2").text
    assert "What the head does by its weights alone. The same " in page
    assert ">0 / 40<" in page
    (link,) = re.findall(r'href="(/head/L29H2[^"]*)">in the running model<', page)
    other = client.get(link.replace("&amp;", "&")).text
    assert "What the head does in the running model. The same " in other
    assert ">17 / 40<" in other


def test_a_head_of_a_model_that_is_not_there_is_said_to_be_of_another(client):
    """In the notice, with the model's name and what the address names."""
    page = client.get("/head/L1H1?model=no/model").text
    assert re.search(
        r"smollm2-135m-instruct [0-9a-f]{8} is shown instead of no/model\. There is no map of no/model", page
    )


def test_small_maps_mark_heads_as_the_maps_do(client):
    """L23H3 suppresses: half of its square, and of other squares the inside, has the colour of a head with nothing."""
    page = client.get("/head/L23H3").text
    pictures = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', page)
    drawn = base64.b64decode(pictures[0]).decode()
    empty = colours("okabe-ito", False).empty
    assert f'<path fill="{empty}" d="M230 30h9v9z"/>' in drawn
    assert drawn.index("M230 30h9v9h-9z") < drawn.index("M230 30h9v9z")
    assert "M230 40h9v9z" not in drawn  # L23H4 promotes
    assert drawn.count("m2 2h5v5h-5z") > 0


@pytest.mark.parametrize(
    ("head", "captions"),
    [
        ("L23H4", ["Function map: All categories", "Behaviour: First-token sink", "Ablation map: country → capital"]),
        ("L18H6", ["Function map: All categories", "Behaviour: Induction"]),
        ("L16H0", ["Behaviour: Previous token"]),
    ],
)
def test_small_maps_show_the_panel_that_says_most_of_the_head(client, head, captions):
    """All categories, else one to which it belongs, of its best rank; each leads to its map with the head pinned."""
    page = client.get(f"/head/{head}").text
    for caption in captions:
        assert f"<figcaption>{caption}</figcaption>" in page
    model = "smollm2-135m-instruct@935ba989"
    assert f'<a href="/?model={model}&amp;view=behaviour&amp;pin={head}"><figure>' in page


def test_the_first_and_the_last_head_have_one_neighbour(client):
    """There is nothing before L0H0 and after L29H8."""
    first, last = client.get("/head/L0H0").text, client.get("/head/L29H8").text
    assert "L0H1 →" in first
    assert "←" not in first
    assert "← L29H7" in last
    assert " →</a>" not in last


@pytest.mark.parametrize("name", ["L99H0", "nothing", "%3Cscript%3E", "L1H1%00", "9" * 300])
def test_a_head_that_is_not_there_is_a_404_in_words(client, name):
    """With a way home, and nothing of the address as markup."""
    answer = client.get(f"/head/{name}")
    assert answer.status_code == 404
    assert "<h1>There is no such head</h1>" in answer.text
    assert "/assets/head-page.css" in answer.text
    assert '<a href="/">Go to the maps</a>' in answer.text
    assert "<script>" not in answer.text.replace('<script src="/assets/before/theme.js"></script>', "")


def test_a_search_lists_heads_with_links(client):
    """The strongest first; the field keeps what was asked."""
    page = client.get("/search", params={"q": "Paris"}).text
    assert page.index("/head/L29H2?") < page.index("/head/L23H5?")
    assert 'value="Paris"' in page
    nothing = client.get("/search").text
    assert "Search for a relation" in nothing
    assert "No head was found" not in nothing


def test_a_search_writes_what_was_asked_as_text(client):
    """Markup in a question stays text."""
    page = client.get("/search", params={"q": '"><img src=x onerror=alert(1)>'}).text
    assert "<img src=x" not in page
    assert "No head was found" in page


def test_a_hostile_model_s_tokens_stay_text_on_a_head_s_page(client):
    """Names and tokens that are HTML are escaped."""
    page = client.get("/head/L1H0", params={"model": synthetic.ODD}).text
    assert synthetic.HOSTILE not in page


def test_the_api_searches_and_tells_of_a_head_in_words(client):
    """The same findings as data."""
    found = client.get("/api/search", params={"q": "capital"}).json()["answers"]
    assert found[0]["head"] == "L23H4"
    head = client.get("/api/head", params={"head": "L23H4"}).json()
    assert head["findings"][0]["item"] == "country_capital"
    assert {"head", "cosine", "by"} == set(head["alike"][0])
    assert f'<p class="summary">{escape(head["summary"])}</p>' in client.get("/head/L23H4").text
    assert client.get("/api/search").status_code == 422


@pytest.mark.parametrize(
    ("question", "first", "words"),
    [
        ("suppress", "L23H3", "Suppresses name copying"),
        ("suppress capital", "L23H3", "Suppresses country → capital"),
        ("promotes Paris", "L29H2", "France → Paris"),
        ("induction", "L18H6", "Induction"),
        ("needed for math", "L20H8", "Needed for Math"),
        ("behaviour", "L16H0", "of its attention"),
    ],
)
def test_the_questions_of_the_readme_are_answered(client, question, first, words):
    """Verbs, behaviour and tasks lead to heads of which that is said."""
    found = client.get("/api/search", params={"q": question}).json()["answers"]
    assert found[0]["head"] == first
    assert words in found[0]["findings"][0]["text"]


def test_html_is_escaped_and_unknown_attributes_are_left_out():
    """What is text stays text; handlers cannot be written."""
    from dash import html

    piece = html.P(["<b>", html.A("x", href='"><script>', **{"data-x": "a&b"})], className="c", style={"width": "1%"})
    assert as_html(piece) == (
        '<p class="c" style="width:1%">&lt;b&gt;<a href="&quot;&gt;&lt;script&gt;" data-x="a&amp;b">x</a></p>'
    )


def test_a_comparison_offers_every_number_and_keeps_what_its_address_asks_for(client):
    """What the address does not understand is the default; a class can be a map, but no size."""
    wanted = {
        "x": "causal/math/facilitation",
        "y": "agreement/function/causal/math",
        "colour": "agreement/function/causal/math",
    }
    page = client.get("/compare", params=wanted).text
    for key in wanted.values():
        assert f'<option value="{key}" selected>' in page or f'selected value="{key}"' in page
    odd = client.get("/compare", params={"a": "<script>", "size": wanted["colour"], "x": "9" * 3000}).text
    assert "<script>" not in odd.replace('<script src="/assets/before/theme.js"></script>', "")
    assert odd.count(f'value="{wanted["colour"]}"') == 3  # left, right, colour


def test_a_comparison_keeps_how_samples_are_taken_together_where_there_are_samples(client):
    """A seed or carrier, always or any; without samples there is one value per head; else the mean."""
    asked = {"x": "function/copying/promote", "y": "causal/math/facilitation", "x_over": "any", "y_over": "seed 3"}
    page = client.get("/compare", params=asked).text
    assert '<option selected value="seed 3">seed 3</option>' in page
    assert '<select disabled name="x_over"><option selected value="">one value per head' in page
    assert "<span>Right: number<b> · Causal map</b></span>" in page
    unknown = client.get("/compare", params={**asked, "y_over": "seed 99"}).text
    assert '<option selected value="">mean</option><option value="always">' in unknown


def test_a_number_says_what_it_is_measured_in_and_where_it_comes_from(client):
    """With how its samples are taken together; classes come from two methods."""
    told = client.get("/api/quantity", params={"key": "ablation/math/strength"}).json()
    assert told["unit"] == "nats"
    (source,) = told["sources"]
    assert (source["method"], source["version"]) == ("Ablation map", "1")
    classes = client.get("/api/quantity", params={"key": "agreement/running/causal/math"}).json()
    assert (classes["unit"], len(classes["sources"])) == ("class", 2)
    seed = client.get("/api/quantity", params={"key": "causal/math/facilitation@seed 0"}).json()["values"]
    assert seed != client.get("/api/quantity", params={"key": "causal/math/facilitation"}).json()["values"]
    assert client.get("/api/quantity", params={"key": "causal/math/facilitation@seed 9"}).status_code == 422


def test_pages_beside_the_maps_have_a_search_field(client):
    """It looks for heads of the model of the page."""
    for page in ("/compare?a=gemma-3-270m", "/prompt?model=gemma-3-270m"):
        text = client.get(page).text
        (form,) = re.findall(r'<form action="/search".*?</form>', text)
        assert 'type="search"' in form
        assert "gemma-3-270m@" in form


def test_a_comparison_understands_a_model_s_bare_name_and_tells_of_an_unknown_one(client):
    """Neither is replaced without a word."""
    page = client.get("/compare", params={"a": "smollm2-135m-instruct", "b": "gemma-3-270m"}).text
    chosen = re.findall(r'<option selected value="([^"@]+)@', page)
    assert chosen[:2] == ["smollm2-135m-instruct", "gemma-3-270m"]
    assert "notice" not in page
    assert len(set(re.findall(r'<option selected value="(running/[^"]+)"', page))) == 1  # one number of both
    odd = client.get("/compare", params={"b": "no/model"}).text
    assert "There is no map of no/model here." in odd
    assert re.search(
        r"smollm2-135m-instruct [0-9a-f]{8} is shown instead of no/model\. There is no map of no/model", odd
    )


def test_two_models_are_matched_over_the_api(client):
    """And every listed number has one value per head."""
    told = client.get("/api/matches", params={"other": "gemma-3-270m"}).json()
    assert {"head", "other", "cosine"} == set(told["matches"][0])
    keys = [each["key"] for each in client.get("/api/quantities").json()["quantities"]]
    numbers = client.get("/api/quantity", params={"key": keys[0]}).json()["values"]
    assert (len(numbers), len(numbers[0])) == (30, 9)
    assert client.get("/api/quantity", params={"key": "nothing"}).status_code == 422


def test_a_prompt_in_the_address_stays_text(client):
    """It fills the field; markup in it is escaped; an unknown model is named, and no other one takes its place."""
    asked = {"text": '"><script>alert(1)</script>', "model": "no/model", "ablate": "all", "instead": "<b>"}
    page = client.get("/prompt", params=asked).text
    assert "<script>alert" not in page
    assert '<option selected value="all">' in page
    assert "<b>" not in page
    assert "&quot;&gt;&lt;script&gt;alert(1)" in page
    assert "<title>&quot;&gt;" in page
    assert "There is no map of no/model here." in page
    assert '<option selected value="">Choose a model</option>' in page


def test_a_prompt_is_for_the_model_that_its_address_names(client):
    """With or without a fingerprint; other weights of the same name are told, with those that have results."""
    page = client.get("/prompt", params={"model": "gemma-3-270m"}).text
    named = re.findall(r'<option selected value="(gemma-3-270m@[0-9a-f]{8})"', page)
    assert len(named) == 1
    assert client.get("/prompt", params={"model": named[0]}).text == page
    other = client.get("/prompt", params={"model": "gemma-3-270m@00000000"}).text
    assert f"The weights with results here are others: {named[0][-8:]}" in other
    assert "Compute it" not in other
    assert '<option selected value="">' in other


@pytest.mark.parametrize(
    "state",
    [
        CompareState(),
        CompareState(
            "a/b@12", "c@34", "mine@0123abcd", "function/x y/promote", "causal/math/F", "agreement/a/b/c", "z"
        ),
        PromptState(),
        PromptState("a/b@12", "L1H2, 3.4", "none", "mean", "Ünï &=?#\n\ntext"),
    ],
)
def test_what_a_page_beside_the_maps_is_about_survives_its_address(state):
    """Written, then read again, it is the same; what cannot be read is the default, which is said."""
    assert read_query(type(state), query_of(written(state))) == (state, [])
    odd, notices = read_query(PromptState, "?ablate=<b>&instead=mean&other=1&" + "&".join(["x=1"] * 50))
    assert odd == PromptState(instead="mean")
    assert notices == ["'<b>' is not a valid value for ablate; the default is shown."]


def test_a_browser_is_told_in_a_page_what_a_program_is_told_in_json(client):
    """An address with nothing at it, and a request that is not JSON."""
    page = client.get("/nope", headers={"Accept": "text/html"})
    assert (page.status_code, "There is no such page" in page.text) == (404, True)
    assert client.get("/nope", headers={"Accept": "application/json"}).json()["error"] == "NotFound"
    broken = client.post("/api/jobs", content="{bad", headers={"Content-Type": "application/json"})
    assert "The request: it is not valid JSON" in broken.text


def test_a_comparison_opens_on_the_strongest_label_of_every_head(store):
    """By the weights and in the running model; of two models in the running model of both."""
    catalogue = catalogue_of(store)
    chosen = choices_of(catalogue, CompareState(), ()).chosen
    assert (chosen.x, chosen.y) == ("function/any/strength", "running/any/strength")
    two = choices_of(catalogue, CompareState(b="gemma-3-270m"), ()).chosen
    assert (two.x, two.y) == ("running/any/strength", "running/any/strength")


def test_a_number_of_the_address_stands_against_its_like(store):
    """The same item and kind by another method; what no other method has, against the second number."""
    chosen = choices_of(catalogue_of(store), CompareState(x="context/country_capital/promote"), ()).chosen
    assert chosen.y == "function/country_capital/promote"
    assert _against("only/this/one", ["a/b/c", "a/b/d"], of_same=True) == "a/b/d"
