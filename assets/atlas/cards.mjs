// @ts-check
// The cards of pinned heads: what the server sends does not depend on local settings; what does is written here.
import { built } from "./elements.mjs";
import { cellNamed, indexOf, nameOf } from "./heads.mjs";
import { stepped } from "./keyboard.mjs";
import { byId, PARTS } from "./page.mjs";
import { rules } from "./rules.mjs";
import { state } from "./state.mjs";

/** @typedef {import("./elements.mjs").Piece} Piece */
/** @typedef {import("./heads.mjs").Heads} Heads */
/** @typedef {import("./heads.mjs").Panel} Panel */

const ARROWS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]; // as the buttons stand

/**
 * Show the cards of the pinned heads.
 * @param {Piece[] | null} pieces
 */
export function writeCards(pieces) {
  byId(PARTS.inspector).replaceChildren(...(pieces || []).map(built));
  if (state.heads) decorateCards(state.heads);
}

/**
 * What the maps on the page call a head: one text, or one for each panel where they differ.
 * @param {Panel[]} panels
 * @param {number} index
 */
export function titleOf(panels, index) {
  const named = panels.filter((panel) => panel.label);
  const words = named.map((panel) => panel.label?.words[panel.label.codes[index]] || "");
  const isOne = named.every((panel) => panel.label === named[0].label);
  return isOne ? words[0] || "" : named.map((panel, i) => `${panel.title}: ${words[i]}`).join(" · ");
}

/**
 * Write what follows the controls into all cards.
 * @param {Heads} heads
 */
export function decorateCards(heads) {
  for (const card of document.querySelectorAll(".inspector [data-name]")) {
    const cell = cellNamed(heads, card.getAttribute("data-name"), rules().head);
    if (!cell) continue;
    const title = card.querySelector(":scope > .roles, header .roles");
    if (title) title.textContent = titleOf(heads.panels, indexOf(heads, cell));
    for (const [i, button] of card.querySelectorAll(".steps .step").entries()) {
      const to = stepped(cell, ARROWS[i], heads);
      const isThere = to[0] !== cell[0] || to[1] !== cell[1];
      const name = isThere ? nameOf(heads, to) : "";
      button.toggleAttribute("disabled", !isThere);
      button.setAttribute("title", name);
      if (isThere) button.setAttribute("data-instead", `${nameOf(heads, cell)} ${name}`);
      else button.removeAttribute("data-instead");
      if (isThere) button.setAttribute("aria-label", `Go to ${name}`);
    }
  }
  decorateRows(Number(heads.state.tau));
  decorateRoles(Number(heads.state.role));
  decoratePlain(heads.state);
}

/**
 * Rows of plain maps: those whose number reaches a setting stand out, those of another variant are hidden.
 * @param {Record<string, unknown>} values of the settings
 */
function decoratePlain(values) {
  for (const row of document.querySelectorAll("tr[data-reaches]")) {
    const [key, number] = (row.getAttribute("data-reaches") || "").split(" ");
    row.classList.toggle("strong", Number(number) >= Number(values[key]));
  }
  for (const row of document.querySelectorAll("tr[data-when]")) {
    const [key, value] = (row.getAttribute("data-when") || "").split(" ");
    row.toggleAttribute("hidden", values[key] !== value);
  }
}

/**
 * Which scores are labels at τ, and what is to be said against them.
 * @param {number} tau
 */
function decorateRows(tau) {
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

/** @typedef {{verb: string, score: number, low: number, high: number, copies: boolean, control: number | null}} Effect */

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

/**
 * A head's role in every task at θ.
 * @param {number} threshold
 */
function decorateRoles(threshold) {
  for (const part of document.querySelectorAll("[data-gates]")) {
    const { seeds, about } = JSON.parse(part.getAttribute("data-gates") || "{}");
    part.textContent = ` ${roleIn(seeds, threshold, about)}`;
  }
}

/**
 * A head's role in words: in all seeds, in some, or none (dashboard/maps/causal/head.py).
 * @param {(number | null)[][]} seeds F, N and R of each
 * @param {number} threshold
 * @param {string} about what the head helps or hurts
 */
export function roleIn(seeds, threshold, about) {
  const [helps, hurts, idle] = [0, 1, 2].map((role) => seeds.filter((scores) => (scores[role] ?? -1) >= threshold).length);
  /** @type {[words: string, count: number][]} */
  const counts = helps || hurts
    ? [[`needed for ${about} (F)`, helps], [`hurts ${about} (N)`, hurts]]
    : [[`does not matter for ${about} (R)`, idle]];
  const parts = counts.filter(([, count]) => count);
  const roles = parts.map(([words, count]) => `${words}${count === seeds.length ? "" : ` in ${count} of ${seeds.length} seeds`}`);
  return roles.join(", ") || "no clear role";
}
