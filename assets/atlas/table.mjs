// @ts-check
// The table: a row under the pointer is outlined on the map, pinned rows stand on top and are marked in their place. The map
// fades what the table's filter leaves out, the table leaves out what the map's zoom does. Sort and filter are in the address.
import { onArrival, rewriteAddress, valueOf } from "./address.mjs";
import { columnsOf, countText, leavesOf, rowsOf, shownCells, unpackedCells } from "./cells.mjs";
import { leave, moveCursor } from "./cursor.mjs";
import { paintColours } from "./drawing.mjs";
import { cellNamed } from "./heads.mjs";
import { byId, dash, near, PARTS } from "./page.mjs";
import { pin } from "./pins.mjs";
import { rules } from "./rules.mjs";
import { filterOf, filterText, sortOf, sortText } from "./sorting.mjs";
import { state } from "./state.mjs";
import { isIn, onZoom, sightOf, zoomed } from "./zoom.mjs";

/** @typedef {import("./cells.mjs").Definition} Definition */
/** @typedef {import("./cells.mjs").PackedCells} PackedCells */
/** @typedef {import("./cells.mjs").Row} Row */
/** @typedef {import("./sorting.mjs").Grid} Grid */
/** @typedef {{columns: Definition[], cells: Record<string, PackedCells>}} Content as dashboard/page/table.py packs it */

const PAUSE = 150; // milliseconds without a change before the rows follow the maps
const BY_HAND = /^(ui|columnFilter|columnMenu)/; // what the grid says of a change that a person made

/**
 * @typedef {object} Kept
 * @property {Record<string, ReturnType<typeof unpackedCells>>} cells
 * @property {Row[]} rows
 * @property {Definition[]} columns
 * @property {string} definitions the same as text
 * @property {number} version
 * @property {ReturnType<typeof setTimeout> | undefined} timer
 */

/** @type {Kept} */
const content = { cells: {}, rows: [], columns: [], definitions: "", version: 0, timer: undefined };

/** @type {{grid: Grid | null, pins: string}} */
const shown = { grid: null, pins: "" }; // the grid that is listened to, and the rows that are pinned in it

/**
 * The rows and columns of the table; columns that are there already stay as a person has arranged them.
 * @param {Content | null} packed
 * @returns {[rows: unknown, columns: unknown]}
 */
export function makeRows(packed) {
  const { no_update } = dash();
  if (!packed) return [no_update, no_update];
  content.cells = {};
  for (const [field, cells] of Object.entries(packed.cells)) content.cells[field] = unpackedCells(cells);
  content.columns = leavesOf(packed.columns);
  followMaps();
  const names = packed.cells.name.values.length;
  content.rows = rowsOf(content.cells.name, names, ++content.version);
  const definitions = JSON.stringify(packed.columns);
  const isSame = definitions === content.definitions;
  content.definitions = definitions;
  return [content.rows, isSame ? no_update : columnsOf(packed.columns, lookup)];
}

/** Take those cells from the maps on the page that these have: they follow the controls. */
function followMaps() {
  const { heads } = state;
  if (!heads) return;
  for (const { field = "", shown: made } of content.columns) {
    const cells = made && shownCells(made, heads);
    if (cells) content.cells[field] = cells;
  }
}

/** The maps have followed a control: when it rests, so do the rows. */
export function followRows() {
  clearTimeout(content.timer);
  if (!content.rows.length || !isTable(location.search)) return;
  content.timer = setTimeout(() => {
    followMaps();
    content.rows = rowsOf(content.cells.name, content.rows.length, ++content.version);
    dash().set_props(PARTS.table, { rowData: content.rows });
  }, PAUSE);
}

/**
 * @param {string} field
 * @param {number} at
 */
function lookup(field, at) {
  const cells = content.cells[field];
  return cells ? cells(at) : null;
}

/**
 * Mark the rows of the pinned heads, and put them on top.
 * @param {string[] | null} pins
 * @param {unknown[] | null} rows
 * @returns {{ids: string[]}}
 */
export function selectRows(pins, rows) {
  if (rows && rows.length && isTable(location.search)) follow();
  return { ids: pins || [] };
}

