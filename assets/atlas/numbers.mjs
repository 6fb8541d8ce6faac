// @ts-check
// The numbers of maps, fetched once and kept: with them the page follows the controls by itself.
import { rulesOver } from "./maps/index.mjs";

/** @typedef {import("./maps/index.mjs").Follow} Follow */

const KEPT = 4; // maps

/** @type {Map<string, Promise<Follow>>} */
const known = new Map();

/**
 * The rules over the numbers at an address.
 * @param {string} address
 * @returns {Promise<Follow>}
 */
export function rulesAt(address) {
  const numbers = known.get(address) || fetched(address);
  known.delete(address); // the latest is the last to go
  known.set(address, numbers);
  numbers.catch(() => known.delete(address));
  for (const oldest of known.keys()) if (known.size > KEPT) known.delete(oldest);
  return numbers;
}

/**
 * @param {string} address
 * @returns {Promise<Follow>}
 */
async function fetched(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`no numbers at ${address}`);
  return rulesOver(await answer.arrayBuffer());
}
