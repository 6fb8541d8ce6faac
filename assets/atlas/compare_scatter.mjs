// @ts-check
// The heads of a comparison as points, of which a rectangle selects some; layers by relative depth where sizes differ.
import { chosen, classColour, classesOf, part } from "./compare_form.mjs";
import { openHead, showHead } from "./compare_maps.mjs";
import { brushOf, brushText, depthProfile, extent, inside } from "./comparing.mjs";
import { element } from "./elements.mjs";
import { heatColour } from "./heat.mjs";
import { nameAt } from "./heads.mjs";
import { HEIGHT, legendOf, numbersAt, pixelAcross, pixelUp, plot, svg, WIDTH } from "./svg.mjs";

/** @typedef {import("./comparing.mjs").Grid} Grid */
/** @typedef {import("./compare_maps.mjs").Side} Side */
/** @typedef {import("./heat.mjs").Place} Place */
/** @typedef {{colours: Grid | null, sizes: Grid | null, key: string}} Looks what colours and sizes stand for */
/** @typedef {{x: number, y: number, place: Place}} Point */

const SIDES = ["#0072b2", "#d55e00"]; // left and right
const POINT = "#3b5bdb";
const RADIUS = 3.5; // pixels
const [SMALLEST, GROWTH] = [2, 7]; // of a radius that stands for a number

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
  const picture = plot(`${left.title} against ${right.title}`, axes.across, axes.up);
  const isOne = left.card.fingerprint === right.card.fingerprint;
  const lookOf = pointLook(looks);
  drawn.points = [];
  for (const [row, values] of left.values.entries()) {
    for (const [column, x] of values.entries()) {
      const y = right.values[row][column];
      if (x === null || y === null) continue;
      const place = { row, column };
      const name = nameAt(left.card, place);
      const spot = { cx: pixelAcross(x, across), cy: pixelUp(y, up), "data-head": name };
      const circle = svg("circle", { ...spot, ...lookOf(place) });
      circle.addEventListener("mouseenter", () => showHead(place, isOne ? left.card : null));
      circle.addEventListener("click", () => openHead(left.card, place));
      picture.append(circle);
      drawn.points.push({ x, y, place });
    }
  }
  const holder = part("compare-scatter");
  holder.replaceChildren(element("h2", "", "Head by head"), picture, ...classLegend(looks));
  listenToBrush(picture, across, up, select);
}

/**
 * Colour and size of a point.
 * @param {Looks} looks
 * @returns {(place: Place) => {fill: string, r: number}}
 */
function pointLook({ colours, sizes, key }) {
  const classes = classesOf(key);
  const ofClasses = classes && classes.map(classColour);
  const largest = sizes ? Math.max(...extent([sizes]).map(Math.abs)) || 1 : 1;
  const strongest = colours ? fullColour(colours) : 1;
  return ({ row, column }) => {
    const value = colours ? colours[row][column] : null;
    const shade = value !== null && ofClasses ? ofClasses[value] : heatColour(value, strongest);
    const size = sizes ? SMALLEST + GROWTH * Math.abs((sizes[row][column] || 0) / largest) : RADIUS;
    return { fill: colours ? shade : POINT, r: size };
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
 * @param {SVGSVGElement} picture
 * @param {import("./svg.mjs").Range} across
 * @param {import("./svg.mjs").Range} up
 * @param {(corners: string) => void} select
 */
function listenToBrush(picture, across, up, select) {
  const brush = svg("rect", { class: "brush", width: 0, height: 0 });
  picture.append(brush);
  const at = (/** @type {MouseEvent} */ event) => {
    const box = picture.getBoundingClientRect();
    return { x: ((event.clientX - box.left) * WIDTH) / box.width, y: ((event.clientY - box.top) * HEIGHT) / box.height };
  };
  picture.addEventListener("mousedown", (event) => {
    const start = at(event);
    event.preventDefault();
    const moved = (/** @type {MouseEvent} */ later) => {
      const end = at(later);
      brush.setAttribute("x", String(Math.min(start.x, end.x)));
      brush.setAttribute("y", String(Math.min(start.y, end.y)));
      brush.setAttribute("width", String(Math.abs(end.x - start.x)));
      brush.setAttribute("height", String(Math.abs(end.y - start.y)));
    };
    const released = (/** @type {MouseEvent} */ later) => {
      removeEventListener("mousemove", moved);
      const [one, other] = [start, at(later)].map((pixels) => numbersAt(pixels, across, up));
      select(brushText(one, other));
    };
    addEventListener("mousemove", moved);
    addEventListener("mouseup", released, { once: true });
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
  const picture = plot("Mean of each layer by relative depth", across, { title: "mean of a layer's heads", range });
  for (const [i, line] of lines.entries()) {
    const points = line.map(({ depth, mean }) => {
      return `${pixelAcross(depth, across.range).toFixed(1)},${pixelUp(mean, range).toFixed(1)}`;
    });
    picture.append(svg("polyline", { points: points.join(" "), fill: "none", stroke: SIDES[i], "stroke-width": 2 }));
  }
  const legend = legendOf([left.title, right.title], SIDES);
  part("compare-scatter").replaceChildren(element("h2", "", "By relative depth"), legend, picture);
}
