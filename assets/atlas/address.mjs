// @ts-check
// The address: the view's query as it is made elsewhere, with what the browser looks after itself: pins, zoom, and the
// table's sort and filter. Every change is a step of the history, but for those that go on while a hand moves.
import { copyText } from "./clipboard.mjs";
import { notify } from "./notes.mjs";
import { byId, PARTS, setStore } from "./page.mjs";
import { replaced } from "./query.mjs";
import { state } from "./state.mjs";
import { onZoom, readZoom, setZoom, zoomed, zoomText } from "./zoom.mjs";

/** @typedef {import("./heads.mjs").Heads} Heads */
/** @typedef {import("./query.mjs").Setting} Setting */
/** @typedef {{zoom?: string, sort?: string, filter?: string, pin?: string}} Own what the browser puts into an address */

const OWN = /** @type {const} */ (["zoom", "sort", "filter", "pin"]); // in the order in which they are written
const GESTURE = 1000; // milliseconds within which changes of one number, zoom or filter are one step back

/**
 * @typedef {object} Visited
 * @property {string | null} model
 * @property {boolean} hasArrived
 * @property {string} arrived
 * @property {string[]} passed
 * @property {string[] | null} pins
 * @property {Map<Setting, unknown>} controls
 * @property {string} keys
 * @property {number} at
 * @property {boolean} isTaking
 */

/** @type {Visited} */
const visited = {
  model: null, // that the address last named
  hasArrived: true, // the next view comes from an address: opened, or gone back to
  arrived: "", // that address
  passed: [], // addresses gone through meanwhile, whose views may come late
  pins: null, // set while that view was on its way, which brings those of its address
  controls: new Map(), // set by hand meanwhile, and what they said
  keys: "", // what was changed last, and when
  at: 0,
  isTaking: false, // the zoom of an address is being taken over
};

/** @type {(() => void)[]} */
const arrivals = [];

onZoom((zoom) => {
  if (!state.heads || visited.isTaking) return;
  state.zoom = zoom ? zoomText(zoom, state.heads.layers) : "";
  rewriteAddress(["zoom"]);
});

/**
 * The value of a key in a query string; empty when there is none.
 * @param {string} query
 * @param {string} key
 */
export function valueOf(query, key) {
  return new URLSearchParams(query).get(key) || "";
}

/**
 * An address with these pins instead of its own; the rest stays as it is written.
 * @param {string} address
 * @param {string[]} pins
 */
export function withPins(address, pins) {
  return withOwn(address, { pin: pins.join(".") }, ["pin"]);
}

/**
 * An address with these values instead of its own; empty ones are left out, the rest stays as it is written.
 * @param {string} address
 * @param {Own} values
 * @param {readonly (keyof Own)[]} [keys] those that are replaced
 */
export function withOwn(address, values, keys = OWN) {
  /** @type {Record<string, string>} */
  const texts = {};
  for (const key of keys) texts[key] = values[key] || "";
  return replaced(address, texts);
}

/**
 * What stands in the address bar: pins and zoom belong to a model, which is then named.
 * @param {string} query
 * @param {Own} values
 * @param {string} named the same query with the model, and so the weights, in it
 */
export function shownQuery(query, values, named) {
  return Object.values(values).some(Boolean) ? withOwn(query || named, values) : query;
}

/**
 * The keys whose values differ between two query strings. The model is one only when it is another: the default one
 * need not be named.
 * @param {string} before
 * @param {string} after
 * @param {boolean} isAnotherModel
 */
export function changedKeys(before, after, isAnotherModel) {
  const [old, now] = [new URLSearchParams(before), new URLSearchParams(after)];
  const keys = [...new Set([...old.keys(), ...now.keys()])].filter((key) => key !== "model");
  const changed = keys.filter((key) => old.get(key) !== now.get(key));
  return (isAnotherModel ? ["model", ...changed] : changed).sort();
}

/**
 * Whether a change goes on while a hand moves: a slider, the zoom, a filter that is being typed.
 * @param {string[]} keys what changed
 * @param {string} before
 * @param {string} after
 */
export function isGesture(keys, before, after) {
  if (keys.length !== 1) return false;
  const value = valueOf(after, keys[0]) || valueOf(before, keys[0]);
  return keys[0] === "zoom" || keys[0] === "filter" || (value !== "" && Number.isFinite(Number(value)));
}

/**
 * What the browser looks after, as the address of a view has it: the table's part only where there is a table.
 * @param {string} query
 * @returns {Own}
 */
function ownValues(query) {
  const isTable = valueOf(query, "view") === "table";
  const { zoom, sort, filter, pins } = state;
  return { zoom, sort: isTable ? sort : "", filter: isTable ? filter : "", pin: pins.join(".") };
}

/**
 * Write the view into the address.
 * @param {string} query
 */
