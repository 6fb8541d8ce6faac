// @ts-check
// What happens in the browser alone: the functions that the page's callbacks name, and what is listened to.
import { goneBack, takeZoom, writeAddress } from "./address.mjs";
import { clickedButton } from "./buttons.mjs";
import { writeCards } from "./cards.mjs";
import { watchControls } from "./controls.mjs";
import { leave } from "./cursor.mjs";
import { cardsCame } from "./drawer.mjs";
import { fit, show } from "./drawing.mjs";
import { showFigure } from "./figures.mjs";
import { answered, arrived, changed, currentQuery, settled, taken } from "./following.mjs";
import { unpack } from "./heads.mjs";
import { jobsSent, listenToJobs, pollJobs } from "./jobs.mjs";
import { keyed } from "./keyboard.mjs";
import { drawPins } from "./outlines.mjs";
import { byId, dash, PARTS } from "./page.mjs";
import { listen } from "./pointer.mjs";
import { markPoints } from "./points.mjs";
import { chooseTheme, screenKnown, watchScreen } from "./screen.mjs";
import { startHooks } from "./start.mjs";
import { state } from "./state.mjs";
import { choosing, hideSuggestions, typing } from "./suggestions.mjs";
import { makeRows, outOfRow, overRow, pickRow, selectRows } from "./table.mjs";

/** @typedef {import("./heads.mjs").Packed} Packed */

/** @typedef {import("./elements.mjs").Piece} Piece */

/** @type {{heads: Packed | null, cards: Piece[] | null}} */
const early = { heads: null, cards: null }; // what was drawn before Dash's first callbacks, which bring the same again

/**
 * Draw the first view, as soon as there is a place for it.
 * @param {Record<string, any>} stores
 */
function start({ heads, pins, cards, screen }) {
  screenKnown(screen);
  state.pins = pins || [];
  listenToJobs();
  takeZoom(heads);
  draw(heads);
  watchControls(taken, changed);
  writeCards(cards);
  [early.heads, early.cards] = [heads, cards];
}

/**
 * Draw the maps of a view.
 * @param {Packed | null} packed
 */
function draw(packed) {
  if (!packed || isAgain("heads")) return;
  const heads = unpack(packed);
  show(heads);
  arrived(heads);
  listen();
}

/**
 * Whether something was drawn already; asked once.
 * @param {keyof typeof early} part
 */
function isAgain(part) {
  const isThere = early[part] !== null;
  early[part] = null;
  return isThere;
}

/**
 * Show the cards of the pinned heads.
 * @param {Piece[] | null} pieces
 */
function cards(pieces) {
  if (isAgain("cards")) return;
  writeCards(pieces);
  cardsCame();
}

/**
 * Write a view and its pins into the address.
 * @param {string | null | undefined} query
 * @param {string[] | null} pins
 */
function write(query, pins) {
  if (query === null || query === undefined) return;
  state.pins = pins || state.pins;
  answered(query);
  writeAddress(currentQuery() ?? query);
}

/**
 * Outline the pinned heads.
 * @param {string[] | null} pins
 */
function pin(pins) {
  state.pins = pins || [];
  drawPins();
  markPoints();
}

dash().atlas = {
  theme: chooseTheme,
  write,
  draw,
  pin,
  cards,
  settled,
  rows: makeRows,
  select: selectRows,
  pick: pickRow,
  jobs: jobsSent,
  poll: pollJobs,
  figure: showFigure,
  help: () => true,
};

/** What Dash calls as it starts. */
export const hooks = startHooks(start);

watchScreen(fit);
addEventListener("popstate", goneBack);
document.addEventListener("keydown", choosing, true);
document.addEventListener("input", typing);
document.addEventListener("keydown", keyed);
document.addEventListener("click", clickedButton);
document.addEventListener("click", hideSuggestions);
document.addEventListener("toggle", settled, true); // a section was unfolded
document.addEventListener("mouseover", overRow);
document.addEventListener("mouseout", outOfRow);
document.addEventListener("focusout", (event) => {
  if (event.target === byId(PARTS.frame)) leave();
});
