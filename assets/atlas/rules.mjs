// @ts-check
// Rules that the server hands over in the page: the most pins, how a head's name is written, the largest upload.

/**
 * @typedef {object} Rules
 * @property {number} pins how many heads can be pinned
 * @property {RegExp} head a head's whole name, with its layer and head as groups
 * @property {number} upload the largest file in bytes
 */

/** @type {{read: Rules | null}} */
const cache = { read: null };

/**
 * The rules from their JSON, in which `head` is the source of a regular expression for the whole name.
 * @param {string} text
 * @returns {Rules}
 */
export function parseRules(text) {
  const { pins, head, upload } = JSON.parse(text);
  return { pins, head: new RegExp(`^(?:${head})$`, "i"), upload };
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
