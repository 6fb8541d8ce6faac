// @ts-check
// The maps as elements: for each panel a title, a canvas of squares, axes, and its layer profile.
import { LEFT, RIGHT } from "./arrange.mjs";
import { axesOf } from "./axes.mjs";
import { barsOf, baseOf, pathsOf, wordsAt } from "./bars.mjs";
import { element } from "./elements.mjs";
import { writeSquares } from "./squares.mjs";

/** @typedef {import("./arrange.mjs").Arrangement} Arrangement */
/** @typedef {import("./arrange.mjs").Box} Box */
/** @typedef {import("./axes.mjs").Axis} Axis */
/** @typedef {import("./bars.mjs").Profile} Profile */
/** @typedef {import("./geometry.mjs").Sight} Sight */
/** @typedef {import("./heads.mjs").Heads} Heads */
/** @typedef {import("./heads.mjs").Panel} Panel */

/**
 * @typedef {object} Piece one panel on the page
 * @property {Box} box
 * @property {Box | null} side
 * @property {HTMLElement} title
 * @property {HTMLElement} note
 * @property {HTMLCanvasElement} canvas
 * @property {ImageData | null} image
 * @property {SVGElement} axes
 * @property {SVGElement} profile on the page only where it has a place
 * @property {(point: {x: number, y: number}) => string} said what the profile says at a point of it
 */

const SVG = "http://www.w3.org/2000/svg";
const TICK = 5; // pixels between a map and its tick labels

/**
 * An element of a drawing.
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {string} [text]
 * @returns {SVGElement}
 */
function drawn(tag, attributes, text = "") {
  const made = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text) made.textContent = text;
  return made;
}

/** @type {Piece[]} */
const made = []; // panels are used again, because making them takes longer

/**
 * Put panels onto the page, where an arrangement has them.
 * @param {HTMLElement} holder
 * @param {Arrangement} arrangement
 * @returns {Piece[]}
 */
export function layOut(holder, arrangement) {
  const pieces = [];
  /** @type {Set<Element>} */
  const parts = new Set();
  for (const [i, box] of arrangement.boxes.entries()) {
    made[i] ??= newPiece(box);
    const piece = made[i];
    [piece.box, piece.side] = [box, arrangement.sides[i] || null];
    for (const part of placeParts(piece, titleRoom(box, arrangement))) parts.add(part);
    pieces.push(piece);
  }
  holder.style.height = `${arrangement.height}px`;
  for (const part of [...holder.children]) if (!parts.has(part)) part.remove();
  for (const part of parts) if (part.parentNode !== holder) holder.append(part);
  return pieces;
}

/**
 * Put the parts of a panel into their places.
 * @param {Piece} piece
 * @param {number} wide pixels for the title
 */
function placeParts({ box, side, title, canvas, axes, profile }, wide) {
  place(title, { left: box.left, top: box.top - 24, width: wide, height: 20 });
  place(canvas, box);
  place(axes, box);
  if (!side) return [title, canvas, axes];
  place(profile, side);
  return [title, canvas, axes, profile];
}

/**
 * Pixels for a panel's title: up to the next panel.
 * @param {Box} box
 * @param {Arrangement} place
 */
export function titleRoom(box, { boxes, width }) {
  const next = boxes.filter((other) => other.left > box.left && other.top === box.top).map((other) => other.left - LEFT);
  return Math.min(width, ...next) - box.left - RIGHT / 2;
}

/**
 * A panel that is not on the page yet.
 * @param {Box} box
 * @returns {Piece}
 */
function newPiece(box) {
  const title = element("div", "panel-title");
  const note = element("span");
  title.append(element("b"), note);
  const canvas = element("canvas", "panel-squares");
  const axes = drawn("svg", { class: "panel-axes", "aria-hidden": "true" });
  const profile = drawn("svg", { class: "panel-profile", "aria-hidden": "true" });
  /** @type {Piece} */
  const piece = { box, side: null, title, note, canvas, image: null, axes, profile, said: () => "" };
  profile.addEventListener("mousemove", (event) => {
    const words = piece.said({ x: event.offsetX, y: event.offsetY });
    const spoken = profile.querySelector("title");
    if (spoken && spoken.textContent !== words) spoken.textContent = words;
  });
  return piece;
}

/**
 * @param {HTMLElement | SVGElement} part
 * @param {Box} box
 */
function place({ style }, { left, top, width, height }) {
  style.left = `${left}px`;
  style.top = `${top}px`;
  style.width = `${width}px`;
  style.height = `${height}px`;
}

/**
 * Write what a panel is called.
 * @param {Piece} piece
 * @param {Panel} panel
 */
export function writeName({ title }, panel) {
  const name = /** @type {HTMLElement} */ (title.firstChild);
  if (name.textContent !== panel.title) name.textContent = panel.title;
}

