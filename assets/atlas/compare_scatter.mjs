// @ts-check
// The heads of a comparison as points, of which a rectangle selects some; layers by relative depth where sizes differ.
import { chosen, classColour, classesOf, part } from "./compare_form.mjs";
import { openHead, showHead } from "./compare_maps.mjs";
import { brushOf, brushText, depthProfile, extent, inside } from "./comparing.mjs";
import { element } from "./elements.mjs";
import { heatColour, scaleEnds } from "./heat.mjs";
import { nameAt } from "./heads.mjs";
import { legendOf, plot, svg } from "./svg.mjs";

/** @typedef {import("./comparing.mjs").Grid} Grid */
/** @typedef {import("./compare_maps.mjs").Side} Side */
/** @typedef {import("./heat.mjs").Place} Place */
/** @typedef {{colours: Grid | null, sizes: Grid | null, key: string}} Looks what colours and sizes stand for */
/** @typedef {{x: number, y: number, place: Place}} Point */

const RADIUS = 3.5; // pixels
const [SMALLEST, GROWTH] = [2, 7]; // of a radius that stands for a number
const PADDING = 34; // pixels of the card around a figure

/** @type {{points: Point[]}} */
const drawn = { points: [] }; // by their numbers

/** Take the points away, where there are none to draw. */
export function clearScatter() {
  drawn.points = [];
  part("compare-scatter").replaceChildren();
}

/** The heads inside the rectangle in the address. */
export function brushed() {
  const corners = brushOf(chosen().brush);
  return corners ? inside(drawn.points, ...corners).map(({ place }) => place) : [];
}

/**
 * Every head as a point; dragging selects heads.
 * @param {Side} left
 * @param {Side} right
 * @param {Looks} looks
 * @param {(corners: string) => void} select
 */
export function drawScatter(left, right, looks, select) {
  const [across, up] = [extent([left.values]), extent([right.values])];
  const axes = { across: { title: left.title, range: across }, up: { title: right.title, range: up } };
  const made = plot(`${left.title} against ${right.title}`, axes.across, axes.up, room());
  const isOne = left.card.fingerprint === right.card.fingerprint;
  const lookOf = pointLook(looks);
  drawn.points = [];
  for (const [row, values] of left.values.entries()) {
    for (const [column, x] of values.entries()) {
      const y = right.values[row][column];
      if (x === null || y === null) continue;
      const place = { row, column };
      const name = nameAt(left.card, place);
      const at = made.pixelsOf({ x, y });
      const circle = svg("circle", { cx: at.x, cy: at.y, "data-head": name, ...lookOf(place) });
      circle.addEventListener("mouseenter", () => showHead(place, isOne ? left.card : null));
      circle.addEventListener("click", () => openHead(left.card, place));
      made.picture.append(circle);
      drawn.points.push({ x, y, place });
    }
  }
  const holder = part("compare-scatter");
  holder.replaceChildren(element("h2", "", "Head by head"), made.figure, ...classLegend(looks));
  listenToBrush(made, select);
}

/** Pixels that a figure may be wide. */
function room() {
  return part("compare-form").getBoundingClientRect().width - PADDING;
}

/**
 * Colour and size of a point.
 * @param {Looks} looks
 * @returns {(place: Place) => {fill?: string, r: number}} without a colour of its own it has the page's
 */
function pointLook({ colours, sizes, key }) {
  const classes = classesOf(key);
  const ofClasses = classes && classes.map(classColour);
  const largest = sizes ? Math.max(...extent([sizes]).map(Math.abs)) || 1 : 1;
  const strongest = colours ? fullColour(colours) : 1;
  const ends = scaleEnds();
  return ({ row, column }) => {
    const r = sizes ? SMALLEST + GROWTH * Math.abs((sizes[row][column] || 0) / largest) : RADIUS;
    if (!colours) return { r };
    const value = colours[row][column];
    return { r, fill: value !== null && ofClasses ? ofClasses[value] : heatColour(value, strongest, ends) };
  };
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
 * What the colours of classes mean.
 * @param {Looks} looks
 */
function classLegend({ key }) {
  const classes = classesOf(key);
  return classes ? [legendOf(classes.map(([words]) => words), classes.map(classColour))] : [];
}

/**
 * Select the heads inside a rectangle that is dragged.
 * @param {import("./svg.mjs").Plot} plot
 * @param {(corners: string) => void} select
 */
function listenToBrush({ picture, numbersAt }, select) {
  const brush = svg("rect", { class: "brush", width: 0, height: 0 });
  picture.append(brush);
  const at = (/** @type {MouseEvent} */ event) => {
    const box = picture.getBoundingClientRect();
    const scale = picture.viewBox.baseVal.width / box.width;
    return { x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale };
  };
  picture.addEventListener("pointerdown", (event) => {
    const start = at(event);
    event.preventDefault();
    const moved = (/** @type {PointerEvent} */ later) => {
      const end = at(later);
      brush.setAttribute("x", String(Math.min(start.x, end.x)));
      brush.setAttribute("y", String(Math.min(start.y, end.y)));
      brush.setAttribute("width", String(Math.abs(end.x - start.x)));
      brush.setAttribute("height", String(Math.abs(end.y - start.y)));
    };
    const ended = () => {
      removeEventListener("pointermove", moved);
      removeEventListener("pointerup", released);
      removeEventListener("pointercancel", cancelled);
    };
    const cancelled = () => {
      ended(); // the finger scrolls the page
      for (const side of ["width", "height"]) brush.setAttribute(side, "0");
    };
    const released = (/** @type {PointerEvent} */ later) => {
      ended();
      const [one, other] = [start, at(later)].map(numbersAt);
      select(brushText(one, other));
    };
    addEventListener("pointermove", moved);
    addEventListener("pointerup", released);
    addEventListener("pointercancel", cancelled);
  });
}

/**
 * Two models of different sizes: the mean of each layer over the relative depth.
 * @param {Side} left
 * @param {Side} right
 */
export function drawDepths(left, right) {
  drawn.points = [];
  const lines = [depthProfile(left.values), depthProfile(right.values)];
  const means = lines.flat().map(({ mean }) => mean);
  /** @type {[number, number]} */
  const range = [Math.min(...means, 0), Math.max(...means, 1e-9)];
  const across = { title: "relative depth", range: /** @type {[number, number]} */ ([0, 1]) };
  const up = { title: "mean of a layer's heads", range };
  const { figure, picture, pixelsOf } = plot("Mean of each layer by relative depth", across, up, room());
  const sides = scaleEnds();
  for (const [i, line] of lines.entries()) {
    const points = line.map(({ depth, mean }) => {
      const { x, y } = pixelsOf({ x: depth, y: mean });
      return `${x.toFixed(1)},${y.toFixed(1)}`;
    });
    picture.append(svg("polyline", { points: points.join(" "), fill: "none", stroke: sides[i], "stroke-width": 2 }));
  }
  const legend = legendOf([left.title, right.title], sides);
  part("compare-scatter").replaceChildren(element("h2", "", "By relative depth"), legend, figure);
}
