// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { wrongColours } from "../../assets/atlas/figures.mjs";
import { nearestBeyond } from "../../assets/atlas/maps/function_labels.mjs";
import { highestOf, inLayers, nearest, stacked } from "../../assets/atlas/layers.mjs";

const profile = {
  names: ["A", "B"],
  colours: ["#111111", "#222222"],
  shares: [Float32Array.of(0.5, 0), Float32Array.of(0.25, 0.5)],
  signed: false,
};

test("bars are stacked from the bottom, each layer by its own heads", () => {
  assert.equal(highestOf(profile), 0.75);
  const bars = stacked(profile, [3, 8], { width: 100, height: 75 }, 0.75);
  assert.deepEqual(bars.map(({ y, height, colour }) => [y, height, colour]), [
    [25, 50, "#111111"], [0, 25, "#222222"], [25, 50, "#222222"],
  ]);
  assert.equal(bars[2].words, "layer 8: B 50 %");
});

test("with a zoom only the layers in view have bars", () => {
  const { first, layers, shown } = inLayers(profile, [3, 8], { from: 0.6, count: 1.4 });
  assert.deepEqual([first, layers, shown.shares], [1, [8], [Float32Array.of(0), Float32Array.of(0.5)]]);
  assert.equal(inLayers(profile, [3, 8], null).shown, profile);
});

test("where no head is above τ, the nearest is named", () => {
  /** @type {(values: number[]) => any} */
  const heads = (values) => ({
    layers: [0, 4], heads: 2, panels: [{ measures: [{ values: () => Float64Array.from(values) }] }],
  });
  assert.equal(nearest(heads([0, 0.1, 0.14, 0])), "No head is above τ; the nearest is L4H0 with a score of 0.14.");
  assert.equal(
    nearest(heads([0, 0.92, 0.14, 0]), { head: 2, score: 0.14 }),
    "No head is above τ; the nearest is L4H0 with a score of 0.14 by labels beyond copying.",
  );
  assert.equal(nearest(heads([0.92]), null), "No head is above τ: no label beyond copying has a score above 0.");
  assert.equal(nearest(heads([0, 0, 0, NaN])), "No head is above τ: all scores are 0.");
  assert.equal(nearest({ ...heads([]), isWaiting: true }), "No head is above τ.");
});

test("the nearest head beyond copying is so by labels neither copy-like nor unspecific, of a kind that counts", () => {
  /** @type {any} */
  const labels = {
    size: 2, kinds: ["promote", "suppress"], items: [{}],
    score: Float64Array.of(0.9, 0.1, 0.5, 0.12), copies: Uint8Array.of(1, 0, 0, 0), control: Float64Array.of(0, 0, 0.4, 0),
  };
  /** @type {any} */
  const state = { kind: "both", tau: 0.15, how: "any" };
  assert.deepEqual(nearestBeyond(labels, [[0]], state), { head: 1, score: 0.12 });
  assert.deepEqual(nearestBeyond(labels, [[0]], { ...state, kind: "promote" }), { head: 1, score: 0.1 });
  assert.equal(nearestBeyond({ ...labels, score: new Float64Array(4) }, [[0]], state), null);
});

test("lines and points of another palette are found, and no others", () => {
  /** @type {any} */
  const palette = { accent: "#aa0000", tones: { facilitation: "#00aa00", interference: "#0000aa", other: "#c0c0c0" } };
  const data = [
    { mode: "lines", meta: { tone: "facilitation" }, line: { color: "#ffffff" } },
    { mode: "lines", meta: { tone: "interference" }, line: { color: "#0000aa" } },
    { mode: "markers", meta: { tone: "" }, marker: { color: "#ffffff" } },
    { mode: "lines", line: { color: "#ffffff" } },
  ];
  assert.deepEqual(wrongColours(data, "line", palette), { colours: ["#00aa00"], traces: [0] });
  assert.deepEqual(wrongColours(data, "marker", palette), { colours: ["#aa0000"], traces: [2] });
});
