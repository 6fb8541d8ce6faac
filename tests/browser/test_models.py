"""Models and jobs in a browser: problems under their fields, sets of own relations, deleting results."""

import pytest
from playwright.sync_api import expect

from tests.browser.harness import drawn, field, filled_server
from tests.synthetic import BIG, HOSTILE, ODD


@pytest.fixture(scope="module")
def address(tmp_path_factory, default_checkpoint):
    """A server of their own: these tests delete what is there."""
    with filled_server(tmp_path_factory.mktemp("cache")) as served:
        yield served


def problem(page, name):
    return page.locator(f"#new-form [data-field={name}] .problem")


def test_problems_stand_under_their_fields(visit):
    """What is missing, what is no number, a model that is nowhere, a file of too few pairs: each in its place."""
    page = visit("/?view=models")
    page.locator("#new-submit").click()
    expect(problem(page, "model")).to_have_text("Which model? Type its name.")
    field(page, "model").fill("smollm2-135m-instruct")
    page.locator("[data-field=methods]").get_by_label("Causal map").check()
    page.get_by_text("Settings of the causal map").click()
    field(page, "rates").fill("1 abc 0.5 0.1")
    page.locator("#new-submit").click()
    expect(problem(page, "rates")).to_have_text("Learning rates: 'abc' is not a number")
    expect(page.locator(".problem")).to_have_count(1)
    field(page, "rates").fill("")
    few = {"name": "few.csv", "mimeType": "text/csv", "buffer": b"cat,kitten\ndog,puppy"}
    field(page, "files").set_input_files(few)
    page.locator("#new-submit").click()
    expect(problem(page, "files")).to_contain_text("few.csv: it has 2 pairs, and 30 are needed")
    field(page, "files").set_input_files([])
    field(page, "model").fill("nobody/nothing")
    page.locator("#new-submit").click()
    expect(problem(page, "model")).to_contain_text("nobody/nothing")
    expect(page.locator("#job-list")).to_have_text("No analyses yet.")
    page.complaints[:] = [text for text in page.complaints if "422" not in text and "404" not in text]


def test_sets_are_renamed_hidden_and_deleted_and_results_too(visit, address):
    """By buttons that ask first; the map of a set says its name, and a model without results is gone from the list."""
    page = visit(f"/?model={ODD}")
    expect(page.locator("#own")).to_have_value(f"{HOSTILE} and 1 more")
    page.goto(f"{address}/?view=models")
    mine = page.locator("[data-own-set]")
    page.once("dialog", lambda dialog: dialog.accept("animals"))
    mine.get_by_role("button", name="Rename").click()
    expect(mine.locator("b")).to_have_text("animals")
    mine.get_by_role("button", name="Hide").click()
    expect(mine.get_by_role("button", name="Show")).to_be_visible()
    page.once("dialog", lambda dialog: dialog.accept())
    mine.get_by_role("button", name="Delete").click()
    expect(mine).to_have_count(0)
    row = page.locator(".models tr", has_text=BIG)
    page.once("dialog", lambda dialog: dialog.accept())
    row.get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
    page.goto(f"{address}/")
    drawn(page)
    expect(page.locator("#own-control")).to_be_hidden()
