// @ts-check
// The heads of a comparison as lists: those that are selected, and those of two models that are most alike.
import { form, part } from "./compare_form.mjs";
import { markHeads, numberWords } from "./compare_maps.mjs";
import { element } from "./elements.mjs";
import { nameAt } from "./heads.mjs";
import { named, pageOf, queryString } from "./query.mjs";

/** @typedef {import("./compare_maps.mjs").Card} Card */
/** @typedef {import("./compare_maps.mjs").Side} Side */
/** @typedef {import("./heat.mjs").Place} Place */
/** @typedef {{model: Card, other: Card, matches: {head: string, other: string, cosine: number}[]}} Matches */

/**
 * List selected heads, and mark them on the maps.
 * @param {Side} left
 * @param {Side} right
 * @param {Place[]} places
 */
export function listSelected(left, right, places) {
  markHeads(places);
  const holder = part("compare-heads");
  if (!places.length) {
    holder.replaceChildren(element("h2", "", "Selected heads"), element("p", "hint", "Drag over the points to select heads."));
    return;
  }
  const numberOf = (/** @type {Place} */ { row, column }) => Number(left.values[row][column]);
  const ordered = [...places].sort((one, other) => numberOf(other) - numberOf(one));
  const rows = ordered.map((place) => [nameAt(left.card, place), numberWords(left, place), numberWords(right, place)]);
  const title = rows.length === 1 ? "1 selected head" : `${rows.length} selected heads`;
  const table = headTable(["head", left.title, right.title], rows, [left.card]);
  holder.replaceChildren(element("h2", "", title), pinLink(left.card, rows.map(([name]) => name)), table);
}

/**
 * Where the heads are pinned on the maps; how many of them, where not all can be.
 * @param {Card} card
 * @param {string[]} names
 */
function pinLink(card, names) {
  const most = Number(form().dataset.pins);
  const link = element("a", "button", names.length > most ? `Pin the first ${most} on the maps` : "Pin them on the maps");
  link.href = `/${queryString({ model: named(card), pin: names.slice(0, most).join(".") })}`;
  const line = element("p");
  line.append(link);
  if (names.length > most) line.append(element("span", "hint", ` Up to ${most} heads can be pinned; the other ${names.length - most} are only listed here.`));
  return line;
}

/** Take away the heads that are selected, where there are no points to select. */
export function clearSelected() {
  part("compare-heads").replaceChildren();
}

/**
 * List the heads of two models whose scores are most similar; none for one model.
 * @param {Matches | null} found
 */
export function listMatches(found) {
  const holder = part("compare-matches");
  if (!found) return holder.replaceChildren();
  const rows = found.matches.map((match) => [match.head, match.other, match.cosine.toFixed(2)]);
  const table = headTable([found.model.id, found.other.id, "cosine"], rows, [found.model, found.other]);
  const hint =
    "By the cosine of the scores that both models have (1 for equal proportions). Pairs whose scores are both similar and " +
    "high come first: they are ordered by cosine times the length of the weaker head's scores.";
  holder.replaceChildren(element("h2", "", "Most similar heads"), element("p", "hint", hint), table);
}

/**
 * A table whose first columns, one for each card, lead to heads' pages.
 * @param {string[]} titles
 * @param {string[][]} rows
 * @param {Card[]} cards
 */
function headTable(titles, rows, cards) {
  const table = element("table");
  const head = table.createTHead().insertRow();
  for (const title of titles) head.append(element("th", "", title));
  const body = table.createTBody();
  for (const cells of rows) {
    const line = body.insertRow();
    for (const [i, cell] of cells.entries()) line.insertCell().append(cards[i] ? linkTo(cards[i], cell) : cell);
  }
  return table;
}

/**
 * @param {Card} card
 * @param {string} head
 */
function linkTo(card, head) {
  const link = element("a", "", head);
  link.href = pageOf(head, named(card));
  return link;
}
