"""What people do with the causal map, in a real browser against the real server."""

import base64
import re

import numpy as np
from playwright.sync_api import expect

from analysis.evidence.shipped import shipped_scores
from analysis.methods.causal.plan import HEAD_ROLES
from dashboard.maps.causal.gates import reduced
from tests.browser.harness import MAPS, cell, drawn, maps
from tests.browser.test_journeys import PICTURE, outlines, pinned, query, wait_for_query
from tests.synthetic import BIG, ODD, causal_scores_of, odd_scores

CAUSAL = f"/?model={ODD}&view=causal"
SCORES = causal_scores_of(odd_scores().provenance.model)


def a_head_with_both_roles():
    """Its place: needed for Math in one seed, harmful in another."""
    helps, hurts, _ = reduced(SCORES, "math", "any") >= 0.5
    return tuple(int(part) for part in np.argwhere(helps & hurts)[0])


CUT_OFF = """[...document.querySelectorAll(".controls [role=radiogroup]")].filter(
    (each) => each.getBoundingClientRect().right + each.scrollWidth - each.clientWidth > innerWidth
).length"""


def test_every_choice_is_in_sight_on_a_phone(visit):
    """Words that do not fit one row go on in the next."""
    page = visit(CAUSAL, width=390, height=844)
    page.get_by_role("button", name="Settings", exact=True).click()
    expect(page.locator("#gates")).to_be_visible()
    assert page.evaluate(CUT_OFF) == 0


def test_a_control_that_does_nothing_says_why_without_a_mouse(visit):
    """The keyboard comes to it, it is described by the reason, and the reason is seen."""
    page = visit(f"{CAUSAL}&gates=preview")
    holder = page.locator("#role-control")
    reason = "The preview comes from gradients alone. It has no threshold."
    expect(holder).to_have_accessible_description(reason)
    expect(page.locator("#role-reason")).to_be_hidden()
    holder.focus()
    expect(page.locator("#role-reason")).to_be_visible()
    page.locator("#gates").get_by_text("Both").click()
    expect(holder).not_to_have_attribute("tabindex", "0")
    page.locator("#gates").get_by_text("Preview").click()
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("button", name="Settings", exact=True).click()
    expect(page.locator("#role-reason")).to_be_visible()


def test_from_a_cell_with_both_roles_to_its_gates_in_every_seed(visit):
    """Hover tells, click pins, the inspector shows a row of dots for each seed."""
    page = visit(CAUSAL)
    row, head = a_head_with_both_roles()
    name = f"L{SCORES.provenance.model.layers[row]}H{head}"
    page.mouse.move(*cell(page, row, head, panel=1))
    expect(page.locator("#tooltip")).to_contain_text(f"{name}needs it and hurts it (F and N)")
    expect(page.locator("#tooltip")).to_contain_text("rank")
    assert outlines(page, "cursor") == 4
    page.mouse.click(*cell(page, row, head, panel=1))
    expect(page.locator(".head-card h2")).to_have_text(name)
    expect(page.locator(".head-card .roles").first).to_contain_text(re.compile(r"Math · Any: needs it and hurts it"))
    assert page.locator(".head-card .dots").first.locator(".dot-row").count() == 5
    shut = float(SCORES.score.sel(item="math", kind="facilitation", sample="seed 0").values[row, head])
    label = re.compile(f"seed 0: G⁻ {shut:.2f}")
    expect(page.locator(".head-card .dots").first).to_have_attribute("aria-label", label)
    assert query(page)["pin"] == name
    page.locator("#view").get_by_text("Function").click()
    expect(page.locator(".head-card .dots")).to_have_count(2)
    assert pinned(page) == [name]


PIXEL = """async png => {
    const picture = await createImageBitmap(new Blob([Uint8Array.from(atob(png), c => c.charCodeAt(0))]));
    const canvas = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
    canvas.drawImage(picture, 0, 0);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
}"""


def test_from_a_yellow_cell_of_the_shipped_map_to_its_gates(visit):
    """In the published colours green and red light make yellow; the card has a row for each of the five seeds."""
    scores = shipped_scores("causal")
    helps, hurts, _ = reduced(scores, "math", "any")
    row, head = (int(part) for part in np.unravel_index(np.minimum(helps, hurts).argmax(), helps.shape))
    page = visit("/?view=causal&palette=paper")
    x, y = cell(page, row, head, panel=1)
    shot = page.screenshot(clip={"x": x, "y": y, "width": 1, "height": 1})
    red, green, blue = page.evaluate(PIXEL, base64.b64encode(shot).decode())
    assert min(red, green) > 200
    assert blue < 60
    page.mouse.click(x, y)
    expect(page.locator(".head-card h2")).to_have_text(f"L{row}H{head}")
    gates = page.locator(".head-card .dots").first
    assert gates.locator(".dot-row").count() == 5
    for seed in range(5):
        f, n = (
            float(scores.score.sel(item="math", sample=f"seed {seed}", kind=kind)[row, head]) for kind in HEAD_ROLES[:2]
        )
        label = re.compile(re.escape(f"seed {seed}: G⁻ {f:.2f}, G⁺ {1 - n:.2f}"))
        expect(gates).to_have_attribute("aria-label", label)


