// @ts-check
// Any number of every head against any other: two maps, their difference, a scatter, matched heads.
import { listenToCopying } from "./clipboard.mjs";
import { element } from "./elements.mjs";
import { nameAt } from "./heads.mjs";
import { heatColour, heatMap } from "./heat.mjs";
import { modelQuery, named, pageOf, queryString, settingsOf, written } from "./query.mjs";
import { brushOf, brushText, clipped, correlation, depthProfile, difference, extent, inside, short } from "./comparing.mjs";

/** @typedef {import("./comparing.mjs").Grid} Grid */
/** @typedef {{id: string, fingerprint: string, layers: number[], heads: number}} Card */
/** @typedef {{card: Card, values: Grid, title: string}} Side */
/** @typedef {import("./heat.mjs").Place} Place */
/** @typedef {{map: import("./heat.mjs").HeatMap, side: Side}} DrawnMap */

const NO_TONE = "#c3c9d1"; // of a class in which there is nothing to show
const SIDES = ["#0072b2", "#d55e00"]; // left and right
const POINT = "#3b5bdb";
const WIDTH = 640;
const HEIGHT = 380;
const [EDGE, TOP] = [46, 30]; // pixels for the axes of the scatter, and above it for the name of the upward one

/** @type {{asked: number, maps: DrawnMap[], points: {x: number, y: number, place: Place}[]}} */
const page = { asked: 0, maps: [], points: [] }; // the points by their numbers

/** @param {string} id */
function part(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

function form() {
  return /** @type {HTMLFormElement} */ (part("compare-form"));
}

/** What the form says, by the keys of the address. */
function chosen() {
  /** @type {Record<string, string>} */
  const values = {};
  for (const [key, value] of new FormData(form())) values[key] = String(value);
  return values;
}

/** The address of the page with what the form says. */
function address() {
  return `/compare${queryString(written(chosen(), settingsOf(form())))}`;
}

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
 * The words of what a picker shows.
 * @param {string} key
 */
function words(key) {
  const picker = /** @type {HTMLSelectElement} */ (document.querySelector(`select[name=${key}]`));
  const option = picker.selectedOptions[0];
  const group = option?.parentElement instanceof HTMLOptGroupElement ? `${option.parentElement.label}, ` : "";
  return option ? `${group}${option.textContent}` : "";
}

/**
 * Select what is inside a rectangle; it is a field of the form that nobody sees, and so is in the address.
 * @param {string} text
 */
function setBrush(text) {
  /** @type {HTMLInputElement} */ (form().elements.namedItem("brush")).value = text;
}

/** Fetch what is chosen and draw it; an answer to an earlier choice is dropped. */
async function draw() {
  const asked = ++page.asked;
  const { a, b, x, y, colour, size } = chosen();
  history.replaceState(null, "", address());
  try {
    const [one, two, third, fourth] = await Promise.all([
      ask("quantity", a, { key: x }),
      ask("quantity", b, { key: y }),
      colour ? ask("quantity", a, { key: colour }) : null,
      size ? ask("quantity", a, { key: size }) : null,
    ]);
    if (asked !== page.asked) return;
    const left = { card: one.model, values: one.values, title: `${one.model.id}: ${words("x")}` };
    const right = { card: two.model, values: two.values, title: `${two.model.id}: ${words("y")}` };
    drawMaps(left, right);
    const isSame = left.card.fingerprint === right.card.fingerprint;
    if (sameShape(left, right)) drawScatter(left, right, third && third.values, fourth && fourth.values, colour);
    else drawDepths(left, right);
    if (isSame) selectHeads(left, right);
    else await drawMatches(a, b, asked);
  } catch (error) {
    part("compare-note").textContent = error instanceof Error ? error.message : "The server does not answer.";
  }
}

/**
 * @param {Side} left
 * @param {Side} right
 */
function sameShape(left, right) {
  return left.values.length === right.values.length && left.values[0].length === right.values[0].length;
}

/**
 * Two maps on one scale, and where their shapes agree what the second has more.
 * @param {Side} left
 * @param {Side} right
 */
function drawMaps(left, right) {
  const holder = part("compare-maps");
  holder.replaceChildren();
  page.maps = [];
  const [low, high] = extent([left.values, right.values]);
  const full = Math.max(-low, high);
  for (const side of [left, right]) addMap(holder, side, full, low < 0);
  if (sameShape(left, right)) {
    const values = difference(left.values, right.values);
    const most = Math.max(...extent([values]).map(Math.abs)) || 1;
    const title = "right − left: blue where left is higher, orange where right is";
    addMap(holder, { card: left.card, values, title }, most, true);
  }
  const r = sameShape(left, right) ? `Pearson r = ${short(correlation(left.values, right.values))} over all heads. ` : "";
  const colours = low < 0 ? ": blue below 0, orange above" : "";
  const scale = `One scale for both maps, from ${short(low)} to ${short(high)}${colours}.`;
  const depth = sameShape(left, right) ? "" : " The models differ in size: below, their layers by relative depth.";
  part("compare-note").textContent = r + scale + depth;
}

/**
 * @param {HTMLElement} holder
 * @param {Side} side
 * @param {number} most
 * @param {boolean} falls blue is below zero, as on the maps of losses
 */
function addMap(holder, side, most, falls) {
  const map = heatMap(side.values, side.title, most, {
    falls,
    layers: side.card.layers,
    hover: (place) => showHead(place, side.card),
    click: (place) => openHead(side.card, place),
  });
  holder.append(map.figure);
  page.maps.push({ map, side });
}

/**
 * Outline a head on every map of the same model, and say its numbers.
 * @param {Place | null} place
 * @param {Card} card
 */
function showHead(place, card) {
  const said = [];
  for (const { map, side } of page.maps) {
    const isThere = place !== null && side.card.fingerprint === card.fingerprint;
    map.show(isThere ? place : null);
    if (!isThere) continue;
    const value = side.values[place.row][place.column];
    said.push(`${side.title} ${short(value, 3) || "no value"}`);
  }
  if (place) part("compare-note").textContent = `${nameAt(card, place)} · ${said.join(" · ")}`;
  for (const point of document.querySelectorAll("#compare-scatter circle")) {
    const isIt = place !== null && point.getAttribute("data-head") === nameAt(card, place);
    point.classList.toggle("found", isIt);
  }
}

/**
 * @param {Card} card
 * @param {string} head
 */
function linkTo(card, head) {
  const link = element("a", "", head);
  link.href = pageOf(head, named(card));
  return link;
}

/**
 * @param {Card} card
 * @param {Place | null} place
 */
function openHead(card, place) {
  if (place) location.assign(pageOf(nameAt(card, place), named(card)));
}

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {string} [text]
 */
function svg(tag, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text) made.textContent = text;
  return made;
}

