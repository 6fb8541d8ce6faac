// @ts-check
// What is copied: texts, and tables as a spreadsheet takes them.
import { element } from "./elements.mjs";
import { notify } from "./notes.mjs";

/** @typedef {{getDataAsCsv: (how: object) => string}} Grid */

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
 * Copy a table as it is sorted and filtered, with its headings and tabs between the columns.
 * @param {string} id
 */
export async function copyTable(id) {
  const grids = /** @type {{dash_ag_grid: {getApi: (id: string) => Grid}}} */ (/** @type {unknown} */ (window));
  await copyText(grids.dash_ag_grid.getApi(id).getDataAsCsv({ columnSeparator: "\t", suppressQuotes: true }));
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
