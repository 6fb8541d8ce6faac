// @ts-check
// What stands around the maps and follows the controls: title, sentence, legend, controls that do nothing, sections.
import { element } from "./elements.mjs";
import { layerBars } from "./layers.mjs";
import { writeLegend } from "./legend.mjs";
import { byId, dash, PARTS, propsOf } from "./page.mjs";
import { state } from "./state.mjs";
import { onZoom, sightOf, zoomed } from "./zoom.mjs";

/** @typedef {import("./maps/index.mjs").View} View */
/** @typedef {import("./maps/text.mjs").Said} Said */
/** @typedef {import("./heads.mjs").Heads} Heads */
/** @typedef {import("./maps/index.mjs").ShareTable} ShareTable */
/** @typedef {Pick<View, "sentence" | "legend" | "topic" | "idle" | "called" | "counts" | "shares" | "profile">} Around */

/** @typedef {{value: string, label: string}[]} Choices of a control */

/**
 * @typedef {object} Page
 * @property {Record<string, string>} written
 * @property {Set<string>} idle
 * @property {Map<string, {usual: Choices, names: string}>} renamed controls, with what they call their values else
 * @property {[Around, Heads] | null} last
 */

/** @type {Page} */
const page = { written: {}, idle: new Set(), renamed: new Map(), last: null };

/** A section has appeared or has another width: write all of it again. */
export function writeAgain() {
  if (page.last) writeAround(...page.last);
}

/**
 * Write all of it, each piece only when it has changed.
 * @param {Around} around
 * @param {Heads} heads
 */
export function writeAround(around, heads) {
  if (!page.last) {
    new ResizeObserver(writeAgain).observe(byId(PARTS.profile));
    onZoom(writeAgain);
  }
  page.last = [around, heads];
  const [below, width] = [belowMap(heads), byId(PARTS.profile).clientWidth]; // measured before anything moves
  const { legend, counts, profile } = around; // each is made when it is asked for
  document.title = `${[...heads.title, around.topic].filter(Boolean).join(" · ")} – Head Atlas`;
  const heading = byId(PARTS.heading);
  if (heading.textContent !== document.title) heading.textContent = document.title;
  whenOther(PARTS.sentence, around.sentence, (holder) => holder.replaceChildren(...around.sentence.map(piece)));
  whenOther(PARTS.legend, legend, (holder) => writeLegend(holder, legend, heads));
  whenOther(PARTS.counts, counts, (holder) => holder.replaceChildren(...countTable(counts)));
  const seen = layersSeen(heads);
  const drawn = [profile, heads.layers, width, below, seen, heads.isWaiting];
  whenOther(PARTS.profile, drawn, (holder) => holder.replaceChildren(...layerBars(profile, heads, width, below, seen)));
  for (const table of around.shares) writeShares(table);
  disable(around.idle);
  rename(around.called || {});
}

/**
 * Where the first map's layers are, seen from the section of the layers; null where they do not go across.
 * @param {Heads} heads
 */
function belowMap(heads) {
  const box = state.boxes[0];
  if (!box || heads.across) return null;
  const shift = byId(PARTS.maps).getBoundingClientRect().left - byId(PARTS.profile).getBoundingClientRect().left;
  return { left: Math.round(box.left + shift), width: box.width };
}

/**
 * The layers in view; null for all. Maps on which layers go across show a little more than the zoom, so that cells stay square.
 * @param {Heads} heads
 */
function layersSeen(heads) {
  const zoom = zoomed();
  if (!zoom) return null;
  const [first, last] = zoom.layers;
  if (heads.across) return { from: first, count: last - first + 1 };
  const { left, columns } = sightOf(zoom, heads);
  return { from: left, count: columns };
}

/**
 * How many heads have each role, in the place of a task.
 * @param {ShareTable} shares
 */
function writeShares({ task, caption, columns, rows, total }) {
  const table = element("table", "shares");
  const head = element("tr");
  head.append(headerCell(caption, "col"), ...columns.map((title) => headerCell(title, "col", 2)));
  const body = element("tbody");
  for (const [words, colour, heads] of rows) {
    const row = element("tr");
    row.append(headerCell(words, "row"));
    for (const count of heads) {
      const text = `${count.toLocaleString("en")} · ${(Math.floor((1000 * count) / total + 0.5) / 10).toFixed(1)} %`;
      row.append(barCell(Math.max(count, 0) / total, colour), element("td", "num", count < 0 ? "" : text));
    }
    body.append(row);
  }
  const first = element("thead");
  first.append(head);
  table.append(first, body);
  for (const holder of document.querySelectorAll(".shares-of")) {
    if (holder instanceof HTMLElement && holder.dataset.task === task) holder.replaceChildren(table);
  }
}