/**
 * Every head as a point; dragging selects heads.
 * @param {Side} left
 * @param {Side} right
 * @param {Grid | null} colours
 * @param {Grid | null} sizes
 * @param {string} colour the key of what colours the points
 */
function drawScatter(left, right, colours, sizes, colour) {
  const [x0, x1] = extent([left.values]);
  const [y0, y1] = extent([right.values]);
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "compare-points", role: "img" });
  picture.setAttribute("aria-label", `${left.title} against ${right.title}`);
  const across = (/** @type {number} */ value) => EDGE + clipped(value, x0, x1) * (WIDTH - EDGE - 16);
  const up = (/** @type {number} */ value) => HEIGHT - EDGE - clipped(value, y0, y1) * (HEIGHT - EDGE - TOP);
  picture.append(...axes(left.title, right.title, [x0, x1], [y0, y1]));
  const largest = sizes ? Math.max(...extent([sizes]).map(Math.abs)) || 1 : 1;
  const strongest = colours ? fullColour(colours) : 1;
  page.points = [];
  for (const [row, values] of left.values.entries()) {
    for (const [column, value] of values.entries()) {
      const other = right.values[row][column];
      if (value === null || other === null) continue;
      const [x, y] = [across(value), up(other)];
      const size = sizes ? 2 + 7 * Math.abs((sizes[row][column] || 0) / largest) : 3.5;
      const code = colours ? colours[row][column] : null;
      const fill = pointColour(code, strongest, colour);
      const place = { row, column };
      const circle = svg("circle", { cx: x, cy: y, r: size, fill, "data-head": nameAt(left.card, place) });
      circle.addEventListener("mouseenter", () => showHead(place, left.card));
      circle.addEventListener("click", () => openHead(left.card, place));
      picture.append(circle);
      page.points.push({ x: value, y: other, place });
    }
  }
  const holder = part("compare-scatter");
  holder.replaceChildren(element("h2", "", "Head by head"), picture, ...classLegend(colour));
  listenToBrush(/** @type {SVGSVGElement} */ (picture), left, right);
}

/**
 * The number of full blue: where some are below zero, one of them.
 * @param {Grid} values
 */
function fullColour(values) {
  const [low, high] = extent([values]);
  return low < 0 ? -Math.max(-low, high) : high || 1;
}