export function writeAddress(query) {
  state.query = query;
  const model = state.heads ? state.heads.model : "";
  const isAnother = visited.model !== null && visited.model !== model;
  if (visited.hasArrived) takeOwn();
  else if (isAnother) state.zoom = "";
  const named = state.heads ? state.heads.named : "";
  if (visited.hasArrived && isOneOf(visited.passed, shownQuery(query, ownValues(query), named))) return;
  if (visited.pins) setStore(PARTS.pins, (state.pins = visited.pins));
  visited.pins = null;
  const next = shownQuery(query, ownValues(query), named);
  const hasArrived = visited.hasArrived;
  writeHistory(location.search, next, isAnother);
  visited.model = model;
  visited.hasArrived = false;
  visited.passed = [];
  if (hasArrived) for (const listener of arrivals) listener();
}

/**
 * Be told when the view of an address has come: opened, or gone back to.
 * @param {() => void} listener
 */
export function onArrival(listener) {
  arrivals.push(listener);
}

/**
 * Whether an address is among some, whatever the browser alone looks after but for the pins.
 * @param {string[]} addresses
 * @param {string} address
 */
export function isOneOf(addresses, address) {
  const bare = (/** @type {string} */ text) => withOwn(text, {}, ["zoom", "sort", "filter"]);
  return addresses.map(bare).includes(bare(address));
}

/**
 * A new step of the history, or the last one written again.
 * @param {string} before
 * @param {string} after
 * @param {boolean} isAnotherModel
 */
function writeHistory(before, after, isAnotherModel) {
  if (before === after) return;
  const keys = changedKeys(before, after, isAnotherModel);
  const goesOn = isGesture(keys, before, after) && keys.join() === visited.keys && Date.now() - visited.at < GESTURE;
  if (visited.hasArrived || !keys.length || goesOn) history.replaceState(null, "", after || location.pathname);
  else history.pushState(null, "", after || location.pathname);
  visited.keys = keys.join();
  visited.at = Date.now();
}

/** Take over what an address says that the server does not look after. */
function takeOwn() {
  state.sort = valueOf(location.search, "sort");
  state.filter = valueOf(location.search, "filter");
  if (state.heads) takeZoom(state.heads);
}

/**
 * Zoom as the address says, as far as a model has such layers and heads.
 * @param {Pick<Heads, "layers" | "heads">} heads
 */
export function takeZoom(heads) {
  const zoom = readZoom(valueOf(location.search, "zoom"), heads);
  state.zoom = zoom ? zoomText(zoom, heads.layers) : "";
  if (JSON.stringify(zoom) === JSON.stringify(zoomed())) return;
  visited.isTaking = true;
  setZoom(zoom);
  visited.isTaking = false;
}

/**
 * Write what the browser looks after into the address, when it has changed. While the view of an address is on its way, the
 * change belongs to that view: it is put into its address, from which it is taken over again when the view has come.
 * @param {(keyof Own)[]} keys what has changed
 */
export function rewriteAddress(keys) {
  if (!visited.hasArrived) return writeAddress(state.query);
  const { search, pathname } = location;
  history.replaceState(null, "", withOwn(search, ownValues(search), keys) || pathname);
}

/**
 * The view was changed in the browser. While that of an address is on its way there is nothing to write: it replaces this
 * one.
 * @param {string} query
 */
export function followAddress(query) {
  if (!visited.hasArrived) writeAddress(query);
}

/** Pins were set by hand: while the view of an address is on its way they are kept for it. */
export function keepPins() {
  if (!visited.hasArrived) return;
  visited.pins = state.pins;
  rewriteAddress(["pin"]);
}

/**
 * A control was set by hand: while the view of an address is on its way this is kept for it.
 * @param {Setting} setting
 * @param {unknown} given
 */
export function keepControl(setting, given) {
  if (visited.hasArrived) visited.controls.set(setting, given);
}

/** The controls that were set by hand while a view was on its way, with what they said; asked for once. */
export function keptControls() {
  const kept = [...visited.controls];
  visited.controls.clear();
  return kept;
}

/** Open the view of the address that the browser went back or forward to. */
export function goneBack() {
  if (visited.hasArrived) visited.passed.push(visited.arrived);
  visited.pins = null;
  visited.controls.clear();
  visited.hasArrived = true;
  visited.arrived = location.search;
  takeOwn();
  setStore(PARTS.address, location.search);
}

/**
 * Open another view, as a link to it would, without loading the page again; pins and zoom stay.
 * @param {string} address
 */
export function openView(address) {
  visited.hasArrived = true;
  const { zoom, pins } = state;
  history.pushState(null, "", withOwn(address, { zoom, pin: pins.join(".") }, ["zoom", "pin"]));
  setStore(PARTS.address, location.search);
}

/** Copy a link to this view, which names the model and the pins. */
export async function copyLink() {
  const query = state.heads ? state.heads.named : location.search;
  await copyText(location.origin + location.pathname + withOwn(query, ownValues(query)));
  const button = byId(PARTS.copy);
  button.textContent = "Copied";
  notify("Link copied");
  setTimeout(() => (button.textContent = "Copy link"), 1600);
}
