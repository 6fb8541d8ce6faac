// @ts-check
// Figures with two axes, drawn as SVG.
import { clipped, short } from "./comparing.mjs";
import { element } from "./elements.mjs";

export const WIDTH = 640;
export const HEIGHT = 380;
const [EDGE, TOP, END] = [46, 30, 16]; // pixels for the axes, above for the name of the upward one, and on the right

/** @typedef {[low: number, high: number]} Range */
/** @typedef {{title: string, range: Range}} Axis */

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
 * A figure with its axes; the name of the upward one stands above it, where there is room for it.
 * @param {string} label
 * @param {Axis} across
 * @param {Axis} up
 */
export function plot(label, across, up) {
  const picture = /** @type {SVGSVGElement} */ (svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "compare-points", role: "img" }));
  picture.setAttribute("aria-label", label);
  picture.setAttribute("tabindex", "0"); // on a phone it is wider than its card, which keys must scroll
  const bottom = HEIGHT - EDGE;
  const line = `M${EDGE} ${TOP - 6}V${bottom}H${WIDTH - 10}`;
  picture.append(
    svg("path", { d: line, fill: "none", stroke: "currentColor", "stroke-opacity": 0.4 }),
    svg("text", { x: EDGE, y: bottom + 20 }, short(across.range[0])),
    svg("text", { x: WIDTH - END, y: bottom + 20, "text-anchor": "end" }, short(across.range[1])),
    svg("text", { x: (WIDTH + EDGE) / 2, y: bottom + 34, "text-anchor": "middle" }, across.title),
    svg("text", { x: EDGE - 8, y: bottom, "text-anchor": "end" }, short(up.range[0])),
    svg("text", { x: EDGE - 8, y: TOP + 4, "text-anchor": "end" }, short(up.range[1])),
    svg("text", { x: 4, y: 13 }, `↑ ${up.title}`),
  );
  return picture;
}

/**
 * Where a number stands on the axis across.
 * @param {number} value
 * @param {Range} range
 */
export function pixelAcross(value, [low, high]) {
  return EDGE + clipped(value, low, high) * (WIDTH - EDGE - END);
}

/**
 * Where a number stands on the upward axis.
 * @param {number} value
 * @param {Range} range
 */
export function pixelUp(value, [low, high]) {
  return HEIGHT - EDGE - clipped(value, low, high) * (HEIGHT - EDGE - TOP);
}

/**
 * The two numbers at a place of a figure.
 * @param {{x: number, y: number}} pixels
 * @param {Range} across
 * @param {Range} up
 */
export function numbersAt({ x, y }, [x0, x1], [y0, y1]) {
  const share = (x - EDGE) / (WIDTH - EDGE - END);
  const height = (HEIGHT - EDGE - y) / (HEIGHT - EDGE - TOP);
  return { x: x0 + share * (x1 - x0), y: y0 + height * (y1 - y0) };
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