def test_the_number_of_seeds_is_chosen(visit):
    """The number of seeds is chosen beside them, stands in the address, and the sentence follows."""
    page = visit(CAUSAL)
    expect(page.locator("#sentence")).to_contain_text("in each of the 5 seeds")
    page.locator("#causal-advanced summary").click()
    page.locator("#seed").click()
    page.get_by_role("option", name="First 2").click()
    wait_for_query(page, "seed", "first2")
    expect(page.locator("#sentence")).to_contain_text("in each of the 2 seeds")
    page.mouse.click(*cell(page, 1, 1))
    expect(page.locator(".head-card .dots").first.locator(".dot-row")).to_have_count(2)


def test_a_deep_link_restores_the_causal_view(visit):
    """Tasks, columns, score, seed, threshold, pins; and so does reload."""
    page = visit(f"{CAUSAL}&tasks=syntax&gates=interference&seed=3&role=0.7&pin=L3H2")
    for _ in range(2):
        expect(page.locator("#gates input:checked")).to_have_value("interference")
        expect(page.locator("#seed")).to_have_value("Seed 3")
        expect(page.locator("#role [role=slider]")).to_have_attribute("aria-valuenow", "0.7")
        assert maps(page) == 1
        assert pinned(page) == ["L3H2"]
        before = query(page)
        page.reload()
        drawn(page)
        assert query(page) == before


def test_always_and_any_side_by_side_and_alone(visit):
    """Four maps, two, and four again; the address follows; nothing is asked of the server for hovering."""
    page = visit(CAUSAL)
    assert maps(page) == 4
    page.locator("#columns").get_by_text("Any", exact=True).click()
    wait_for_query(page, "columns", "any")
    page.wait_for_function(f"{MAPS} === 2")
    page.locator("#columns").get_by_text("Always + Any").click()
    page.wait_for_function(f"{MAPS} === 4")
    assert "columns" not in query(page)


def test_a_pinned_head_stays_where_it_is(visit):
    """Both maps lie alike: layers across and heads down, in squares; all four panels are on one screen."""
    page = visit("/?view=causal&pin=L23H4", width=1440, height=900)
    one, other = cell(page, 0, 0), cell(page, 1, 1)
    assert other[0] - one[0] == other[1] - one[1] > 12
    assert page.evaluate("document.querySelector('#frame').getBoundingClientRect().bottom") <= 900


def test_the_published_orientation_is_one_switch_away(visit):
    """Layer 0 is at the bottom then, so the arrow up goes to the next layer."""
    page = visit(CAUSAL + "&transpose=1")
    page.locator("#frame").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#live")).to_contain_text("L3H1, Math · Always")
    page.keyboard.press("Enter")
    expect(page.locator(".head-card h2")).to_have_text("L3H1")


def test_a_moved_threshold_recolours_the_maps(visit):
    """And what is told of the panels follows."""
    page = visit(f"/?model={BIG}&view=causal")
    before = page.evaluate(PICTURE)
    page.locator("#role [role=slider]").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    wait_for_query(page, "role", "0.55")
    page.wait_for_function(f"before => {PICTURE} !== before", arg=before)


def test_panels_that_come_and_go_are_used_again(visit):
    """Fewer panels and then all of them: the same canvases, in their places, with the same picture as before."""
    page = visit(CAUSAL)
    before, count = page.evaluate(PICTURE), maps(page)
    page.evaluate("window.first = [...document.querySelectorAll('#maps canvas')]")
    page.locator("#columns").get_by_text("Always", exact=True).click()
    page.wait_for_function(f"{MAPS} === {count // 2}")
    assert page.evaluate("document.querySelectorAll('#maps .panel-title').length") == count // 2
    page.go_back()
    page.wait_for_function(f"{MAPS} === {count}")
    assert page.evaluate("[...document.querySelectorAll('#maps canvas')].every((canvas, i) => canvas === first[i])")
    page.wait_for_function(f"before => {PICTURE} === before", arg=before)


def test_a_phone(visit):
    """Nothing is wider than the screen."""
    page = visit(f"{CAUSAL}&pin=L3H2", width=390, height=800)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
