// @ts-check
// What is copied: texts, and tables as a spreadsheet takes them.
import { harmless } from "./cells.mjs";
import { element } from "./elements.mjs";
import { notify } from "./notes.mjs";
import { PARTS } from "./page.mjs";

/** @typedef {{getDataAsCsv: (how: object) => string, exportDataAsCsv: (how: object) => void}} Grid */
/** @typedef {{getColId: () => string, getColDef: () => {headerName?: string}}} Column */

/**
 * Copy a text.
 * @param {string} text
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = element("textarea", "", text); // an address without TLS has no clipboard
    document.body.appendChild(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

/**
 * @param {string} id
 * @returns {Grid}
 */
function gridOf(id) {
  const grids = /** @type {{dash_ag_grid: {getApi: (id: string) => Grid}}} */ (/** @type {unknown} */ (window));
  return grids.dash_ag_grid.getApi(id);
}

/**
 * How a table leaves the page: as it is sorted and filtered, with all columns and digits, and nothing that a spreadsheet
 * would run. Where columns stand in groups, their ids tell them apart.
 * @param {string} id
 */
function taken(id) {
  const isGrouped = id === PARTS.table;
  return {
    allColumns: true,
    skipColumnGroupHeaders: true,
    skipPinnedTop: true,
    processCellCallback: (/** @type {{value: unknown}} */ { value }) => harmless(value),
    processHeaderCallback: (/** @type {{column: Column}} */ { column }) =>
      isGrouped ? column.getColId() : column.getColDef().headerName,
  };
}

/**
 * Copy a table with tabs between the columns.
 * @param {string} id
 */
export async function copyTable(id) {
  await copyText(gridOf(id).getDataAsCsv({ ...taken(id), columnSeparator: "\t", suppressQuotes: true }));
  notify("Table copied");
}

/** Buttons that copy the page's address say that they did. */
export function listenToCopying() {
  document.addEventListener("click", async (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-copy=link]") : null;
    if (!button) return;
    const words = button.textContent;
    await copyText(location.href);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = words), 2000);
  });
}

/**
 * Download a table.
 * @param {string} id
 * @param {string} fileName
 */
export function downloadTable(id, fileName) {
  gridOf(id).exportDataAsCsv({ ...taken(id), fileName });
}