/**
 * @param {string} text
 * @param {string} scope
 * @param {number} [span]
 */
function headerCell(text, scope, span = 1) {
  const cell = element("th", "", text);
  cell.scope = scope;
  cell.colSpan = span;
  return cell;
}

/**
 * @param {number} share
 * @param {string} colour
 */
function barCell(share, colour) {
  const cell = element("td");
  const bar = element("span", "bar");
  const filled = element("i");
  filled.style.width = `${(100 * share).toFixed(1)}%`;
  filled.style.background = colour;
  bar.append(filled);
  cell.append(bar);
  return cell;
}

/**
 * @param {string} id
 * @param {unknown} content
 * @param {(holder: HTMLElement) => void} write
 */
function whenOther(id, content, write) {
  const holder = document.getElementById(id);
  const mark = JSON.stringify(content, (_, value) => (value instanceof Float32Array ? [...value] : value));
  if (!holder || page.written[id] === mark) return;
  page.written[id] = mark;
  write(holder);
}

/**
 * @param {Said} said
 * @returns {Node}
 */
function piece(said) {
  if (typeof said === "string") return document.createTextNode(said);
  return "b" in said ? element("b", "", said.b) : element("code", "", said.code);
}

/**
 * @param {View["counts"]} counts
 * @returns {HTMLElement[]}
 */
function countTable(counts) {
  if (!counts) return [];
  const table = element("table", "counts");
  table.append(element("caption", "", counts.caption));
  const body = element("tbody");
  for (const [title, heads, colour, total] of counts.rows) {
    const row = element("tr");
    row.append(headerCell(title, "row"), barCell(heads / total, colour), element("td", "num", String(heads)));
    body.append(row);
  }
  table.append(body);
  return [table];
}

/**
 * Why a control does nothing, for those who do not hover: the keyboard comes to the control, which says it.
 * @param {HTMLElement} holder
 * @param {string} key
 * @param {string} reason
 */
function writeReason(holder, key, reason) {
  const written = document.getElementById(`${key}-reason`);
  if (!written) return;
  written.textContent = reason;
  const label = holder.querySelector(".label")?.textContent || "";
  const told = { role: "group", tabindex: "0", "aria-label": label, "aria-describedby": written.id };
  for (const [name, value] of Object.entries(told)) {
    if (reason) holder.setAttribute(name, value);
    else holder.removeAttribute(name);
  }
}

/**
 * Controls that do nothing in this state cannot be used, and say why.
 * @param {Record<string, string>} idle
 */
function disable(idle) {
  for (const key of new Set([...page.idle, ...Object.keys(idle)])) {
    const reason = idle[key] || "";
    const isIdle = Boolean(reason);
    if (isIdle !== page.idle.has(key)) dash().set_props(key, { disabled: isIdle });
    if (isIdle) page.idle.add(key);
    else page.idle.delete(key);
    const holder = document.getElementById(`${key}-control`);
    if (!holder) continue;
    holder.dataset.explained ??= holder.title;
    holder.title = reason || holder.dataset.explained;
    holder.classList.toggle("idle", isIdle);
    writeReason(holder, key, reason);
  }
}

/**
 * Controls that call some of their values something else in this state do so; the others have their usual words.
 * @param {Record<string, Record<string, string>>} called
 */
function rename(called) {
  for (const key of new Set([...page.renamed.keys(), ...Object.keys(called)])) {
    const names = called[key] || {};
    const usual = page.renamed.get(key)?.usual || /** @type {Choices | undefined} */ (propsOf(key)?.data);
    const mark = JSON.stringify(names);
    if (!usual || page.renamed.get(key)?.names === mark) continue;
    page.renamed.set(key, { usual, names: mark });
    dash().set_props(key, { data: usual.map((choice) => ({ ...choice, label: names[choice.value] ?? choice.label })) });
  }
}
