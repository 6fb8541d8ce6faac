// @ts-check
// A small map of numbers, one square per head or per pair of tokens, outside the maps of the page.
import { isArrow, stepped } from "./arrows.mjs";
import { axesOf } from "./axes.mjs";
import { element } from "./elements.mjs";
import { wholeOf } from "./geometry.mjs";

/** @typedef {import("./comparing.mjs").Grid} Grid */
/** @typedef {{row: number, column: number}} Place a square: how far across, how far down */

/**
 * @typedef {object} HeatMap
 * @property {HTMLElement} figure
 * @property {(place: Place | null) => void} show outlines a square, or none
 * @property {(places: Place[]) => void} select outlines several
 */

/**
 * @typedef {object} Options
 * @property {(place: Place | null) => void} [hover]
 * @property {(place: Place) => void} [click]
 * @property {readonly number[]} [layers] of a map of heads, which then has axes
 * @property {readonly string[]} [tokens] of a map of pairs of tokens, which then stand along both axes
 * @property {string} [words] what stands below the layers
 * @property {number} [widest] pixels of a map that is to be as wide as another
 * @property {(value: number) => string} [colour] of a map of classes
 * @property {boolean} [falls] blue is below zero: what is lost without a head, the model owes to it
 */

const LARGEST = 16; // pixels of a square
const WIDEST = 480;
export const LARGEST_SHOWN = 28; // a map of few squares is not stretched farther than this
const NARROWEST = 280; // pixels of a map that is not small, for which its ticks are chosen
const TOKEN_ROOM = 14; // pixels between the tokens along an axis, at least
const LONGEST_TOKEN = 10; // characters of a token along an axis

/** @typedef {[blue: string, orange: string]} Ends of a scale with a middle, as #rrggbb */

/**
 * The ends of the page's scale with a middle, which are lighter on a dark page.
 * @returns {Ends}
 */
export function scaleEnds() {
  const style = getComputedStyle(document.documentElement);
  const toneOf = (/** @type {string} */ name) => style.getPropertyValue(`--tone-${name}`).trim();
  return [toneOf("below"), toneOf("above")];
}

/**
 * The colour of a value: blue on the side of zero on which the value of full blue is, orange on the other, the stronger
 * the farther away.
 * @param {number | null} value
 * @param {number} most the value of full blue
 * @param {Ends} ends
 */
export function heatColour(value, most, [blue, orange]) {
  if (value === null) return "rgba(128,128,128,0.25)";
  const share = value / (most || 1);
  const strength = Math.round(255 * Math.min(1, Math.abs(share)));
  return (share < 0 ? orange : blue) + strength.toString(16).padStart(2, "0");
}

/**
 * A map of heads with its axes: layers across, heads down.
 * @param {HTMLElement} frame
 * @param {readonly number[]} layers
 * @param {number} heads
 * @param {string} words
 */
function withAxes(frame, layers, heads, words) {
  const plot = element("div", "compare-plot");
  plot.append(element("span", "compare-down", "head"), frame, element("span", "compare-across", words));
  const { across, down } = headTicks(layers, heads);
  for (const { at, text } of across) frame.append(tick("tick-across", "left", at, text));
  for (const { at, text } of down) frame.append(tick("tick-down", "top", at, text));
  return plot;
}

/**
 * Where the numbers of layers and heads stand, as shares of the map's width and height.
 * @param {readonly number[]} layers
 * @param {number} heads
 */
export function headTicks(layers, heads) {
  const width = Math.min(NARROWEST, layers.length * LARGEST_SHOWN);
  const box = { width, height: (width * heads) / layers.length };
  const grid = { layers, heads, across: false, upward: false };
  const [across, down] = axesOf(box, wholeOf(grid), grid);
  return {
    across: across.ticks.map(({ at, text }) => ({ at: at / box.width, text })),
    down: down.ticks.map(({ at, text }) => ({ at: at / box.height, text })),
  };
}

/**
 * A map of pairs of tokens with these along both axes.
 * @param {HTMLElement} frame
 * @param {readonly string[]} tokens
 */
function withTokens(frame, tokens) {
  const plot = element("div", "compare-plot tokens-plot");
  plot.append(frame);
  for (const { at, text } of tokenTicks(tokens)) {
    frame.append(tick("tick-across", "left", at, text), tick("tick-down", "top", at, text));
  }
  return plot;
}

/**
 * Which tokens stand along an axis, shortened, and where, as shares of its length: every n-th when there are many.
 * @param {readonly string[]} tokens
 */
export function tokenTicks(tokens) {
  const cell = Math.min(LARGEST_SHOWN, NARROWEST / tokens.length);
  const every = Math.ceil(TOKEN_ROOM / cell);
  const ticks = [];
  for (let i = 0; i < tokens.length; i += every) {
    ticks.push({ at: (i + 0.5) / tokens.length, text: shortened(tokens[i]) });
  }
  return ticks;
}

