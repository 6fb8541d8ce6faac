// @ts-check
// The figures below the maps, which plotly draws: they follow the palette, and the one that compares two results all of
// the controls, by themselves.
import { plotly } from "./graph.mjs";
import { countOf } from "./heads.mjs";
import { toneOf } from "./maps/palette.mjs";
import { rulesAt } from "./numbers.mjs";
import { dash } from "./page.mjs";

/** @typedef {import("./graph.mjs").Graph} Graph */
/** @typedef {import("./heads.mjs").Heads} Heads */
/** @typedef {import("./maps/index.mjs").Follow} Follow */
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
  const points = pointsOf(one, other, heads);
  const card = graph.closest("section");
  if (card) dash().set_props(card.id, { hidden: !points });
  if (!points) return;
  const { x, y, names, tone } = points;
  const data = { x: [x], y: [y], customdata: [names], meta: [{ tone }], "marker.color": [toneOf(palette, tone)] };
  const tau = Number(heads.state.tau);
  const lines = { "shapes[1].x0": tau, "shapes[1].x1": tau, "shapes[2].y0": tau, "shapes[2].y1": tau };
  plotly().update(graph, data, lines, [0]);
}

/**
 * A point for each head that has both scores and is not 0 in both; null for a relation that only one result has.
 * @param {Follow} one
 * @param {Follow} other
 * @param {Pick<Heads, "layers" | "heads" | "state">} heads
 */
export function pointsOf(one, other, heads) {
  const theirs = new Set(other.facts.items.map((/** @type {{name: string}} */ item) => item.name));
  const shared = one.facts.items.filter((/** @type {{name: string}} */ item) => theirs.has(item.name));
  const relation = String(heads.state.relation);
  const wanted = relation ? shared.filter((/** @type {{name: string}} */ item) => item.name === relation) : shared;
  if (!wanted.length) return null;
  const items = wanted.map((/** @type {{name: string}} */ item) => item.name);
  const [across, up] = [one, other].map((each) => each.scores(items, heads.state));
  const [x, y, names] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([]), /** @type {string[]} */ ([])];
  for (let head = 0; head < countOf(heads); head++) {
    if (!(across[head] > 0 || up[head] > 0) || Number.isNaN(across[head] + up[head])) continue;
    x.push(across[head]);
    y.push(up[head]);
    names.push(`L${heads.layers[Math.floor(head / heads.heads)]}H${head % heads.heads}`);
  }
  return { x, y, names, tone: relation ? wanted[0].category : "" };
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
