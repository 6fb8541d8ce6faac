// @ts-check
// The table: a row under the pointer is outlined on the map, pinned rows are selected and scrolled to.
import { valueOf } from "./address.mjs";
import { leave, moveCursor } from "./cursor.mjs";
import { cellNamed } from "./heads.mjs";
import { dash, near } from "./page.mjs";
import { pin } from "./pins.mjs";
import { rules } from "./rules.mjs";
import { state } from "./state.mjs";

/** @type {{head: string | undefined}} */
const scrolled = { head: undefined }; // the pinned head that the table last came to

/**
 * Select the rows of the pinned heads, and come to the last of them when it is a new one.
 * @param {string[] | null} pins
 * @param {unknown[] | null} rows
 * @returns {[selected: {ids: string[]}, scrollTo: unknown]}
 */
export function selectRows(pins, rows) {
  const names = pins || [];
  const last = names.at(-1);
  const isShown = Boolean(rows && rows.length) && valueOf(state.query, "view") === "table";
  const isAway = isShown && last !== undefined && last !== scrolled.head;
  if (isShown) scrolled.head = last;
  return [{ ids: names }, isAway ? { rowId: last } : dash().no_update];
}

/**
 * Pin the head of a row that was clicked.
 * @param {{rowId?: string} | null} clicked
 */
export function pickRow(clicked) {
  if (clicked && clicked.rowId) pin(clicked.rowId, true);
}

/**
 * @param {Event} event
 */
export function overRow(event) {
  const row = near(event, ".ag-row");
  if (row && state.heads) moveCursor(cellNamed(state.heads, row.getAttribute("row-id"), rules().head));
}

/**
 * @param {Event} event
 */
export function outOfRow(event) {
  if (near(event, ".ag-row")) leave();
}
