// @ts-check
// Figures with two axes, drawn as SVG in the pixels of the page.
import { clipped, short } from "./comparing.mjs";
import { element } from "./elements.mjs";

const [NARROWEST, WIDEST] = [240, 1100]; // pixels of a figure
const [LOWEST, HIGHEST] = [260, 440];
const [LEFT, RIGHT, TOP, BOTTOM] = [44, 24, 20, 24]; // pixels around the points: numbers along the axes, room to drag from
const [ROOM_ACROSS, ROOM_UP] = [90, 60]; // pixels between two numbers along an axis
const STEPS = [1, 2, 5, 10]; // of a power of ten

/** @typedef {[low: number, high: number]} Range */
/** @typedef {{title: string, range: Range}} Axis */
/** @typedef {{x: number, y: number}} Spot */

/**
 * @typedef {object} Plot
 * @property {HTMLElement} figure
 * @property {SVGSVGElement} picture
 * @property {(numbers: Spot) => Spot} pixelsOf where two numbers stand
 * @property {(pixels: Spot) => Spot} numbersAt the two numbers at a place
 */

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {string} [text]
 */
export function svg(tag, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text) made.textContent = text;
  return made;
}

/**
 * The pixels of a figure with so much room: low enough that all of it is seen, and never so wide that points get lost.
 * @param {number} room
 */
export function sizeIn(room) {
  const width = Math.round(Math.min(WIDEST, Math.max(NARROWEST, room)));
  const height = Math.round(Math.min(HIGHEST, Math.max(LOWEST, 0.55 * width)));
  return { width, height };
}

/**
 * Where numbers stand in a figure, and which numbers stand at a place.
 * @param {{width: number, height: number}} size
 * @param {Range} across
 * @param {Range} up
 */
export function placing({ width, height }, [x0, x1], [y0, y1]) {
  const [wide, high] = [width - LEFT - RIGHT, height - TOP - BOTTOM];
  return {
    pixelsOf: (/** @type {Spot} */ { x, y }) => ({
      x: LEFT + clipped(x, x0, x1) * wide,
      y: height - BOTTOM - clipped(y, y0, y1) * high,
    }),
    numbersAt: (/** @type {Spot} */ { x, y }) => ({
      x: x0 + ((x - LEFT) / wide) * (x1 - x0),
      y: y0 + ((height - BOTTOM - y) / high) * (y1 - y0),
    }),
  };
}

/**
 * Round numbers within a range, at most so many.
 * @param {Range} range
 * @param {number} most
 */
export function ticksIn([low, high], most) {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (STEPS.find((each) => each * power >= rough * 0.999) || 10);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

/**
 * A figure with its axes, whose names stand above it and below it, where they may take several lines.
 * @param {string} label
 * @param {Axis} across
 * @param {Axis} up
 * @param {number} room pixels
 * @returns {Plot}
 */
export function plot(label, across, up, room) {
  const { width, height } = sizeIn(room);
  const place = placing({ width, height }, across.range, up.range);
  const attributes = { viewBox: `0 0 ${width} ${height}`, class: "compare-points", role: "img", "aria-label": label };
  const picture = /** @type {SVGSVGElement} */ (svg("svg", attributes));
  picture.style.maxWidth = `${width}px`;
  const bottom = height - BOTTOM;
  for (const x of ticksIn(across.range, Math.floor(width / ROOM_ACROSS))) {
    const at = place.pixelsOf({ x, y: 0 }).x;
    picture.append(svg("path", { d: `M${at} ${TOP}V${bottom}`, class: "grid" }));
    picture.append(svg("text", { x: at, y: bottom + 17, "text-anchor": "middle" }, short(x, 4)));
  }
  for (const y of ticksIn(up.range, Math.floor(height / ROOM_UP))) {
    const at = place.pixelsOf({ x: 0, y }).y;
    picture.append(svg("path", { d: `M${LEFT} ${at}H${width - RIGHT}`, class: "grid" }));
    picture.append(svg("text", { x: LEFT - 7, y: at + 4, "text-anchor": "end" }, short(y, 4)));
  }
  picture.append(svg("path", { d: `M${LEFT} ${TOP}V${bottom}H${width - RIGHT}`, class: "axes" }));
  const figure = element("figure", "compare-figure");
  figure.append(element("p", "", `↑ ${up.title}`), picture, element("p", "", `→ ${across.title}`));
  return { figure, picture, ...place };
}

/**
 * What colours mean.
 * @param {string[]} texts
 * @param {string[]} colours
 */
export function legendOf(texts, colours) {
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
