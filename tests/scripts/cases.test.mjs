// @ts-check
// One table of cases for both languages: what the scripts' rules make of small results.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { rulesOver } from "../../assets/atlas/maps/index.mjs";
import { bufferOf, rendered } from "./rendered.mjs";

/** @type {(name: string) => any} */
const read = (name) => JSON.parse(readFileSync(new URL(`../cases/${name}.json`, import.meta.url), "utf8"));
const palettes = read("palettes");

for (const name of ["function", "causal", "behaviour", "ablation", "agreement", "besides"]) {
  const { defaults, results, cases } = read(name);
  for (const { name: title, result, state: changes, dark, expected } of cases) {
    test(`${name}: ${title}`, () => {
      const state = { ...defaults, ...changes };
      const { heads } = results[result].function || results[result]; // of several results all have as many
      const follow = rulesOver(bufferOf(results[result].numbers[state.also ? "also" : state.seed || ""]));
      /** @type {Record<string, any>} */
      const found = rendered(follow.view(state, palettes[state.palette][dark ? "dark" : "light"]), heads);
      const { panels, ...rest } = expected;
      assert.equal(found.panels.length, panels.length);
      for (const [i, panel] of panels.entries()) {
        for (const [key, value] of Object.entries(panel)) assert.deepEqual(found.panels[i][key], value, `${panel.key} ${key}`);
      }
      for (const [key, value] of Object.entries(rest)) assert.deepEqual(found[key], value, key);
    });
  }
}

const { defaults, results, cases } = read("comparison");
for (const { name, result, state: changes, dark, expected } of cases) {
  test(`comparison: ${name}`, () => {
    const state = { ...defaults, ...changes };
    const { numbers, function: first } = results[result];
    const also = state.also ? "also " : "";
    const [one, other] = ["function", "running"].map((basis) => rulesOver(bufferOf(numbers[also + basis])));
    const heads = /** @type {any} */ ({ layers: [...Array(first.layers).keys()], heads: first.heads, state });
    const change = one.against(other, heads, palettes[state.palette][dark ? "dark" : "light"]);
    assert.deepEqual(change && figureOf(change), expected);
  });
}

/**
 * What a change makes of the figure.
 * @param {import("../../assets/atlas/maps/index.mjs").Change} change
 */
function figureOf({ data, layout }) {
  const of = (/** @type {string} */ name) => /** @type {any[]} */ (data[name])[0];
  const numbers = (/** @type {string} */ name) => Array.from(of(name), (value) => Number(value.toFixed(6)));
  assert.equal(layout["shapes[1].x0"], layout["shapes[2].y0"]);
  return {
    names: of("customdata"),
    x: numbers("x"),
    y: numbers("y"),
    tone: of("meta").tone,
    colour: of("marker.color"),
    tau: layout["shapes[1].x0"],
  };
}
