// @ts-check
// The tooltip: a head's name and label, its scores in a panel, and what it does best.
import { atTheEnd, element } from "./elements.mjs";
import { beside } from "./geometry.mjs";
import { indexOf, nameOf } from "./heads.mjs";
import { bestLines, labelText, scoreLines } from "./words.mjs";

/** @typedef {import("./heads.mjs").Heads} Heads */
/** @typedef {import("./heads.mjs").Cell} Cell */

/** @type {{again: ((heads: Heads) => void) | null}} */
const page = { again: null };

/**
 * Show it for a head of a map, beside a point of the window.
 * @param {Heads} heads
 * @param {Cell} cell
 * @param {number} map
 * @param {{x: number, y: number}} point
 * @param {string[]} [more] lines below the scores
 */
export function showTooltip(heads, cell, map, point, more = []) {
  page.again = (other) => showTooltip(other, cell, map, point, more);
  const tooltip = part();
  tooltip.replaceChildren(...content(heads, cell, map, more));
  tooltip.style.display = "block";
  const size = { width: tooltip.offsetWidth, height: tooltip.offsetHeight };
  const [left, top] = beside(point, size, { width: innerWidth, height: innerHeight });
  tooltip.style.transform = `translate(${left}px, ${top}px)`;
}

/**
 * Heads have other numbers: write it again, if it is there.
 * @param {Heads} heads
 */
export function renewTooltip(heads) {
  if (page.again) page.again(heads);
}

/** Take it away. */
export function hideTooltip() {
  page.again = null;
  part().style.display = "none";
}

/** The tooltip's element. */
function part() {
  const tooltip = atTheEnd("tooltip");
  tooltip.setAttribute("role", "tooltip");
  tooltip.setAttribute("aria-hidden", "true"); // what it says is announced, in a region of its own
  return tooltip;
}

/**
 * @param {Heads} heads
 * @param {Cell} cell
 * @param {number} map
 * @param {string[]} more
 * @returns {HTMLElement[]}
 */
function content(heads, cell, map, more) {
  const index = indexOf(heads, cell);
  const panel = heads.panels[map] || heads.panels[0];
  const heading = element("div", "tip-head");
  heading.append(element("b", "", nameOf(heads, cell)), element("span", "", labelText(panel, index)));
  const lines = [...scoreLines(heads, panel, index), ...more];
  const scores = lines.map((line) => element("div", "tip-score", line));
  const list = element("ul");
  for (const { words, score, interval, remark } of bestLines(heads, index)) {
    const item = element("li");
    const said = element("span", "", words);
    if (remark) said.append(" ", element("small", "remark", remark));
    const number = element("span", "tip-number");
    number.append(element("b", "", score), ` ${interval}`);
    item.append(said, number);
    list.appendChild(item);
  }
  return [heading, ...scores, list];
}
