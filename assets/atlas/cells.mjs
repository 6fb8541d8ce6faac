// @ts-check
// The cells of the table: unpacked column by column, written as people read them, and harmless in a spreadsheet.
import { fixed } from "./digits.mjs";
import { bytes } from "./heads.mjs";

/** @typedef {import("./heads.mjs").Heads} Heads */
/** @typedef {number | string | null} Cell */
/** @typedef {{values: Cell[], codes: string}} PackedCells of a column: distinct values, and each head's place among them */
/** @typedef {{name: string, at: number}} Row a head and its place in the columns; values are looked up when they are seen */
/** @typedef {{digits: number, signed?: boolean, behind?: string[]}} Written how a column's numbers are written */

/**
 * @typedef {object} Definition a column, or a group of them (dashboard/maps/columns.py)
 * @property {string} [field]
 * @property {string} [headerName]
 * @property {Definition[]} [children]
 * @property {Written} [written]
 * @property {Shown} [shown] of a column that the maps on the page have, which follow the controls
 */

/** @typedef {{panel: string} | {otherwise: string}} Shown a panel's values, or what heads are called but for one word */

/** @typedef {(field: string, at: number) => Cell} Lookup */

const KEPT = 10000; // a cell keeps four digits
const FORMULA = /^[=+\-@\t\r]/; // with which a spreadsheet takes a text for a formula (analysis/results/tables.py)

/**
 * The values of a column by the places of heads, decoded when first asked for.
 * @param {PackedCells} packed
 * @returns {(at: number) => Cell}
 */
export function unpackedCells({ values, codes }) {
  /** @type {Uint8Array | Uint16Array | undefined} */
  let decoded;
  return (at) => {
    decoded ??= values.length > 256 ? new Uint16Array(bytes(codes).buffer) : bytes(codes);
    return values[decoded[at]] ?? null;
  };
}

/**
 * A cell as people read it: a number with as many digits as its column has, or the reason why there is none.
 * @param {Cell} cell
 * @param {Written} [written]
 */
export function cellText(cell, written) {
  if (cell === null) return "";
  if (typeof cell === "string" || !written) return String(cell);
  const text = fixed(cell, written.digits);
  if (Number(text) === 0) return (0).toFixed(written.digits); // no sign of zero
  return written.signed && cell > 0 ? `+${text}` : text;
}

/**
 * The cells of a column as the maps on the page have them; null where they do not have its numbers.
 * @param {Shown} shown
 * @param {Pick<Heads, "panels" | "reasons">} heads
 * @returns {((at: number) => Cell) | null}
 */
export function shownCells(shown, { panels, reasons }) {
  if ("otherwise" in shown) {
    const { label } = panels[0];
    return label && ((at) => (label.words[label.codes[at]] === shown.otherwise ? "" : label.words[label.codes[at]]));
  }
  const panel = panels.find(({ key }) => key === shown.panel);
  if (!panel?.measures.length) return null;
  const { low, step, values } = panel.measures[0];
  return (at) => (panel.reason?.[at] ? reasons[panel.reason[at]] : kept(low + step * values()[at]));
}

/**
 * A number with the digits that a cell keeps, halves to even as in the server's cells (dashboard/maps/columns.py).
 * @param {number} value
 */
function kept(value) {
  const scaled = value * KEPT;
  const rounded = Math.round(scaled);
  const isHalf = Math.abs(scaled - Math.trunc(scaled)) === 0.5;
  return (isHalf && rounded % 2 ? rounded - 1 : rounded) / KEPT;
}

/**
 * The definitions as the grid takes them: values are looked up, so that what a grid keeps of a row is small.
 * @param {Definition[]} definitions
 * @param {Lookup} lookup
 * @returns {Record<string, unknown>[]}
 */
export function columnsOf(definitions, lookup) {
  /** @type {Map<string, Definition>} */
  const columnsByField = new Map();
  for (const column of leavesOf(definitions)) columnsByField.set(column.field || "", column);
  return definitions.map((definition) => columnOf(definition, lookup, columnsByField));
}

/**
 * @param {Definition} definition
 * @param {Lookup} lookup
 * @param {Map<string, Definition>} columnsByField
 * @returns {Record<string, unknown>}
 */
function columnOf({ field = "", children, written, shown: _, ...rest }, lookup, columnsByField) {
  if (children) return { ...rest, children: children.map((child) => columnOf(child, lookup, columnsByField)) };
  const textOf = (/** @type {{data?: Row}} */ { data }) => (data ? cellText(lookup(field, data.at), written) : "");
  const valueOf = (/** @type {{data?: Row}} */ { data }) => (data ? sortable(lookup(field, data.at), written) : null);
  const column = { ...rest, colId: field, valueGetter: valueOf, valueFormatter: textOf };
  const behind = written?.behind || [];
  if (!behind.length) return column;
  const columns = behind.map((name) => columnsByField.get(name)).filter((each) => each !== undefined);
  return { ...column, tooltipValueGetter: (/** @type {{data?: Row}} */ { data }) => (data ? tooltipOf(columns, data, lookup) : "") };
}

/**
 * What is sorted and filtered: in a column of numbers no words.
 * @param {Cell} cell
 * @param {Written} [written]
 */
function sortable(cell, written) {
  return written && typeof cell === "string" ? null : cell;
}

/**
 * What stands behind a score: "promote · 95 % low 0.50 · 95 % high 0.78 · β 0.33".
 * @param {Definition[]} columns
 * @param {Row} row
 * @param {Lookup} lookup
 */
function tooltipOf(columns, row, lookup) {
  const parts = [];
  for (const { field = "", headerName, written } of columns) {
    const text = cellText(lookup(field, row.at), written);
    if (text) parts.push(written ? `${headerName} ${text}` : text);
  }
  return parts.join(" · ");
}

/**
 * The columns of all groups.
 * @param {Definition[]} definitions
 * @returns {Definition[]}
 */
export function leavesOf(definitions) {
  return definitions.flatMap((definition) => (definition.children ? leavesOf(definition.children) : [definition]));
}

/**
 * A row for each head; another version of a table has other rows, also where only the values differ.
 * @param {(at: number) => Cell} nameOf
 * @param {number} count
 * @param {number} version
 */
export function rowsOf(nameOf, count, version) {
  /** @type {(Row & {version: number})[]} */
  const rows = [];
  for (let at = 0; at < count; at++) rows.push({ name: String(nameOf(at)), at, version });
  return rows;
}

/**
 * A text that no spreadsheet takes for a formula; numbers stay as they are.
 * @param {unknown} value
 * @returns {string}
 */
export function harmless(value) {
  if (value === null || value === undefined) return "";
  const text = String(value);
  return typeof value === "string" && FORMULA.test(text) ? `'${text}` : text;
}

/**
 * How many rows there are, or are left.
 * @param {number} left
 * @param {number} all
 */
export function countText(left, all) {
  const [some, total] = [left, all].map((count) => count.toLocaleString("en"));
  return left === all ? `${total} heads` : `${some} of ${total} heads`;
}
