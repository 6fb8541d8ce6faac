// @ts-check
// What the page's buttons and links do when they are clicked.
import { copyLink, openView, withPins } from "./address.mjs";
import { copyTable, downloadTable } from "./clipboard.mjs";
import { lower } from "./drawer.mjs";
import { submitForm } from "./form.mjs";
import { cancelJob, forgetJob, retryJob } from "./jobs.mjs";
import { dash, near, PARTS } from "./page.mjs";
import { pairsFile, showPairs } from "./pairs.mjs";
import { queryString } from "./query.mjs";
import { downloadPicture } from "./pictures.mjs";
import { exchange, pin, unpin } from "./pins.mjs";
import { changeSet, deleteSet, forgetModel, renameSet } from "./results.mjs";
import { state } from "./state.mjs";
import { clearFilter, headsFile } from "./table.mjs";

/**
 * By the attribute that a button carries, what it does.
 * @type {Record<string, (button: HTMLElement, value: string) => unknown>}
 */
const ACTIONS = {
  pin: (_, name) => pin(name, true),
  unpin: (_, name) => unpin(name),
  instead: (_, names) => exchange(names.split(" ")[0], names.split(" ")[1]),
  picture: (button, format) => downloadPicture(ofThisView(button.dataset.figure || ""), format),
  export: (link) => link.setAttribute("href", withPins(ofThisView(link.getAttribute("href") || ""), state.pins)),
  page: (link, key) => link.setAttribute("href", pageOfModel(link, key)),
  pairs: (button) => showPairs(button),
  csv: (_, id) => downloadTable(id, id === PARTS.table ? headsFile() : pairsFile()),
  erase: (button, fingerprint) => confirm(button.dataset.sure) && forgetModel(fingerprint),
  rename: (button, id) => renameSet(id, button.dataset.name || ""),
  hide: (button, id) => changeSet(id, { hidden: button.dataset.hidden === "1" }),
  drop: (button, id) => confirm(button.dataset.sure) && deleteSet(id),
  copy: (_, id) => copyTable(id),
  cancel: (_, id) => cancelJob(id),
  retry: (_, id) => retryJob(id),
  forget: (_, id) => forgetJob(id),
  fold: (button) => button.setAttribute("aria-expanded", String(button.getAttribute("aria-expanded") !== "true")),
  lower,
};

/**
 * An address of the server with the view on the page, which may be another than when the link was made.
 * @param {string} address
 */
function ofThisView(address) {
  return state.heads ? address.split("?")[0] + state.heads.named : address;
}

/**
 * A page beside this one, about the model on this one, and its custom relation set or the pinned heads if it takes these.
 * @param {HTMLElement} button
 * @param {string} key of the model in the page's address
 */
function pageOfModel(button, key) {
  const path = (button.getAttribute("href") || "").split("?")[0];
  if (!state.heads) return path;
  const own = "own" in button.dataset ? state.heads.own : "";
  const head = "heads" in button.dataset ? state.pins.join(", ") : "";
  return path + queryString({ [key]: state.heads.model, own, head });
}

const SELECTOR = Object.keys(ACTIONS).map((name) => `[data-${name}]`).join();

/**
 * Do what the button at a click is for.
 * @param {Event} event
 */
export function clickedButton(event) {
  closeMenus(event);
  if (near(event, `#${PARTS.copy}`)) copyLink();
  if (near(event, `#${PARTS.submit}`)) submitForm();
  if (near(event, `#${PARTS.tableClear}`)) clearFilter();
  followLink(event);
  const button = near(event, SELECTOR);
  if (!button) return;
  for (const [name, action] of Object.entries(ACTIONS)) {
    const value = button.dataset[name];
    if (value) action(button, value);
  }
}

/**
 * Open the view that a link leads to in this page; with a modifier the browser opens it elsewhere.
 * @param {Event} event
 */
function followLink(event) {
  const link = near(event, "a[data-view], a[data-set]");
  if (!link || !(event instanceof MouseEvent) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const [key, value] = (link.dataset.set || "").split(" ");
  if (key) dash().set_props(key, { value: state.heads?.state[key] === value ? "" : value });
  else openView(link.getAttribute("href") || "");
}

/**
 * Close the menus that are open, but for one that was clicked beside its links.
 * @param {Event} [event]
 * @returns {boolean} whether there was one to close
 */
export function closeMenus(event) {
  let hasClosed = false;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    const isInside = event && event.target instanceof Node && menu.contains(event.target);
    if (isInside && !near(event, "a, button")) continue;
    menu.removeAttribute("open");
    hasClosed = true;
  }
  return hasClosed;
}
