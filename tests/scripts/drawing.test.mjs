// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { axisNames, isAlike, zoomed } from "../../assets/atlas/drawing.mjs";
import { axesOf, insidesIn, mapsIn } from "../../assets/atlas/graph.mjs";
import { axis } from "./samples.mjs";

/** @typedef {import("../../assets/atlas/graph.mjs").Figure} Figure */

/**
 * @param {Partial<Figure["layout"]>} [layout]
 * @returns {Figure}
 */
function figure(layout = {}) {
  const common = { width: 900, height: 300, uirevision: "model", font: { color: "#111111" }, annotations: [] };
  const axes = { xaxis: { range: [-0.5, 9.5] }, yaxis: { range: [4.5, -0.5] }, xaxis2: { range: [0, 1], fixedrange: true } };
  return { data: [], layout: { ...common, ...axes, ...layout } };
}

test("figures of one size, model and theme differ in colours alone", () => {
  assert.ok(isAlike(figure(), figure({ annotations: [{ text: "other" }] })));
  for (const layout of [{ width: 901 }, { height: 1 }, { uirevision: "other" }, { font: { color: "#eeeeee" } }]) {
    assert.ok(!isAlike(figure(), figure(layout)), JSON.stringify(layout));
  }
});

test("a figure keeps the ranges that were zoomed to, but for axes that are fixed", () => {
  const drawn = { _fullLayout: { xaxis: { range: [2, 4] }, yaxis: { range: [3, 1] }, xaxis2: { range: [5, 6] } } };
  const original = figure();
  const { layout } = zoomed(original, drawn);
  assert.deepEqual([layout.xaxis.range, layout.yaxis.range, layout.xaxis2.range], [[2, 4], [3, 1], [0, 1]]);
  assert.deepEqual(original.layout.xaxis.range, [-0.5, 9.5]);
  assert.deepEqual(axisNames(original), ["xaxis", "yaxis"]);
});

test("the maps of a figure come before the profiles beside them, and have the first axes", () => {
  const data = /** @type {any[]} */ ([{ type: "heatmap" }, { type: "heatmap" }, { type: "bar" }]);
  assert.equal(mapsIn(data).length, 2);
  assert.deepEqual(insidesIn(data), []);
  const inside = /** @type {any} */ ({ type: "heatmap", legendgroup: "inside" });
  assert.equal(mapsIn([...data, inside]).length, 2);
  assert.deepEqual(insidesIn([...data, inside]), [inside]);
  const layout = { xaxis: axis(3, 0), yaxis: axis(3, 0), xaxis2: axis(3, 50), yaxis2: axis(3, 0) };
  const drawn = /** @type {any} */ ({ _fullLayout: layout });
  assert.deepEqual(axesOf(drawn, 3).map(([x]) => x._offset), [0, 50]);
});
