// @ts-check
// Drawing the maps. The panels are laid out when their number, the model or the window changes; else they are only painted.
import { arrange } from "./arrange.mjs";
import { mostOf } from "./bars.mjs";
import { sizeOf } from "./geometry.mjs";
import { countOf } from "./heads.mjs";
import { drawCursor, drawPins } from "./outlines.mjs";
import { byId, PARTS } from "./page.mjs";
import { room } from "./screen.mjs";
import { drawProfile, layOut, paintSquares, writeAxes, writeName, writeTitle } from "./sheet.mjs";
import { state } from "./state.mjs";
import { forgetZoom, onZoom, sightOf, zoomed } from "./zoom.mjs";
import { showZoom } from "./zoom_tools.mjs";

/** @typedef {import("./arrange.mjs").Task} Task */
/** @typedef {import("./heads.mjs").Heads} Heads */
/** @typedef {import("./sheet.mjs").Piece} Piece */

/** @type {{task: string, pieces: Piece[], model: string}} */
const sheet = { task: "", pieces: [], model: "" };

onZoom(redraw);

/**
 * What is to be laid out.
 * @param {Pick<Heads, "panels" | "drawn" | "layers" | "heads" | "across" | "upward" | "largest">} heads
 * @param {{width: number, height: number}} window
 * @returns {Task}
 */
export function taskOf(heads, window) {
  const panels = heads.panels.slice(0, heads.drawn);
  const [columns, rows] = sizeOf(heads);
  const named = new Set(panels.map((panel) => panel.column).filter(Boolean));
  const hasProfile = heads.drawn === heads.panels.length && panels.some((panel) => panel.profile);
  const profile = hasProfile ? (heads.across ? "beside" : "below") : "";
  const alike = !panels[0]?.leads;
  return { count: panels.length, columns, rows, ...window, largest: heads.largest, profile, beside: named.size, alike };
}

/**
 * Show the maps of a view.
 * @param {Heads} heads
 */
export function show(heads) {
  showColours(heads);
  paintAround();
}

/**
 * The same, but for what stands around the squares. It may come a moment later.
 * @param {Heads} heads
 */
export function showColours(heads) {
  if (sheet.model && heads.model !== sheet.model) forgetZoom();
  state.heads = heads;
  sheet.model = heads.model;
  const task = taskOf(heads, room());
  const wanted = JSON.stringify([task, heads.across, heads.upward]);
  if (wanted !== sheet.task) {
    const place = arrange(task);
    sheet.pieces = layOut(byId(PARTS.maps), place);
    sheet.task = wanted;
    state.boxes = place.boxes;
    drawPlaces(heads);
  }
  paintColours();
  tellPainted();
}

/** Draw all panels again: after another zoom. */
function redraw() {
  if (!state.heads) return;
  drawPlaces(state.heads);
  paintColours();
  paintAround();
  tellPainted();
}

/**
 * What follows from where the squares are.
 * @param {Heads} heads
 */
function drawPlaces(heads) {
  state.sight = sightOf(zoomed(), heads);
  for (const [i, piece] of sheet.pieces.entries()) {
    writeAxes(piece, heads, state.sight);
    writeName(piece, heads.panels[i]);
  }
  drawCursor();
  drawPins();
  showZoom(heads, state.sight, zoomed() !== null);
}

/** The squares; beside the table the heads that its filter leaves out are faded. */
export function paintColours() {
  const { heads, sight, left } = state;
  if (!heads || !sight) return;
  const faded = heads.onlyFirst && left?.length === countOf(heads) ? left : null;
  for (const [i, piece] of sheet.pieces.entries()) paintSquares(piece, heads.panels[i], heads, sight, faded);
}

/** What changes with the squares: how many heads each panel's title counts, and the layer profiles. */
export function paintAround() {
  const { heads, sight } = state;
  if (!heads || !sight) return;
  const most = mostOf(heads.panels.map((panel, i) => (sheet.pieces[i]?.side ? panel.profile : null)));
  for (const [i, piece] of sheet.pieces.entries()) {
    writeTitle(piece, heads.panels[i]);
    drawProfile(piece, heads.panels[i].profile, heads, sight, most);
  }
}

/** The window has another size or another number of pixels. */
export function fit() {
  if (state.heads) show(state.heads);
}

/** For those who measure: the new colours are on the screen. */
function tellPainted() {
  document.dispatchEvent(new Event("atlas-painted"));
}