/**
 * @param {number | null} value
 * @param {number} strongest
 * @param {string} colour
 */
function pointColour(value, strongest, colour) {
  if (!colour) return POINT;
  const classes = classesOf(colour);
  if (value !== null && classes) return classColour(classes[value]);
  return heatColour(value, strongest);
}

/** @typedef {[words: string, tone: string]} Class */

/**
 * The classes that are the values of a number; null when it has none.
 * @param {string} key
 * @returns {Class[] | null}
 */
function classesOf(key) {
  return JSON.parse(form().dataset.classes || "{}")[key.split("/")[0]] || null;
}

/** @param {Class} one */
function classColour([, tone]) {
  return tone ? `var(--tone-${tone})` : NO_TONE;
}

/**
 * What the colours of classes mean.
 * @param {string} colour
 */
function classLegend(colour) {
  const classes = classesOf(colour);
  return classes ? [legendOf(classes.map(([words]) => words), classes.map(classColour))] : [];
}

/**
 * @param {string[]} texts
 * @param {string[]} colours
 */
function legendOf(texts, colours) {
  const legend = element("p", "legend");
  for (const [i, text] of texts.entries()) {
    const swatch = element("i", "swatch");
    swatch.style.background = colours[i];
    const entry = element("span", "legend-entry");
    entry.append(swatch, text);
    legend.append(entry);
  }
  return legend;
}

/**
 * The axes; the name of the upward one stands above it, where there is room for it.
 * @param {string} below
 * @param {string} beside
 * @param {number[]} xs
 * @param {number[]} ys
 */
function axes(below, beside, [x0, x1], [y0, y1]) {
  const bottom = HEIGHT - EDGE;
  return [
    svg("path", { d: `M${EDGE} ${TOP - 6}V${bottom}H${WIDTH - 10}`, fill: "none", stroke: "currentColor", "stroke-opacity": 0.4 }),
    svg("text", { x: EDGE, y: bottom + 20 }, short(x0)),
    svg("text", { x: WIDTH - 16, y: bottom + 20, "text-anchor": "end" }, short(x1)),
    svg("text", { x: (WIDTH + EDGE) / 2, y: bottom + 34, "text-anchor": "middle" }, below),
    svg("text", { x: EDGE - 8, y: bottom, "text-anchor": "end" }, short(y0)),
    svg("text", { x: EDGE - 8, y: TOP + 4, "text-anchor": "end" }, short(y1)),
    svg("text", { x: 4, y: 13 }, `↑ ${beside}`),
  ];
}

/**
 * Select the heads inside a rectangle that is dragged.
 * @param {SVGSVGElement} picture
 * @param {Side} left
 * @param {Side} right
 */
function listenToBrush(picture, left, right) {
  /** @type {{x: number, y: number} | null} */
  let start = null;
  const brush = svg("rect", { class: "brush", width: 0, height: 0 });
  picture.append(brush);
  const at = (/** @type {MouseEvent} */ event) => {
    const box = picture.getBoundingClientRect();
    return { x: ((event.clientX - box.left) * WIDTH) / box.width, y: ((event.clientY - box.top) * HEIGHT) / box.height };
  };
  picture.addEventListener("mousedown", (event) => {
    start = at(event);
    event.preventDefault();
  });
  picture.addEventListener("mousemove", (event) => {
    if (!start) return;
    const end = at(event);
    brush.setAttribute("x", String(Math.min(start.x, end.x)));
    brush.setAttribute("y", String(Math.min(start.y, end.y)));
    brush.setAttribute("width", String(Math.abs(end.x - start.x)));
    brush.setAttribute("height", String(Math.abs(end.y - start.y)));
  });
  addEventListener("mouseup", (event) => {
    if (!start) return;
    const corners = [start, at(event)].map(({ x, y }) => numbersAt(x, y, left, right));
    start = null;
    setBrush(brushText(corners[0], corners[1]));
    history.replaceState(null, "", address());
    selectHeads(left, right);
  });
}

/**
 * The two numbers at a place of the scatter.
 * @param {number} x pixels
 * @param {number} y
 * @param {Side} left
 * @param {Side} right
 */
function numbersAt(x, y, left, right) {
  const [x0, x1] = extent([left.values]);
  const [y0, y1] = extent([right.values]);
  const across = (x - EDGE) / (WIDTH - EDGE - 16);
  const up = (HEIGHT - EDGE - y) / (HEIGHT - EDGE - TOP);
  return { x: x0 + across * (x1 - x0), y: y0 + up * (y1 - y0) };
}

