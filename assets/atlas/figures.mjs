// @ts-check
// The figures below the maps, which plotly draws: they follow the palette, and the one that compares two results all of
// the controls, by themselves.
import { plotly } from "./graph.mjs";
import { toneOf } from "./maps/palette.mjs";
import { rulesAt } from "./numbers.mjs";
import { dash } from "./page.mjs";

/** @typedef {import("./graph.mjs").Graph} Graph */
/** @typedef {import("./heads.mjs").Heads} Heads */
/** @typedef {import("./maps/palette.mjs").Palette} Palette */

/**
 * All of them in another view of the same map.
 * @param {Heads} heads
 * @param {Palette} palette
 */
export async function followFigures(heads, palette) {
  recolour(palette);
  const graph = /** @type {Graph | null} */ (document.querySelector(".head-points .js-plotly-plot"));
  if (heads.compared.length < 2 || !graph || !graph.data) return;
  const [one, other] = await Promise.all(heads.compared.map(rulesAt));
  const change = one.against(other, heads, palette);
  const card = graph.closest("section");
  if (card) dash().set_props(card.id, { hidden: !change });
  if (change) plotly().update(graph, change.data, change.layout, [0]);
}

/**
 * Give lines and points the colours of a palette, by what each is about.
 * @param {Palette} palette
 */
export function recolour(palette) {
  for (const part of document.querySelectorAll(".sections .js-plotly-plot")) {
    const graph = /** @type {Graph} */ (part);
    if (graph.offsetParent === null || !graph.data) continue; // folded away: when it is opened
    for (const kind of ["marker", "line"]) {
      const { colours, traces } = wrongColours(graph.data, kind, palette);
      if (traces.length) plotly().restyle(graph, { [`${kind}.color`]: colours }, traces);
    }
  }
}

/**
 * The traces whose colour is another palette's, and the colours that they are to have.
 * @param {any[]} data
 * @param {string} kind
 * @param {Palette} palette
 */
export function wrongColours(data, kind, palette) {
  /** @type {{colours: string[], traces: number[]}} */
  const recoloured = { colours: [], traces: [] };
  for (const [i, trace] of data.entries()) {
    const isMine = (trace.mode === "markers") === (kind === "marker");
    if (!isMine || trace.meta?.tone === undefined) continue;
    const colour = toneOf(palette, trace.meta.tone);
    if (trace[kind]?.color === colour) continue;
    recoloured.colours.push(colour);
    recoloured.traces.push(i);
  }
  return recoloured;
}