/** @param {string} text */
function shortened(text) {
  const letters = [...text];
  return letters.length > LONGEST_TOKEN ? `${letters.slice(0, LONGEST_TOKEN - 1).join("")}…` : text;
}

/**
 * @param {string} className
 * @param {"left" | "top"} side
 * @param {number} at
 * @param {string} text
 */
function tick(className, side, at, text) {
  const made = element("span", className, text);
  made.style[side] = `${(100 * at).toFixed(2)}%`;
  return made;
}

/**
 * A map of a grid, whose first index goes across.
 * @param {Grid} values
 * @param {string} title
 * @param {number} most the value of full colour
 * @param {Options} options
 * @returns {HeatMap}
 */
export function heatMap(values, title, most, options = {}) {
  const { hover = () => {}, click = () => {}, layers, tokens, widest = 0 } = options;
  const cell = Math.max(3, Math.min(LARGEST, Math.floor(WIDEST / values.length)));
  const canvas = element("canvas");
  canvas.width = values.length * cell;
  canvas.height = values[0].length * cell;
  const pen = canvas.getContext("2d");
  if (pen) paint(pen, values, cell, colouring(most, options));
  const frame = frameOf(canvas, title, widest || values.length * LARGEST_SHOWN);
  const figure = element("figure");
  figure.append(plotOf(frame, values[0].length, layers, tokens, options.words), element("figcaption", "", title));
  listenToPointer(canvas, values, hover, click);
  listenToKeys(frame, values, hover, click);
  return {
    figure,
    show: (place) => outline(frame, canvas, cell, place ? [place] : [], "shown"),
    select: (places) => outline(frame, canvas, cell, places, "selected"),
  };
}

/**
 * The colour of every value.
 * @param {number} most
 * @param {Options} options
 * @returns {(value: number | null) => string}
 */
function colouring(most, { colour, falls = false }) {
  const full = falls ? -most : most;
  const ends = scaleEnds();
  return (value) => (colour && value !== null ? colour(value) : heatColour(value, full, ends));
}

/**
 * What holds the map: it takes the keyboard.
 * @param {HTMLCanvasElement} canvas
 * @param {string} title
 * @param {number} widest
 */
function frameOf(canvas, title, widest) {
  const frame = element("div", "compare-map");
  frame.style.maxWidth = `${widest}px`;
  frame.append(canvas);
  frame.tabIndex = 0;
  frame.setAttribute("role", "application");
  frame.setAttribute("aria-label", `${title}. Arrow keys move.`);
  return frame;
}

/**
 * Outline these squares, and none that was outlined before in this way.
 * @param {HTMLElement} frame
 * @param {HTMLCanvasElement} canvas
 * @param {number} cell
 * @param {Place[]} places
 * @param {string} className
 */
function outline(frame, canvas, cell, places, className) {
  for (const old of frame.querySelectorAll(`.${className}`)) old.remove();
  const size = (cell * canvas.getBoundingClientRect().width) / canvas.width;
  for (const { row, column } of places) {
    const mark = element("i", `compare-mark ${className}`);
    mark.style.transform = `translate(${row * size - 2}px, ${column * size - 2}px)`;
    mark.style.width = mark.style.height = `${size + 3}px`;
    frame.append(mark);
  }
}

/**
 * The square under the mouse, and a click on it.
 * @param {HTMLCanvasElement} canvas
 * @param {Grid} values
 * @param {(place: Place | null) => void} hover
 * @param {(place: Place) => void} click
 */
function listenToPointer(canvas, values, hover, click) {
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
}

/**
 * Arrows walk from square to square, as the mouse does; Enter and the space bar are a click.
 * @param {HTMLElement} frame
 * @param {Grid} values
 * @param {(place: Place | null) => void} hover
 * @param {(place: Place) => void} click
 */
function listenToKeys(frame, values, hover, click) {
  /** @type {Place | null} */
  let place = null;
  const grid = { layers: values, heads: values[0].length, across: false, upward: false };
  frame.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isArrow(event.key)) {
      const [row, column] = place ? stepped([place.row, place.column], event.key, grid) : [0, 0];
      place = { row, column };
      hover(place);
    } else if (place && (event.key === "Enter" || event.key === " ")) {
      click(place);
    } else return;
    event.preventDefault();
  });
  frame.addEventListener("blur", () => hover(null));
}

/**
 * The map with the axes that it has.
 * @param {HTMLElement} frame
 * @param {number} rows
 * @param {readonly number[]} [layers]
 * @param {readonly string[]} [tokens]
 * @param {string} [words]
 */
function plotOf(frame, rows, layers, tokens, words = "layer") {
  if (layers) return withAxes(frame, layers, rows, words);
  return tokens ? withTokens(frame, tokens) : frame;
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Grid} values
 * @param {number} cell
 * @param {(value: number | null) => string} colour
 */
function paint(pen, values, cell, colour) {
  for (const [row, line] of values.entries()) {
    for (const [column, value] of line.entries()) {
      pen.fillStyle = colour(value);
      pen.fillRect(row * cell, column * cell, cell - 1, cell - 1);
    }
  }
}
