// @ts-check
// Drawing the maps. Plotly takes a tenth of a second for five big maps: when only colours change they are painted at
// once, and plotly follows when nothing has changed for a moment.
import { graph, insidesIn, mapsIn, plotly, whenDrawn } from "./graph.mjs";
import { drawCursor, drawPins } from "./outlines.mjs";
import { dash, PARTS } from "./page.mjs";
import { paint, unpaint } from "./painting.mjs";

/** @typedef {import("./graph.mjs").Figure} Figure */
/** @typedef {import("./graph.mjs").Graph} Graph */
/** @typedef {import("./graph.mjs").Trace} Trace */

const REST = 300; // milliseconds without a change before plotly follows

/**
 * @typedef {object} Screen
 * @property {Figure | null} shown what the screen shows
 * @property {Figure | null} waiting what plotly has still to draw
 * @property {ReturnType<typeof setTimeout> | undefined} follow
 */

/** @type {Screen} */
const screen = { shown: null, waiting: null, follow: undefined };

/**
 * Whether two figures differ in colours alone, so that one can be painted over the other.
 * @param {Figure} one
 * @param {Figure} other
 */
export function isAlike(one, other) {
  return shape(one) === shape(other);
}

/**
 * @param {Figure} figure
 */
function shape({ data, layout }) {
  return JSON.stringify([data.length, layout.width, layout.height, layout.uirevision, layout.font.color]);
}

/**
 * Show a figure: painted where that is enough, else drawn by plotly.
 * @param {Figure} figure
 */
export function show(figure) {
  const before = screen.shown;
  const drawn = graph();
  screen.shown = figure;
  clearTimeout(screen.follow);
  if (before && drawn && isAlike(before, figure)) {
    screen.waiting = figure;
    paint(drawn, figure);
    tellPainted();
    screen.follow = setTimeout(() => hand(zoomed(figure, drawn)), REST);
    return;
  }
  screen.waiting = null;
  hand(before && drawn && keepsZoom(before, figure) ? zoomed(figure, drawn) : figure);
  whenDrawn(afterPlot);
}

/**
 * @param {Figure} figure
 */
function hand(figure) {
  dash().set_props(PARTS.maps, { figure });
}

/**
 * @param {Figure} before
 * @param {Figure} figure
 */
function keepsZoom(before, figure) {
  return before.layout.uirevision === figure.layout.uirevision && before.data.length === figure.data.length;
}

/**
 * The names of the axes that can be zoomed.
 * @param {Figure} figure
 */
export function axisNames({ layout }) {
  return Object.keys(layout).filter((name) => /^[xy]axis/.test(name) && !layout[name].fixedrange);
}

/**
 * The same figure with the ranges that a person has zoomed to.
 * @param {Figure} figure
 * @param {Pick<Graph, "_fullLayout">} drawn
 * @returns {Figure}
 */
export function zoomed(figure, drawn) {
  const layout = { ...figure.layout };
  for (const name of axisNames(figure)) {
    const range = [...drawn._fullLayout[name].range];
    layout[name] = { ...layout[name], range };
  }
  return { ...figure, layout };
}

/** Show all heads again. */
export function resetZoom() {
  const figure = screen.shown;
  const drawn = graph();
  if (!figure || !drawn) return;
  /** @type {Record<string, number[]>} */
  const ranges = {};
  for (const name of axisNames(figure)) ranges[`${name}.range`] = [...figure.layout[name].range];
  plotly().relayout(drawn, ranges);
}

/** What follows when plotly has drawn: canvases go once it shows the same, and outlines are placed again. */
export function afterPlot() {
  const drawn = graph();
  if (!drawn) return;
  if (screen.waiting && hasDrawn(drawn, screen.waiting)) screen.waiting = null;
  if (screen.waiting) paint(drawn, screen.waiting);
  else unpaint();
  drawCursor();
  drawPins();
  tellPainted();
}

/**
 * Whether plotly's graph has the colours of a figure.
 * @param {Graph} drawn
 * @param {Figure} figure
 */
function hasDrawn(drawn, figure) {
  const maps = [...mapsIn(drawn.data || []), ...insidesIn(drawn.data || [])];
  const wanted = [...mapsIn(figure.data), ...insidesIn(figure.data)];
  return maps.length > 0 && wanted.every((map, i) => maps[i] && sameNumbers(maps[i], map));
}

/**
 * @param {{z: any}} drawn plotly may have unpacked it
 * @param {Trace} map
 */
function sameNumbers(drawn, map) {
  return (drawn.z?.bdata || drawn.z?._inputArray?.bdata) === map.z.bdata;
}

/** For those who measure: the new colours are on the screen. */
function tellPainted() {
  document.dispatchEvent(new Event("atlas-painted"));
}
