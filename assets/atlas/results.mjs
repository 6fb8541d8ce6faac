// @ts-check
// What people do to results: delete those of a model; rename, hide and delete sets of their own relations.
import { ask, listAgain } from "./jobs.mjs";

/**
 * Delete the results of a model.
 * @param {string} fingerprint
 */
export async function forgetModel(fingerprint) {
  if (await ask("DELETE", `/api/models/${fingerprint}`)) listAgain();
}

/**
 * Change a set: its name, or whether it is hidden.
 * @param {string} id
 * @param {{name?: string, hidden?: boolean}} change
 */
export async function changeSet(id, change) {
  if (await ask("PATCH", `/api/sets/${id}`, change)) listAgain();
}

/**
 * Ask for another name of a set.
 * @param {string} id
 * @param {string} name
 */
export async function renameSet(id, name) {
  const wanted = prompt("Name of these relations", name);
  if (wanted && wanted !== name) await changeSet(id, { name: wanted });
}

/**
 * Delete a set with its scores.
 * @param {string} id
 */
export async function deleteSet(id) {
  if (await ask("DELETE", `/api/sets/${id}`)) listAgain();
}
