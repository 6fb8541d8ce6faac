// @ts-check
// What several modules share; everything else that changes is private to its module.

/** @typedef {import("./heads.mjs").Heads} Heads */
/** @typedef {import("./heads.mjs").Cell} Cell */
/** @typedef {import("./geometry.mjs").Box} Box */
/** @typedef {import("./geometry.mjs").Sight} Sight */

/**
 * @typedef {object} State
 * @property {Heads | null} heads the numbers behind the maps; null before the first map
 * @property {string[]} pins names of the pinned heads
 * @property {Cell | null} cursor the head under the pointer or the keyboard
 * @property {Box[]} boxes where the maps are on the page
 * @property {Sight | null} sight the part of every map in sight
 * @property {string} query the view's own query string, without what is here
 * @property {string} zoom the part of the maps that is in sight, as an address has it; empty for all
 * @property {string} sort of the table, as an address has it; empty for the default
 * @property {string} filter of the table, as an address has it
 * @property {Uint8Array | null} left 1 for every head that the table's filter leaves; null without a filter
 */

/** @type {State} */
export const state = {
  heads: null,
  pins: [],
  cursor: null,
  boxes: [],
  sight: null,
  query: "",
  zoom: "",
  sort: "",
  filter: "",
  left: null,
};
