// @ts-check
// The parts of the page that the scripts know by id, and the stores of Dash.

/** Every id that the scripts use; dashboard/page/ids.py marks the same ones. */
export const PARTS = Object.freeze({
  address: "address",
  copy: "copy",
  counts: "counts",
  drawer: "drawer",
  finished: "finished",
  followed: "followed",
  form: "new-form",
  frame: "frame",
  fresh: "fresh",
  heading: "heading",
  heads: "heads",
  help: "help",
  inspector: "inspector",
  jobs: "jobs",
  legend: "legend",
  live: "live",
  maps: "maps",
  pairs: "pairs",
  pairsAbout: "pairs-about",
  pairsTable: "pairs-table",
  pins: "pins",
  profile: "profile",
  provider: "provider",
  screen: "screen",
  search: "search",
  sentence: "sentence",
  submit: "new-submit",
  table: "table",
  tableClear: "table-clear",
  tableCount: "table-count",
  theme: "theme",
  transpose: "transpose",
});

/**
 * @typedef {object} Dash
 * @property {(id: string, properties: Record<string, unknown>) => void} set_props
 * @property {unknown} no_update
 * @property {Record<string, Function>} [atlas]
 */

/**
 * What Dash offers to scripts.
 * @returns {Dash}
 */
export function dash() {
  const holder = /** @type {{dash_clientside: Dash}} */ (/** @type {unknown} */ (window));
  return holder.dash_clientside;
}

/**
 * What Dash's store holds of a component; null when the page has no such component.
 * @param {string} id
 * @returns {Record<string, unknown> | null}
 */
export function propsOf(id) {
  /** @typedef {{getLayout: (id: string) => {props: Record<string, unknown>} | undefined}} Api */
  const holder = /** @type {{dash_component_api: Api}} */ (/** @type {unknown} */ (window));
  return holder.dash_component_api.getLayout(id)?.props || null;
}

/**
 * Do something when what was drawn by now is on the screen.
 * @param {() => void} work
 */
export function afterPainting(work) {
  requestAnimationFrame(() => setTimeout(work));
}

/**
 * Set the data of a store.
 * @param {string} id
 * @param {unknown} data
 */
export function setStore(id, data) {
  dash().set_props(id, { data });
}

/**
 * A part of the page that is always there.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const part = document.getElementById(id);
  if (!part) throw new Error(`the page has no part ${id}`);
  return part;
}

/**
 * The element nearest to where an event happened that a selector matches.
 * @param {Event} event
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export function near(event, selector) {
  const target = event.target instanceof Element ? event.target : null;
  return /** @type {HTMLElement | null} */ (target && target.closest(selector));
}
