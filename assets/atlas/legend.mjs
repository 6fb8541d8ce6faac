// @ts-check
// The legend: what the colours on the page mean.
import { element } from "./elements.mjs";
import { answersOf } from "./query.mjs";

/** @typedef {import("./heads.mjs").Heads} Heads */

/**
 * @typedef {object} Entry a colour, or several, and what they mean (dashboard/maps/entry.py)
 * @property {string} words
 * @property {string} [colour]
 * @property {"swatch" | "framed" | "outlined" | "half" | "ramp" | "square" | "words"} kind
 * @property {string} [inside] another colour within the frame, or the other half
 * @property {string[]} [shades] of a colour bar; of a square row by row from the top
 * @property {string[]} [ends] what stands at both ends of a bar, or along the sides of a square
 */

/**
 * Write a legend; an entry that is called like a panel leads to the heads that it is about.
 * @param {HTMLElement} holder
 * @param {Entry[]} entries
 * @param {Pick<Heads, "model" | "own" | "panels">} heads
 */
export function writeLegend(holder, entries, heads) {
  const titles = new Set(heads.panels.map((panel) => panel.title));
  const pieces = entries.map((entry) => drawn(entry, titles.has(entry.words) ? answersOf(entry.words, heads.model, heads.own) : ""));
  holder.replaceChildren(...pieces);
}

/**
 * @param {Entry} entry
 * @param {string} address where it leads; empty of an entry that is no link
 */
function drawn(entry, address) {
  const made = element(address ? "a" : "span", "legend-entry");
  if (address) {
    made.setAttribute("href", address);
    made.title = `Search for ${entry.words}: its heads as a list`;
  }
  made.append(...picture(entry), entry.words);
  return made;
}

/**
 * @param {Entry} entry
 * @returns {HTMLElement[]}
 */
function picture(entry) {
  const { colour = "", inside = "", shades = [], ends = [] } = entry;
  switch (entry.kind) {
    case "swatch":
      return [swatch("swatch", colour)];
    case "outlined":
      return [swatch("swatch outlined", colour)];
    case "framed": {
      const frame = swatch("swatch framed", inside);
      frame.style.borderColor = colour;
      return [frame];
    }
    case "half":
      return [swatch("swatch", `linear-gradient(to top right, ${colour} 50%, ${inside} 50%)`)];
    case "ramp": {
      const bar = swatch("ramp", `linear-gradient(90deg, ${shades.join(", ")})`);
      return ends.length ? [element("span", "", ends[0]), bar, element("span", "", ends[1])] : [bar];
    }
    case "square":
      return square(shades, ends);
    default:
      return [];
  }
}

/**
 * @param {string} className
 * @param {string} background
 */
function swatch(className, background) {
  const made = element("i", className);
  made.style.background = background;
  return made;
}

/**
 * Every mixture of two colours, one to the right and one upwards.
 * @param {string[]} shades
 * @param {string[]} ends
 */
function square(shades, [up, right, label]) {
  const cells = element("span", "channels");
  cells.setAttribute("role", "img");
  cells.setAttribute("aria-label", `Colours: ${label}`);
  cells.append(...shades.map((shade) => swatch("", shade)));
  return [element("span", "channel-up", up), cells, element("span", "channel-right", right)];
}
