// @ts-check
// The page follows its controls by itself: from a changed value over the rules to the maps, what is around them and the
// address, without a question to the server.
import { queryOf, textOf, valueFor } from "./query.mjs";
import { followAddress, keepControl, keptControls } from "./address.mjs";
import { writeAgain, writeAround } from "./around.mjs";
import { decorateCards } from "./cards.mjs";
import { viewTaken } from "./controls.mjs";
import { paintAround, showColours } from "./drawing.mjs";
import { followFigures, recolour } from "./figures.mjs";
import { keepSettings } from "./links.mjs";
import { rulesAt } from "./numbers.mjs";
import { afterPainting, dash, PARTS, setStore } from "./page.mjs";
import { rules } from "./rules.mjs";
import { isDark } from "./screen.mjs";
import { state } from "./state.mjs";
import { followRows } from "./table.mjs";
import { renewTooltip } from "./tooltip.mjs";

/** @typedef {import("./heads.mjs").Heads} Heads */
/** @typedef {import("./heads.mjs").Packed} Packed */
/** @typedef {import("./maps/index.mjs").Follow} Follow */
/** @typedef {import("./maps/index.mjs").View} View */
/** @typedef {import("./query.mjs").Setting} Setting */
/** @typedef {Record<string, unknown>} Values by the keys of the settings */

const FRAME = 16; // milliseconds
const PAUSE = 150; // milliseconds without a change before the figures below the maps are drawn again
const REST = 500; // milliseconds without a change before the server is asked for what it draws below the maps

/**
 * @typedef {object} Followed
 * @property {Values | null} values what all settings say; null before the first view
 * @property {string} numbers the address of the map's numbers; empty where there is no result
 * @property {Follow | null} follow
 * @property {string} query that the server last answered
 * @property {number} frame that is asked for; below 0 when the numbers are waited for
 * @property {number} applied when the last change was drawn, in milliseconds
 * @property {ReturnType<typeof setTimeout> | undefined} rest
 * @property {unknown} tones the palette whose colours have their names
 * @property {ReturnType<typeof setTimeout> | undefined} figures
 * @property {Set<string>} changed keys of the settings that have changed since the server drew what is below the maps
 * @property {{view: View, heads: Heads} | null} drawn maps that are on the screen before all else
 */

/** @type {Followed} */
const page = {
  values: null,
  numbers: "",
  follow: null,
  query: "",
  frame: 0,
  applied: 0,
  rest: undefined,
  tones: null,
  figures: undefined,
  changed: new Set(),
  drawn: null,
};

/**
 * A view has come from the server. What a person has changed since it was asked for stays changed.
 * @param {Heads} heads
 */
export function arrived(heads) {
  const before = page.values;
  page.values = { ...heads.state };
  viewTaken();
  page.numbers = heads.numbers;
  page.follow = null;
  let isOlder = false;
  for (const { key, local } of rules().settings) {
    const isNewer = before && local && heads.asked && textOf(valueOf(heads.asked, key)) !== textOf(before[key]);
    if (!isNewer || textOf(before[key]) === textOf(page.values[key])) continue;
    page.values[key] = before[key];
    isOlder = true;
  }
  if (takeKept(page.values)) isOlder = true;
  clearTimeout(page.rest);
  if (isOlder) page.rest = setTimeout(askBelow, REST);
  else page.changed.clear();
  writeAround(heads, heads);
  paintTones();
  markChosen();
  if (heads.numbers) ready(heads.numbers, isOlder);
}

/**
 * Give controls what a person set while the view of an address was on its way; whether any differs from that view.
 * @param {Values} values of the view
 */
function takeKept(values) {
  let isOther = false;
  for (const [setting, given] of keptControls()) {
    const value = valueFor(given, setting);
    if (textOf(value) === textOf(values[setting.key])) continue;
    values[setting.key] = value;
    page.changed.add(setting.key);
    if (setting.prop) dash().set_props(setting.key, { [setting.prop]: given });
    isOther = true;
  }
  return isOther;
}

/**
 * @param {Values} values
 * @param {string} key
 */
function valueOf(values, key) {
  const setting = rules().settings.find((one) => one.key === key);
  return setting ? valueFor(values[key], setting) : values[key];
}

/**
 * Take the map's rules when its numbers are here.
 * @param {string} numbers
 * @param {boolean} isOlder the maps on the screen are not of the present values
 */
async function ready(numbers, isOlder) {
  const follow = await rulesAt(numbers);
  if (page.numbers !== numbers) return;
  const isWaiting = page.frame < 0;
  page.follow = follow;
  if (isOlder || isWaiting) apply();
  else complete();
  for (const other of state.heads?.compared || []) rulesAt(other); // before a change needs them
}

/** The maps on the screen are those of the present values; with the numbers all else is known, too. */
function complete() {
  const next = followed();
  if (!next) return;
  state.heads = next.heads;
  writeAround(next.view, next.heads);
  renewTooltip(next.heads);
}

/**
 * A local control says something, because a person or the server has changed it.
 * @param {Setting} setting
 * @param {unknown} given
 * @param {boolean} isOnItsWay a view has come, which is not drawn yet
 */
