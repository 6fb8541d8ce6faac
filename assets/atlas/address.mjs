// @ts-check
// The address: the view's query with the pins, written as the view changes. The server makes the query itself; only
// pins, which the server does not wait for, are put into it here.
import { copyText } from "./clipboard.mjs";
import { notify } from "./notes.mjs";
import { byId, PARTS, setStore } from "./page.mjs";
import { state } from "./state.mjs";

/** @type {{page: string | null, hasArrived: boolean}} */
const visited = {
  page: null, // model and view that the address last named
  hasArrived: true, // the next view comes from an address: opened, or gone back to
};

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
  const [path, query = ""] = address.split(/\?(.*)/s);
  const parts = query.split("&").filter((part) => part && !part.startsWith("pin="));
  if (pins.length) parts.push(`pin=${pins.join(".")}`);
  return parts.length ? `${path}?${parts.join("&")}` : path;
}

/**
 * What stands in the address bar: pins belong to a model, which is then named.
 * @param {string} query
 * @param {string[]} pins
 * @param {string} named the same query with the model, and so the weights, in it
 */
export function shownQuery(query, pins, named) {
  return pins.length ? withPins(query || named, pins) : query;
}

/**
 * What makes a page of the browser's history: another model or another view.
 * @param {string} query
 * @param {string} model
 */
export function pageOf(query, model) {
  return `${model} ${valueOf(query, "view")}`;
}

/**
 * Write the view into the address.
 * @param {string} query
 */
export function writeAddress(query) {
  state.query = query;
  const model = state.heads ? state.heads.model : "";
  const next = shownQuery(query, state.pins, state.heads ? state.heads.named : "") || location.pathname;
  const page = pageOf(query, model);
  const isNew = visited.page !== null && page !== visited.page && !visited.hasArrived;
  visited.page = page;
  visited.hasArrived = false;
  if ((location.search || location.pathname) === next) return;
  if (isNew) history.pushState(null, "", next);
  else history.replaceState(null, "", next);
}

/** Open the view of the address that the browser went back or forward to. */
export function goneBack() {
  visited.hasArrived = true;
  setStore(PARTS.address, location.search);
}

/**
 * Open another view, as a link to it would, without loading the page again; the pins stay.
 * @param {string} address
 */
export function openView(address) {
  visited.hasArrived = true;
  history.pushState(null, "", withPins(address, state.pins));
  setStore(PARTS.address, location.search);
}

/** Copy a link to this view, which names the model and the pins. */
export async function copyLink() {
  const query = state.heads ? state.heads.named : location.search;
  await copyText(location.origin + location.pathname + withPins(query, state.pins));
  const button = byId(PARTS.copy);
  button.textContent = "Copied";
  notify("Link copied");
  setTimeout(() => (button.textContent = "Copy link"), 1600);
}
