// @ts-check
// What follows the controls in the function map's part of a card (dashboard/maps/function/card.py).

/** @typedef {{verb: string, score: number, low: number, high: number, copies: boolean, control: number | null}} Effect */

/**
 * Which scores are labels at τ, and what is to be said against them.
 * @param {Record<string, unknown>} values of the settings
 */
export function decorate(values) {
  const tau = Number(values.tau);
  for (const row of document.querySelectorAll("tr[data-effects]")) {
    const effects = JSON.parse(row.getAttribute("data-effects") || "[]");
    row.classList.toggle("strong", effects.some((/** @type {Effect} */ effect) => effect.score > tau));
    const remarks = remarksOn(effects, tau).map((words) => {
      const made = document.createElement("small");
      made.className = "remark";
      made.textContent = words;
      return made;
    });
    row.querySelector(".remarks")?.replaceChildren(...remarks);
  }
}

/**
 * What is to be said against a relation's labels; of the weaker one with its verb.
 * @param {Effect[]} effects the stronger first
 * @param {number} tau
 * @returns {string[]}
 */
export function remarksOn(effects, tau) {
  const said = [];
  for (const [i, { verb, score, low, high, copies, control }] of effects.entries()) {
    if (!(score > tau)) continue;
    const words = [];
    if (copies) words.push("copy-like");
    if (control !== null && control > tau) words.push("unspecific");
    if (low <= tau && tau <= high) words.push("uncertain");
    said.push(...words.map((word) => (i ? `${verb}: ${word}` : word)));
  }
  return said;
}
