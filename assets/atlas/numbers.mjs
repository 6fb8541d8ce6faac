// @ts-check
// The numbers of maps, fetched once and kept: with them the page follows the controls by itself.
import { rulesOver } from "./maps/index.mjs";

/** @typedef {import("./maps/index.mjs").Follow} Follow */

const KEPT = 4; // maps

/** @type {Map<string, Promise<Follow>>} */
const rulesByAddress = new Map();

/**
 * The rules over the numbers at an address.
 * @param {string} address
 * @returns {Promise<Follow>}
 */
export function rulesAt(address) {
  const numbers = rulesByAddress.get(address) || fetched(address);
  rulesByAddress.delete(address); // the latest is the last to go
  rulesByAddress.set(address, numbers);
  numbers.catch(() => rulesByAddress.delete(address));
  for (const oldest of rulesByAddress.keys()) if (rulesByAddress.size > KEPT) rulesByAddress.delete(oldest);
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
