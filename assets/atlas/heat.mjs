// @ts-check
// A small map of numbers, one square per head or per pair of tokens, outside the maps of the page.
import { element } from "./elements.mjs";

/** @typedef {import("./comparing.mjs").Grid} Grid */
/** @typedef {{row: number, column: number}} Place a square: how far across, how far down */

/**
 * @typedef {object} HeatMap
 * @property {HTMLElement} figure
 * @property {(place: Place | null) => void} show outlines a square, or none
 * @property {(places: Place[]) => void} select outlines several
 */

/**
 * @typedef {object} Events
 * @property {(place: Place | null) => void} [hover]
 * @property {(place: Place) => void} [click]
 */

const LARGEST = 16; // pixels of a square
const WIDEST = 480;
const LARGEST_SHOWN = 28; // a map of few squares is not stretched farther than this

/**
 * The colour of a value: below zero orange, above it blue, the stronger the farther away.
 * @param {number | null} value
 * @param {number} most
 */
export function heatColour(value, most) {
  if (value === null) return "rgba(128,128,128,0.25)";
  const share = Math.min(1, Math.abs(value) / (most || 1)).toFixed(3);
  return value < 0 ? `rgba(213,94,0,${share})` : `rgba(0,114,178,${share})`;
}

/**
 * A map of a grid, whose first index goes across.
 * @param {Grid} values
 * @param {string} title
 * @param {number} most the value of full colour
 * @param {Events} events
 * @returns {HeatMap}
 */
export function heatMap(values, title, most, { hover = () => {}, click = () => {} } = {}) {
  const cell = Math.max(3, Math.min(LARGEST, Math.floor(WIDEST / values.length)));
  const canvas = element("canvas");
  canvas.width = values.length * cell;
  canvas.height = values[0].length * cell;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", title);
  const pen = canvas.getContext("2d");
  if (pen) paint(pen, values, cell, most);
  const frame = element("div", "compare-map");
  frame.style.maxWidth = `${values.length * LARGEST_SHOWN}px`;
  frame.append(canvas);
  const figure = element("figure");
  figure.append(frame, element("figcaption", "", title));

  /** @param {Place[]} places @param {string} className */
  const outline = (places, className) => {
    for (const old of frame.querySelectorAll(`.${className}`)) old.remove();
    const scale = canvas.getBoundingClientRect().width / canvas.width;
    for (const { row, column } of places) {
      const mark = element("i", `compare-mark ${className}`);
      mark.style.transform = `translate(${row * cell * scale - 2}px, ${column * cell * scale - 2}px)`;
      mark.style.width = mark.style.height = `${cell * scale + 3}px`;
      frame.append(mark);
    }
  };
  /** @param {MouseEvent} event */
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    const row = Math.floor(((event.clientX - box.left) / box.width) * values.length);
    const column = Math.floor(((event.clientY - box.top) / box.height) * values[0].length);
    return values[row] && column >= 0 && column < values[row].length ? { row, column } : null;
  };
  canvas.addEventListener("mousemove", (event) => hover(at(event)));
  canvas.addEventListener("mouseleave", () => hover(null));
  canvas.addEventListener("click", (event) => {
    const place = at(event);
    if (place) click(place);
  });
  return {
    figure,
    show: (place) => outline(place ? [place] : [], "shown"),
    select: (places) => outline(places, "selected"),
  };
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Grid} values
 * @param {number} cell
 * @param {number} most
 */
function paint(pen, values, cell, most) {
  for (const [row, line] of values.entries()) {
    for (const [column, value] of line.entries()) {
      pen.fillStyle = heatColour(value, most);
      pen.fillRect(row * cell, column * cell, cell - 1, cell - 1);
    }
  }
}
