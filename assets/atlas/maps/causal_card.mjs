// @ts-check
// What follows the controls in the causal map's part of a card (dashboard/maps/causal/card.py).

/**
 * A head's role in every task at θ.
 * @param {Record<string, unknown>} values of the settings
 */
export function decorate(values) {
  const threshold = Number(values.role);
  for (const part of document.querySelectorAll("[data-gates]")) {
    const { seeds, about, odd } = JSON.parse(part.getAttribute("data-gates") || "{}");
    part.textContent = ` ${roleIn(seeds, threshold, about, odd)}`;
  }
}

/**
 * A head's role in words: in all seeds, in some, or none (dashboard/maps/causal/head.py).
 * @param {(number | null)[][]} seeds F, N and R of each
 * @param {number} threshold
 * @param {string} about what the head helps or hurts
 * @param {string} odd which seeds contradict themselves, in words; empty for none
 */
export function roleIn(seeds, threshold, about, odd) {
  const [helps, hurts, idle] = [0, 1, 2].map((role) => seeds.filter((scores) => (scores[role] ?? -1) >= threshold).length);
  /** @type {[words: string, count: number][]} */
  const counts = helps || hurts
    ? [[`needed for ${about} (F)`, helps], [`hurts ${about} (N)`, hurts]]
    : [[`does not matter for ${about} (R)`, idle]];
  const parts = counts.filter(([, count]) => count);
  const roles = parts.map(([words, count]) => `${words}${count === seeds.length ? "" : ` in ${count} of ${seeds.length} seeds`}`);
  return [roles.join(", ") || "no clear role", odd].filter(Boolean).join("; ");
}
