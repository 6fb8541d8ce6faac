// @ts-check
// Any number of every head against any other: asks for what the form says and draws it.
import { listenBeside } from "./beside.mjs";
import { address, chosen, classesOf, form, keyOf, nameGroups, offerSamples, ownOf, part, setBrush, wordsOf } from "./compare_form.mjs";
import { clearSelected, listMatches, listSelected } from "./compare_lists.mjs";
import { drawMaps, sameShape, sourceOf } from "./compare_maps.mjs";
import { brushed, clearScatter, drawDepths, drawScatter } from "./compare_scatter.mjs";
import { element } from "./elements.mjs";
import { modelQuery, queryString } from "./query.mjs";

/** @typedef {import("./compare_maps.mjs").Side} Side */

const page = { asked: 0 };

/**
 * Ask the API about a model.
 * @param {string} path
 * @param {string} model its id and fingerprint
 * @param {Record<string, string>} [more]
 */
async function ask(path, model, more = {}) {
  const answer = await fetch(`/api/${path}${queryString({ ...modelQuery(model), ...more })}`);
  const reply = await answer.json();
  if (!answer.ok) throw new Error(reply.message || `The server answered ${answer.status}.`);
  return reply;
}

/**
 * One side of the comparison from the answer about its number.
 * @param {any} answer
 * @param {"x" | "y"} side
 * @returns {Side}
 */
function sideOf({ model, values, unit, sources }, side) {
  const classes = classesOf(chosen()[side]);
  return { card: model, values, title: `${model.id}: ${wordsOf(side)}`, unit, classes, sources };
}

/** Fetch what is chosen and draw it; an answer to an earlier choice is dropped. */
async function draw() {
  const asked = ++page.asked;
  nameGroups();
  const { a, b, colour, size } = chosen();
  history.replaceState(null, "", address());
  try {
    const [one, two, third, fourth] = await Promise.all([
      ask("quantity", a, { key: keyOf("x"), own: ownOf("x") }),
      ask("quantity", b, { key: keyOf("y"), own: ownOf("y") }),
      colour ? ask("quantity", a, { key: colour, own: ownOf("x") }) : null,
      size ? ask("quantity", a, { key: size, own: ownOf("x") }) : null,
    ]);
    if (asked !== page.asked) return;
    const [left, right] = [sideOf(one, "x"), sideOf(two, "y")];
    drawMaps(left, right);
    drawHeads(left, right, { colours: third && third.values, sizes: fourth && fourth.values, key: colour });
    part("compare-sources").replaceChildren(...[left, right].map((side) => element("p", "", sourceOf(side))));
    const found = left.card.fingerprint === right.card.fingerprint ? null : await askMatches(a, b);
    if (asked === page.asked) listMatches(found);
  } catch (error) {
    part("compare-note").textContent = error instanceof Error ? error.message : "The server does not answer.";
  }
}

/**
 * The heads of both as points where each has one on the other side, else by relative depth.
 * @param {Side} left
 * @param {Side} right
 * @param {import("./compare_scatter.mjs").Looks} looks
 */
function drawHeads(left, right, looks) {
  if (left.classes || right.classes) {
    const hint = "Classes have no order: choose them as the colour of the points, and numbers for left and right.";
    clearScatter();
    clearSelected();
    part("compare-scatter").append(element("h2", "", "Head by head"), element("p", "hint", hint));
  } else if (sameShape(left, right)) {
    drawScatter(left, right, looks, (corners) => {
      setBrush(corners);
      history.replaceState(null, "", address());
      listSelected(left, right, brushed());
    });
    listSelected(left, right, brushed());
  } else {
    drawDepths(left, right);
    clearSelected();
  }
}

/**
 * The heads of two models that are most alike.
 * @param {string} a
 * @param {string} b
 */
function askMatches(a, b) {
  const { model: other, fingerprint } = modelQuery(b);
  const own = ownOf("x") === ownOf("y") ? ownOf("x") : "";
  return ask("matches", a, { other, other_fingerprint: fingerprint, own });
}

listenBeside();
form().addEventListener("change", (event) => {
  const { name } = /** @type {HTMLSelectElement} */ (event.target);
  if (name !== "colour" && name !== "size") setBrush("");
  if (name === "x" || name === "y") offerSamples(name);
  if (name === "a" || name === "b" || name === "own") location.assign(address());
  else draw();
});
draw();