export function taken(setting, given, isOnItsWay) {
  const { values } = page;
  const value = valueFor(given, setting);
  if (!values || textOf(value) === textOf(values[setting.key])) return;
  values[setting.key] = value;
  page.changed.add(setting.key);
  if (!isOnItsWay) keepControl(setting, given);
}

/**
 * All has been taken that controls say.
 * @param {boolean} isOnItsWay a view has come that is not drawn yet: it decides what becomes of it
 */
export function changed(isOnItsWay) {
  if (!page.changed.size || isOnItsWay) return;
  clearTimeout(page.rest);
  page.rest = setTimeout(askBelow, REST);
  if (!page.numbers) followAddress(currentQuery() ?? ""); // there is no map to draw
  else if (!page.follow) page.frame = -1; // when the numbers are here
  else if (performance.now() - page.applied > FRAME) apply();
  else if (page.frame <= 0) page.frame = requestAnimationFrame(apply); // one of several changes in a frame is enough
}

/** Draw the view of the present values: the maps at once, all else when they are on the screen. */
function apply() {
  page.frame = 0;
  page.applied = performance.now();
  const next = followed();
  if (!next) return;
  showColours(next.heads);
  if (!page.drawn) afterPainting(writeRest);
  page.drawn = next;
  clearTimeout(page.figures);
  page.figures = setTimeout(() => followFigures(next.heads, next.palette), PAUSE);
}

/** What the rules make of the present values; null while there are no numbers. */
function followed() {
  const { values, follow: made } = page;
  const { heads } = state;
  if (!values || !made || !heads) return null;
  const palette = rules().palettes[String(values.palette)][isDark() ? "dark" : "light"];
  const view = made.view(values, palette);
  const across = Boolean(values.transpose);
  const lies = { across, upward: across && heads.layersUpward };
  const known = { panels: view.panels, best: view.best || heads.best, isWaiting: false };
  const drawn = heads.onlyFirst ? 1 : view.panels.length;
  const named = namedQuery(heads, values);
  return { view, palette, heads: { ...heads, ...lies, ...known, drawn, named, state: values } };
}

/** Write what follows the maps that were drawn last. */
function writeRest() {
  const { drawn } = page;
  page.drawn = null;
  if (!drawn || state.heads !== drawn.heads) return; // another view has come
  const { view, heads } = drawn;
  writeAround(view, heads);
  paintAround();
  paintTones();
  markChosen();
  decorateCards(heads);
  followAddress(currentQuery() ?? heads.named);
  followRows();
  document.dispatchEvent(new Event("atlas-written")); // for those who measure
}

/** Something that the server draws below the maps has come: what follows the controls in it is written again. */
export function settled() {
  requestAnimationFrame(() => {
    const heads = state.heads;
    if (!heads || !page.values) return;
    writeAgain();
    markChosen();
    const palette = rules().palettes[String(page.values.palette)][isDark() ? "dark" : "light"];
    recolour(palette);
  });
}

/**
 * @param {Heads} heads
 * @param {Values} values
 */
function namedQuery(heads, values) {
  const view = heads.view === rules().view ? "" : heads.view;
  return queryOf(heads.model, view, values, rules().settings);
}

/**
 * The query string of the view on the page without pins, empty for the default one; null before the first view.
 * @returns {string | null}
 */
export function currentQuery() {
  const { values } = page;
  const heads = state.heads;
  if (!values || !heads) return null;
  const named = namedQuery(heads, values);
  return heads.isDefault && !named.includes("&") ? "" : named;
}

/**
 * The server has said which view it answered.
 * @param {string} query
 */
export function answered(query) {
  page.query = query;
}

/**
 * Whether something that the server draws and that is on the page depends on these settings.
 * @param {string[]} keys
 */
function dependsOn(keys) {
  for (const part of document.querySelectorAll("[data-follows]")) {
    const follows = (part.getAttribute("data-follows") || "").split(" ");
    const isShown = part instanceof HTMLElement && part.offsetParent !== null;
    if (isShown && keys.some((key) => follows.includes(key))) return true;
  }
  return false;
}

function askBelow() {
  const keys = [...page.changed];
  page.changed.clear();
  if (!dependsOn(keys)) return;
  setStore(PARTS.followed, [page.query, currentQuery() || ""]);
}

/** Links to what is on the page already stand out; all of them keep what the controls say. */
function markChosen() {
  if (page.values) keepSettings(page.values);
  for (const link of document.querySelectorAll("tr:not([data-effects], [data-reaches]) a[data-set]")) {
    const [key, value] = (link.getAttribute("data-set") || "").split(" ");
    link.closest("tr")?.classList.toggle("chosen", page.values?.[key] === value);
  }
}

/** The palette's colours for all that has them by name. */
function paintTones() {
  const { values } = page;
  if (!values) return;
  const palette = rules().palettes[String(values.palette)][isDark() ? "dark" : "light"];
  if (palette === page.tones) return;
  page.tones = palette;
  const { style } = document.documentElement;
  for (const [name, colour] of Object.entries(palette.tones)) style.setProperty(`--tone-${name}`, colour);
}