/**
 * @param {string} query
 */
function isTable(query) {
  return valueOf(query, "view") === "table";
}

onArrival(() => {
  if (isTable(state.query)) follow();
});

onZoom(() => {
  if (shown.grid) shown.grid.onFilterChanged();
});

/** Bring the grid to what the page says: pins, sort and filter. */
async function follow() {
  const grid = await gridOf(PARTS.table);
  if (!grid) return;
  if (grid !== shown.grid) listenTo(grid);
  followAddress();
  placePins();
}

/**
 * @param {Grid} grid
 */
function listenTo(grid) {
  shown.grid = grid;
  shown.pins = "";
  grid.setGridOption("isExternalFilterPresent", () => zoomed() !== null);
  grid.setGridOption("doesExternalFilterPass", (/** @type {{data: Row}} */ { data }) => isOnMap(data));
  for (const event of ["sortChanged", "filterChanged"]) grid.addEventListener(event, sortedOrFiltered);
  grid.addEventListener("newColumnsLoaded", followAddress);
  grid.addEventListener("modelUpdated", tellLeft);
  grid.addEventListener("cellKeyDown", ({ event, data }) => event?.key === "Enter" && data && pin(data.name, true));
  grid.onFilterChanged();
}

/** Sort and filter as the address says. */
function followAddress() {
  const { grid } = shown;
  if (!grid) return;
  if (sortText(grid) !== state.sort) grid.applyColumnState(sortOf(state.sort, grid));
  if (filterText(grid.getFilterModel()) !== state.filter) grid.setFilterModel(filterOf(state.filter, grid));
}

/**
 * Write into the address what a person does to the table.
 * @param {{source?: string}} event
 */
function sortedOrFiltered({ source = "" }) {
  if (BY_HAND.test(source)) writeOwn();
}

function writeOwn() {
  if (!shown.grid) return;
  state.sort = sortText(shown.grid);
  state.filter = filterText(shown.grid.getFilterModel());
  rewriteAddress(["sort", "filter"]);
}

/** Leave all rows again. */
export function clearFilter() {
  if (!shown.grid) return;
  shown.grid.setFilterModel({});
  writeOwn();
}

/** Put the pinned heads on top. The other rows stay where they are on the screen. */
function placePins() {
  const { grid } = shown;
  const wanted = JSON.stringify([content.version, state.pins]);
  if (!grid || wanted === shown.pins) return;
  const [version, before] = shown.pins ? JSON.parse(shown.pins) : [content.version, state.pins];
  const pinned = state.pins.map((name) => content.rows.find((row) => row.name === name)).filter(Boolean);
  shown.pins = wanted;
  grid.setGridOption("pinnedTopRowData", pinned);
  const body = byId(PARTS.table).querySelector(".ag-body-viewport");
  if (body && version === content.version) body.scrollTop += rules().row * (state.pins.length - before.length);
}

/**
 * Whether the map's zoom shows a head.
 * @param {Row} row
 */
function isOnMap({ name }) {
  const { heads } = state;
  const cell = heads && cellNamed(heads, name, rules().head);
  return !heads || !cell || isIn(sightOf(zoomed(), heads), cell, heads);
}

/** Say how many rows the filter leaves, and fade the other heads on the map. */
function tellLeft() {
  const { grid } = shown;
  if (!grid) return;
  byId(PARTS.tableCount).textContent = countText(grid.getDisplayedRowCount(), content.rows.length);
  byId(PARTS.tableClear).hidden = !Object.keys(grid.getFilterModel()).length;
  const left = grid.isAnyFilterPresent() ? new Uint8Array(content.rows.length) : null;
  if (left) grid.forEachNodeAfterFilter(({ data }) => data && (left[data.at] = 1));
  const isSame = String(left) === String(state.left);
  state.left = left;
  if (!isSame) paintColours();
}

/** What the file with the rows is called. */
export function headsFile() {
  const [model] = (state.heads ? state.heads.model : "").split("@");
  return `${model}-heads.csv`.replace(/[^\w.-]+/g, "-");
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
