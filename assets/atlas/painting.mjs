// @ts-check
// Quick painting: new colours on canvases above the maps, and new remarks in their titles, until plotly has drawn them.
import { byColour, colouring, remarkIn } from "./colours.mjs";
import { element } from "./elements.mjs";
import { axesOf, insidesIn, mapsIn } from "./graph.mjs";
import { numbers } from "./heads.mjs";
import { overlay } from "./outlines.mjs";
import { byId, PARTS } from "./page.mjs";

/** @typedef {import("./graph.mjs").Figure} Figure */
/** @typedef {import("./graph.mjs").Graph} Graph */
/** @typedef {import("./graph.mjs").Trace} Trace */
/** @typedef {import("./geometry.mjs").Axis} Axis */
/** @typedef {import("./geometry.mjs").Axes} Axes */

/**
 * Paint a figure over a graph that was laid out alike.
 * @param {Graph} drawn
 * @param {Figure} figure
 */
export function paint(drawn, figure) {
  const paper = getComputedStyle(byId(PARTS.frame)).backgroundColor;
  const traces = mapsIn(figure.data);
  const insides = insidesIn(figure.data);
  const canvases = [];
  for (const [map, axes] of axesOf(drawn, traces.length).entries()) {
    const canvas = painted(traces[map], insides[map], axes, paper);
    canvas.style.left = `${axes[0]._offset + drawn.offsetLeft}px`;
    canvas.style.top = `${axes[1]._offset + drawn.offsetTop}px`;
    canvases.push(canvas);
  }
  overlay("recoloured").replaceChildren(...canvases);
  writeRemarks(drawn, figure);
}

/** Take the canvases away: plotly shows the same. */
export function unpaint() {
  overlay("recoloured").replaceChildren();
}

/**
 * @param {Graph} drawn
 * @param {Figure} figure
 */
function writeRemarks(drawn, figure) {
  for (const [i, { text }] of figure.layout.annotations.entries()) {
    const remark = remarkIn(text);
    const lines = drawn.querySelectorAll(`g.annotation[data-index="${i}"] tspan`);
    if (remark !== null && lines.length) lines[lines.length - 1].textContent = remark;
  }
}

/**
 * A canvas of a map's squares.
 * @param {Trace} trace
 * @param {Trace | undefined} inside what is drawn over their middles
 * @param {Axes} axes
 * @param {string} paper
 */
function painted(trace, inside, [xAxis, yAxis], paper) {
  const scale = window.devicePixelRatio || 1;
  const canvas = sized([xAxis, yAxis], scale);
  const pen = canvas.getContext("2d");
  if (!pen) return canvas;
  pen.scale(scale, scale);
  pen.fillStyle = trace.meta || paper;
  pen.fillRect(0, 0, xAxis._length, yAxis._length);
  fillSquares(pen, trace, [xAxis, yAxis], scale, 0);
  if (inside) fillSquares(pen, inside, [xAxis, yAxis], scale, (inside.xgap - trace.xgap) / 2);
  return canvas;
}

/**
 * An empty canvas of a map's size.
 * @param {Axes} axes
 * @param {number} scale device pixels in a pixel
 */
function sized([xAxis, yAxis], scale) {
  const canvas = element("canvas");
  canvas.width = Math.round(xAxis._length * scale);
  canvas.height = Math.round(yAxis._length * scale);
  canvas.style.width = `${xAxis._length}px`;
  canvas.style.height = `${yAxis._length}px`;
  return canvas;
}

/**
 * One colour at a time, because changing the pen is what takes time.
 * @param {CanvasRenderingContext2D} pen
 * @param {Trace} trace
 * @param {Axes} axes
 * @param {number} scale
 * @param {number} margin pixels that are left out at the start of each square
 */
function fillSquares(pen, trace, [xAxis, yAxis], scale, margin) {
  const [rows, columns] = trace.z.shape.split(", ").map(Number);
  const values = numbers(trace.z.bdata, trace.z.dtype);
  const xs = edges(xAxis, columns, scale);
  const ys = edges(yAxis, rows, scale);
  for (const [colour, squares] of byColour(values, colouring(trace))) {
    pen.fillStyle = colour;
    for (const i of squares) {
      const column = i % columns;
      const row = Math.floor(i / columns);
      const top = Math.min(ys[row], ys[row + 1]); // rows go up or down
      const [width, height] = [xs[column + 1] - xs[column], Math.abs(ys[row + 1] - ys[row])];
      pen.fillRect(xs[column] + margin, top + margin, width - trace.xgap, height - trace.xgap);
    }
  }
}

/**
 * Where the squares of an axis begin and end, on whole device pixels.
 * @param {Axis} axis
 * @param {number} count
 * @param {number} scale
 */
function edges(axis, count, scale) {
  const places = [];
  for (let i = 0; i <= count; i++) places.push(Math.round(axis.l2p(i - 0.5) * scale) / scale);
  return places;
}
