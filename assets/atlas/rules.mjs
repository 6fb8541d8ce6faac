// @ts-check
// Rules that the server hands over in the page: the most pins, how a head's name is written, the largest upload.

/**
 * @typedef {object} Rules
 * @property {number} pins how many heads can be pinned
 * @property {RegExp} head a head's whole name, with its layer and head as groups
 * @property {number} upload the largest file in bytes
 * @property {number} row the height of the table's rows in pixels
 * @property {string} plotly the address of plotly's script
 * @property {string} view the first view, which an address does not name
 * @property {import("./query.mjs").Setting[]} settings in the order of an address
 * @property {Record<string, Record<"light" | "dark", import("./maps/palette.mjs").Palette>>} palettes by name and theme
 */

/** @type {{read: Rules | null}} */
const cache = { read: null };

/**
 * The rules from their JSON, in which `head` is the source of a regular expression for the whole name.
 * @param {string} text
 * @returns {Rules}
 */
export function parseRules(text) {
  const { head, ...facts } = JSON.parse(text);
  return { ...facts, head: new RegExp(`^(?:${head})$`, "i") };
}

/**
 * The rules of this page, read once.
 * @returns {Rules}
 */
export function rules() {
  if (!cache.read) {
    const meta = document.querySelector('meta[name="atlas-rules"]');
    if (!(meta instanceof HTMLMetaElement)) throw new Error("the page has no atlas-rules");
    cache.read = parseRules(meta.content);
  }
  return cache.read;
}