/**
 * List the heads that the rectangle selects, and mark them on the maps.
 * @param {Side} left
 * @param {Side} right
 */
function selectHeads(left, right) {
  const corners = brushOf(chosen().brush);
  const places = corners ? inside(page.points, ...corners).map(({ place }) => place) : [];
  for (const { map } of page.maps) map.select(places);
  const holder = part("compare-heads");
  if (!places.length) {
    holder.replaceChildren(element("h2", "", "Selected heads"), element("p", "hint", "Drag over the points to select heads."));
    return;
  }
  const numberOf = (/** @type {Side} */ side, /** @type {Place} */ { row, column }) => side.values[row][column];
  places.sort((one, other) => Number(numberOf(left, other)) - Number(numberOf(left, one)));
  const rows = places.map((place) => [
    nameAt(left.card, place),
    short(numberOf(left, place), 3),
    short(numberOf(right, place), 3),
  ]);
  const table = headTable(["head", left.title, right.title], rows, [left.card]);
  const most = Number(form().dataset.pins);
  const pins = rows.slice(0, most).map(([name]) => name).join(".");
  const link = element("a", "button", rows.length > most ? `Pin the first ${most} on the maps` : "Pin them on the maps");
  link.href = `/${queryString({ model: named(left.card), pin: pins })}`;
  holder.replaceChildren(element("h2", "", rows.length === 1 ? "1 selected head" : `${rows.length} selected heads`), link, table);
}

/**
 * A table whose first columns, one for each card, lead to heads' pages.
 * @param {string[]} titles
 * @param {string[][]} rows
 * @param {Card[]} cards
 */
function headTable(titles, rows, cards) {
  const table = element("table");
  const head = table.createTHead().insertRow();
  for (const title of titles) head.append(element("th", "", title));
  const body = table.createTBody();
  for (const cells of rows) {
    const line = body.insertRow();
    for (const [i, cell] of cells.entries()) line.insertCell().append(cards[i] ? linkTo(cards[i], cell) : cell);
  }
  return table;
}

/**
 * Two models of different sizes: the mean of each layer over the relative depth.
 * @param {Side} left
 * @param {Side} right
 */
function drawDepths(left, right) {
  const lines = [depthProfile(left.values), depthProfile(right.values)];
  const means = lines.flat().map(({ mean }) => mean);
  const [least, most] = [Math.min(...means, 0), Math.max(...means, 1e-9)];
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "compare-points", role: "img" });
  picture.setAttribute("aria-label", "Mean of each layer by relative depth");
  picture.append(...axes("relative depth", "mean of a layer's heads", [0, 1], [least, most]));
  for (const [i, line] of lines.entries()) {
    const points = line.map(({ depth, mean }) => {
      const x = EDGE + depth * (WIDTH - EDGE - 16);
      return `${x.toFixed(1)},${(HEIGHT - EDGE - clipped(mean, least, most) * (HEIGHT - EDGE - TOP)).toFixed(1)}`;
    });
    picture.append(svg("polyline", { points: points.join(" "), fill: "none", stroke: SIDES[i], "stroke-width": 2 }));
  }
  const legend = legendOf([left.title, right.title], SIDES);
  part("compare-scatter").replaceChildren(element("h2", "", "By relative depth"), legend, picture);
}

/**
 * The heads of two models whose scores are most similar.
 * @param {string} a
 * @param {string} b
 * @param {number} asked
 */
async function drawMatches(a, b, asked) {
  const { model: other, fingerprint } = modelQuery(b);
  const reply = await ask("matches", a, { other, other_fingerprint: fingerprint });
  if (asked !== page.asked) return;
  /** @type {string[][]} */
  const rows = reply.matches.map((/** @type {any} */ match) => [match.head, match.other, match.cosine.toFixed(2)]);
  const table = headTable([reply.model.id, reply.other.id, "cosine"], rows, [reply.model, reply.other]);
  const hint =
    "By the cosine of the scores that both models have (1 for equal proportions). Pairs whose scores are both similar and " +
    "high come first: they are ordered by cosine times the length of the weaker head's scores.";
  part("compare-heads").replaceChildren(element("h2", "", "Most similar heads"), element("p", "hint", hint), table);
}

listenToCopying();
form().addEventListener("change", (event) => {
  const field = /** @type {HTMLSelectElement} */ (event.target);
  if (["a", "b", "x", "y"].includes(field.name)) setBrush("");
  if (field.name === "a" || field.name === "b") location.assign(address());
  else draw();
});
draw();