/**
 * Write a panel's title: its name, and how many heads it has.
 * @param {Piece} piece
 * @param {Panel} panel
 */
export function writeTitle(piece, panel) {
  const { title, note } = piece;
  writeName(piece, panel);
  if (note.textContent !== panel.note) note.textContent = panel.note;
  title.title = `${panel.title}: ${panel.note}`;
}

/**
 * Paint a panel's squares, in the pixels of the screen.
 * @param {Piece} piece
 * @param {Panel} panel
 * @param {Heads} heads
 * @param {Sight} sight
 * @param {Uint8Array | null} left 0 for heads that are faded
 */
export function paintSquares(piece, panel, heads, sight, left) {
  const scale = window.devicePixelRatio || 1;
  const [width, height] = [piece.box.width, piece.box.height].map((length) => Math.round(length * scale));
  const pen = piece.canvas.getContext("2d");
  if (!pen) return;
  if (!piece.image || piece.image.width !== width || piece.image.height !== height) {
    [piece.canvas.width, piece.canvas.height] = [width, height];
    piece.image = pen.createImageData(width, height);
  }
  const pixels = new Uint32Array(piece.image.data.buffer);
  writeSquares({ pixels, width, height }, panel.look, heads, sight, left);
  pen.putImageData(piece.image, 0, 0);
  piece.canvas.style.outline = panel.look.ground ? `1px solid ${panel.look.ground}` : "";
}

/**
 * Write a panel's axes.
 * @param {Piece} piece
 * @param {Heads} heads
 * @param {Sight} sight
 */
export function writeAxes({ box, axes }, heads, sight) {
  const [across, down] = axesOf(box, sight, heads);
  const texts = [];
  for (const { at, text } of across.ticks) texts.push(drawn("text", { x: at, y: box.height + 13, class: "tick" }, text));
  for (const { at, text } of down.ticks) texts.push(drawn("text", { x: -TICK, y: at + 4, class: "tick down" }, text));
  texts.push(drawn("text", { x: box.width / 2, y: box.height + 26, class: "axis" }, across.name));
  const turned = `translate(-24 ${box.height / 2}) rotate(-90)`;
  texts.push(drawn("text", { x: 0, y: 0, transform: turned, class: "axis" }, down.name));
  axes.replaceChildren(...texts);
}

/**
 * Draw a panel's layer profile.
 * @param {Piece} piece
 * @param {Profile | null} profile
 * @param {Heads} heads
 * @param {Sight} sight
 * @param {number} most
 */
export function drawProfile(piece, profile, heads, sight, most) {
  const { side } = piece;
  if (!side) return;
  if (!profile) return piece.profile.replaceChildren();
  const bars = barsOf(profile, side, sight, heads, most);
  const parts = [drawn("title", {}), drawn("rect", { width: side.width, height: side.height, fill: "transparent" })];
  for (const [i, d] of pathsOf(bars, profile.names.length).entries()) parts.push(drawn("path", { d, fill: profile.colours[i] }));
  piece.profile.replaceChildren(...parts, ...scaleOf(profile, side, heads.across, most));
  piece.said = (point) => wordsAt(profile, side, sight, heads, point);
}

/**
 * The line at 0, how far the bars go, and what they say.
 * @param {Profile} profile
 * @param {Box} side
 * @param {boolean} across
 * @param {number} most
 */
function scaleOf(profile, { width, height }, across, most) {
  const base = baseOf({ width, height }, profile, across);
  const end = `${Math.round(100 * most)}\u202f%`; // a narrow space: before the axis there is room for no other
  const names = profile.signed ? [...profile.names].reverse() : [""];
  if (across) {
    const words = width >= 150 ? names.join(" ← share of heads → ").trim() : names.join(" ← → ");
    const marks = [drawn("line", { x1: base, x2: base, y1: 0, y2: height, class: "base" })];
    marks.push(drawn("text", { x: width, y: height + 13, class: "tick end" }, end));
    if (profile.signed) marks.push(drawn("text", { x: 0, y: height + 13, class: "tick start" }, end));
    marks.push(drawn("text", { x: base, y: height + 13, class: "tick" }, "0"));
    marks.push(drawn("text", { x: width / 2, y: height + 26, class: "axis" }, words));
    return marks;
  }
  const words = profile.signed ? `share of each layer's heads: ${names[1]} up, ${names[0]} down` : "share of each layer's heads";
  const middle = height - base;
  const marks = [drawn("line", { x1: 0, x2: width, y1: middle, y2: middle, class: "base" })];
  marks.push(drawn("text", { x: -2, y: 8, class: "tick down" }, end));
  if (profile.signed) marks.push(drawn("text", { x: -2, y: height, class: "tick down" }, end));
  marks.push(drawn("text", { x: 0, y: height + 14, class: "axis start" }, words));
  return marks;
}
