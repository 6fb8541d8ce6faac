// @ts-check
// The table: a row under the pointer is outlined on the map, pinned rows are selected and scrolled to. Its sort and filter
// are in the address.
import { onArrival, rewriteAddress, valueOf } from "./address.mjs";
import { leave, moveCursor } from "./cursor.mjs";
import { cellNamed } from "./heads.mjs";
import { dash, near, PARTS } from "./page.mjs";
import { pin } from "./pins.mjs";
import { rules } from "./rules.mjs";
import { state } from "./state.mjs";
import { filterOf, filterText, sortOf, sortText } from "./sorting.mjs";

/** @type {{head: string | undefined}} */
const scrolled = { head: undefined }; // the pinned head that the table last came to

/** @typedef {import("./sorting.mjs").Grid} Grid */

/** @type {{grid: Grid | null, isFollowing: boolean}} */
const followed = { grid: null, isFollowing: false }; // the grid that is listened to; whether it is being told

/** Sort and filter the table as the address says, and write into the address what a person does to it. */
async function followAddress() {
  if (valueOf(state.query, "view") !== "table") return;
  const grid = await gridOf(PARTS.table);
  if (!grid) return;
  if (grid !== followed.grid) {
    followed.grid = grid;
    for (const event of ["sortChanged", "filterChanged"]) grid.addEventListener(event, sortedOrFiltered);
  }
  followed.isFollowing = true;
  if (sortText(grid) !== state.sort) grid.applyColumnState(sortOf(state.sort, grid));
  if (filterText(grid.getFilterModel()) !== state.filter) grid.setFilterModel(filterOf(state.filter, grid));
  setTimeout(() => (followed.isFollowing = false)); // the grid tells of it in a moment
}

onArrival(followAddress);

function sortedOrFiltered() {
  if (!followed.grid || followed.isFollowing) return;
  state.sort = sortText(followed.grid);
  state.filter = filterText(followed.grid.getFilterModel());
  rewriteAddress(["sort", "filter"]);
}

/**
 * @param {string} id
 * @returns {Promise<Grid | null>}
 */
async function gridOf(id) {
  const holder = /** @type {{dash_ag_grid?: {getApiAsync: (id: string) => Promise<Grid>}}} */ (/** @type {unknown} */ (window));
  return holder.dash_ag_grid ? holder.dash_ag_grid.getApiAsync(id) : null;
}

/**
 * Select the rows of the pinned heads, and come to the last of them when it is a new one.
 * @param {string[] | null} pins
 * @param {unknown[] | null} rows
 * @returns {[selected: {ids: string[]}, scrollTo: unknown]}
 */
export function selectRows(pins, rows) {
  const names = pins || [];
  const last = names.at(-1);
  const isShown = Boolean(rows && rows.length) && valueOf(location.search, "view") === "table";
  const isAway = isShown && last !== undefined && last !== scrolled.head;
  if (isShown) scrolled.head = last;
  if (isShown) followAddress();
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
