// @ts-check
// The figures below the maps, which plotly draws as soon as they come near the window. They follow the palette, and the one
// that compares two results all of the controls, by themselves.
import { element } from "./elements.mjs";
import { plotly } from "./graph.mjs";
import { toneOf } from "./maps/palette.mjs";
import { rulesAt } from "./numbers.mjs";
import { byId, dash } from "./page.mjs";
import { listenToPoints } from "./points.mjs";
import { rules } from "./rules.mjs";
import { isDark } from "./screen.mjs";
import { state } from "./state.mjs";

/** @typedef {import("./graph.mjs").Graph} Graph */
/** @typedef {import("./heads.mjs").Heads} Heads */
/** @typedef {import("./maps/palette.mjs").Palette} Palette */
/** @typedef {{data: any[], layout: Record<string, any>}} Figure */

/**
 * @typedef {object} Place of a figure on the page
 * @property {Figure} figure the last that has come
 * @property {boolean} isDrawn
 * @property {boolean} isNear
 * @property {HTMLElement} graph
 */

const CONFIG = { displayModeBar: false };
const NEAR = 150; // pixels below the window in which a figure is drawn, though nobody sees it yet

/** @type {Map<Element, Place>} */
const places = new Map(); // by their holders

/** @type {{near: IntersectionObserver | null, sizes: ResizeObserver | null}} */
const watching = { near: null, sizes: null };

/**
 * A figure has come from the server: it is drawn at once, or when its holder comes near the window.
 * @param {Figure | null | undefined} figure
 * @param {string} id of its holder
 */
export function showFigure(figure, id) {
  if (!figure) return;
  const place = placeIn(byId(id), figure);
  place.figure = figure;
  place.isDrawn = false;
  if (place.isNear) draw(place);
}

/**
 * @param {HTMLElement} holder
 * @param {Figure} figure
 * @returns {Place}
 */
function placeIn(holder, figure) {
  const known = places.get(holder);
  if (known) return known;
  const place = { figure, isDrawn: false, isNear: false, graph: element("div") };
  holder.append(place.graph);
  places.set(holder, place);
  watching.near ??= new IntersectionObserver(moved, { rootMargin: `0px 0px ${NEAR}px` });
  watching.sizes ??= new ResizeObserver(resized);
  watching.near.observe(holder);
  watching.sizes.observe(holder);
  return place;
}

/**
 * Holders have come near the window or have left it; what is folded away is not near.
 * @param {IntersectionObserverEntry[]} entries
 */
function moved(entries) {
  for (const { target, isIntersecting } of entries) {
    const place = places.get(target);
    if (!place) continue;
    place.isNear = isIntersecting;
    if (isIntersecting && !place.isDrawn) draw(place);
  }
}

/**
 * Holders have another size: figures without a width of their own follow.
 * @param {ResizeObserverEntry[]} entries
 */
async function resized(entries) {
  for (const { target, contentRect } of entries) {
    const place = places.get(target);
    if (place?.isDrawn && !place.figure.layout.width && contentRect.width) (await plotly()).Plots.resize(place.graph);
  }
}

/**
 * @param {Place} place
 */
async function draw(place) {
  const { figure, graph } = place;
  const { react } = await plotly();
  if (place.figure !== figure || place.isDrawn) return; // another has come, or it was asked for twice
  place.isDrawn = true;
  const { data, layout } = structuredClone(figure); // plotly writes into what it is given
  const size = layout.width ? {} : { height: undefined, autosize: true };
  const drawn = await react(graph, data, { ...layout, ...size }, CONFIG);
  if (graph.closest(".head-points")) listenToPoints(drawn);
  if (state.heads) followFigures(state.heads, paletteOf(state.heads));
}

/**
 * @param {Heads} heads
 */
function paletteOf(heads) {
  return rules().palettes[String(heads.state.palette)][isDark() ? "dark" : "light"];
}

/**
 * All of them in another view of the same map.
 * @param {Heads} heads
 * @param {Palette} palette
 */
export async function followFigures(heads, palette) {
  recolour(palette);
  const holder = document.querySelector(".head-points");
  const place = holder && places.get(holder);
  if (heads.compared.length < 2 || !place) return;
  const [one, other] = await Promise.all(heads.compared.map(rulesAt));
  const change = one.against(other, heads, palette);
  const card = holder.closest("section");
  if (card) dash().set_props(card.id, { hidden: !change });
  if (change && place.isDrawn) (await plotly()).update(place.graph, change.data, change.layout, [0]);
}

/**
 * Give lines and points the colours of a palette, by what each is about.
 * @param {Palette} palette
 */
export async function recolour(palette) {
  for (const { graph, isDrawn } of places.values()) {
    const { data } = /** @type {Graph} */ (graph);
    if (graph.offsetParent === null || !isDrawn || !data) continue; // folded away: when it is opened
    for (const kind of ["marker", "line"]) {
      const { colours, traces } = wrongColours(data, kind, palette);
      if (traces.length) (await plotly()).restyle(graph, { [`${kind}.color`]: colours }, traces);
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
