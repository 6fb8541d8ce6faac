// @ts-check
// The cards of pinned heads: what the server sends does not depend on local settings; what does is written here.
import { built } from "./elements.mjs";
import { cellNamed, indexOf, nameOf } from "./heads.mjs";
import { stepped } from "./arrows.mjs";
import { keepSettings } from "./links.mjs";
import { decorateParts } from "./maps/index.mjs";
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
  decorateParts(heads.state);
  keepSettings(heads.state);
}
