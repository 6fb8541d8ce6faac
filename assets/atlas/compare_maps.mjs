// @ts-check
// The maps of a comparison: two, and their difference where it means something.
import { part, classColour } from "./compare_form.mjs";
import { correlation, difference, extent, short } from "./comparing.mjs";
import { nameAt } from "./heads.mjs";
import { heatMap, LARGEST_SHOWN } from "./heat.mjs";
import { named, pageOf } from "./query.mjs";
import { legendOf } from "./svg.mjs";

/** @typedef {import("./comparing.mjs").Grid} Grid */
/** @typedef {import("./compare_form.mjs").Class} Class */
/** @typedef {import("./heat.mjs").Place} Place */
/** @typedef {{id: string, fingerprint: string, layers: number[], heads: number}} Card */
/** @typedef {{method: string, version: string, date: string, atlas: string}} Source */

/**
 * @typedef {object} Side
 * @property {Card} card
 * @property {Grid} values
 * @property {string} title
 * @property {string} unit
 * @property {Class[] | null} classes what the values are codes of
 * @property {Source[]} sources
 */

/** @typedef {{map: import("./heat.mjs").HeatMap, side: Side}} DrawnMap */

/** @type {{maps: DrawnMap[]}} */
const drawn = { maps: [] };

/**
 * Whether two maps have as many layers and heads, so that each head of one stands where one of the other does.
 * @param {Side} left
 * @param {Side} right
 */
export function sameShape(left, right) {
  return left.values.length === right.values.length && left.values[0].length === right.values[0].length;
}

/**
 * Whether the numbers of both may stand on one scale.
 * @param {Pick<Side, "unit" | "classes">} left
 * @param {Pick<Side, "unit" | "classes">} right
 */
export function sameUnit(left, right) {
  return !left.classes && !right.classes && left.unit === right.unit;
}

/**
 * Two maps, on one scale where they are of one unit; then also, where their shapes agree, what the second has more.
 * @param {Side} left
 * @param {Side} right
 */
export function drawMaps(left, right) {
  const holder = part("compare-maps");
  const isAligned = left.card.layers.length !== right.card.layers.length;
  holder.replaceChildren();
  holder.classList.toggle("aligned", isAligned);
  drawn.maps = [];
  const both = [left.values, right.values];
  for (const side of [left, right]) {
    const [low, high] = extent(sameUnit(left, right) ? both : [side.values]);
    addMap(holder, side, Math.max(-low, high), low < 0, isAligned ? Math.max(...both.map(({ length }) => length)) : 0);
  }
  if (sameShape(left, right) && sameUnit(left, right)) {
    const values = difference(left.values, right.values);
    const most = Math.max(...extent([values]).map(Math.abs)) || 1;
    const title = "right − left: blue where left is higher, orange where right is";
    addMap(holder, { ...left, values, title }, most, true);
  }
  part("compare-note").textContent = noteOf(left, right);
  part("compare-head").textContent = "";
}

/**
 * What can be said of both: how alike they are, their scales, and why there is no difference.
 * @param {Side} left
 * @param {Side} right
 */
export function noteOf(left, right) {
  const said = [];
  const areNumbers = !left.classes && !right.classes;
  if (sameShape(left, right) && areNumbers) {
    said.push(`Pearson r = ${short(correlation(left.values, right.values)) || "–"} over all heads.`);
  }
  if (sameUnit(left, right)) {
    said.push(`One scale for both maps: ${scaleOf([left.values, right.values])} (${left.unit}).`);
  } else {
    for (const [name, side] of /** @type {[string, Side][]} */ ([["Left", left], ["Right", right]])) {
      said.push(side.classes ? `${name}: classes.` : `${name}: ${scaleOf([side.values])} (${side.unit}).`);
    }
    const why = areNumbers ? "These are different units: each map has a scale of its own," : "Classes cannot be subtracted,";
    said.push(`${why} and there is no difference map.`);
  }
  if (left.card.layers.length !== right.card.layers.length) {
    said.push("The models differ in their number of layers: both maps run from the first layer to the last, at the same width.");
  } else if (!sameShape(left, right)) {
    said.push("The models differ in size, so there is no difference map.");
  }
  return said.join(" ");
}

/** @param {Grid[]} grids */
function scaleOf(grids) {
  const [low, high] = extent(grids);
  return `from ${short(low)} to ${short(high)}${low < 0 ? ", blue below 0, orange above" : ""}`;
}

/**
 * @param {HTMLElement} holder
 * @param {Side} side
 * @param {number} most
 * @param {boolean} falls blue is below zero, as on the maps of losses
 * @param {number} [across] layers of the wider of two maps that are to be equally wide
 */
function addMap(holder, side, most, falls, across = 0) {
  const { classes, card } = side;
  const colours = classes && classes.map(classColour);
  const map = heatMap(side.values, side.title, most, {
    falls,
    layers: card.layers,
    words: across ? "layer, by relative depth" : "layer",
    widest: across * LARGEST_SHOWN,
    colour: colours ? (value) => colours[value] : undefined,
    hover: (place) => showHead(place, card),
    click: (place) => openHead(card, place),
  });
  if (colours) map.figure.append(legendOf(classes.map(([words]) => words), colours));
  holder.append(map.figure);
  drawn.maps.push({ map, side });
}

/**
 * Outline a head on every map of the same model, and say its numbers.
 * @param {Place | null} place
 * @param {Card | null} card null when the place is one of both models
 */
export function showHead(place, card) {
  const said = [];
  for (const { map, side } of drawn.maps) {
    const isThere = place !== null && (card === null || side.card.fingerprint === card.fingerprint);
    map.show(isThere ? place : null);
    if (isThere) said.push(`${side.title} ${numberWords(side, place)}`);
  }
  const name = place ? nameAt(card || drawn.maps[0].side.card, place) : "";
  if (place) part("compare-head").textContent = `${name} · ${said.join(" · ")}`;
  for (const point of document.querySelectorAll("#compare-scatter circle")) {
    point.classList.toggle("found", place !== null && point.getAttribute("data-head") === name);
  }
}

/**
 * A head's number as people read it.
 * @param {Side} side
 * @param {Place} place
 */
export function numberWords({ values, classes }, { row, column }) {
  const value = values[row][column];
  if (value === null) return "no value";
  return classes ? classes[value][0] : short(value, 3);
}

/**
 * Mark heads on every map.
 * @param {Place[]} places
 */
export function markHeads(places) {
  for (const { map } of drawn.maps) map.select(places);
}

/**
 * @param {Card} card
 * @param {Place} place
 */
export function openHead(card, place) {
  location.assign(pageOf(nameAt(card, place), named(card)));
}

/**
 * Where the numbers of a side come from, in words.
 * @param {Pick<Side, "card" | "sources">} side
 */
export function sourceOf({ card, sources }) {
  const made = sources.map(({ method, version, date, atlas }) => {
    return [`${method} version ${version}`, `Head Atlas ${atlas}`, date.slice(0, 10)].filter(Boolean).join(", ");
  });
  return [named(card), ...made].join(" · ");
}
