// @ts-check
// What happens in the browser alone: the functions that the page's callbacks name, and what is listened to.
import { goneBack, writeAddress } from "./address.mjs";
import { clickedButton } from "./buttons.mjs";
import { writeCards } from "./cards.mjs";
import { leave } from "./cursor.mjs";
import { fit, show } from "./drawing.mjs";
import { answered, arrived, changedLocally, currentQuery, settled } from "./following.mjs";
import { unpack } from "./heads.mjs";
import { jobsTold, listenToJobs, pollJobs } from "./jobs.mjs";
import { keyed } from "./keyboard.mjs";
import { drawPins } from "./outlines.mjs";
import { byId, dash, PARTS } from "./page.mjs";
import { listen } from "./pointer.mjs";
import { listenToPoints, markPoints } from "./points.mjs";
import { chooseTheme, watchScreen } from "./screen.mjs";
import { state } from "./state.mjs";
import { outOfRow, overRow, pickRow, selectRows } from "./table.mjs";

/** @typedef {import("./heads.mjs").Packed} Packed */

/**
 * Draw the maps of a view.
 * @param {Packed | null} packed
 */
function draw(packed) {
  if (!packed) return;
  if (!state.heads) listenToJobs();
  const heads = unpack(packed);
  show(heads);
  arrived(heads);
  listen();
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

/**
 * @param {number | string} value
 */
function number(value) {
  return Number(value).toFixed(2);
}

dash().atlas = {
  open: () => location.search,
  theme: chooseTheme,
  write,
  draw,
  pin,
  cards: writeCards,
  local: changedLocally,
  settled,
  number,
  select: selectRows,
  pick: pickRow,
  told: jobsTold,
  poll: pollJobs,
  points: listenToPoints,
  help: () => true,
};

watchScreen(fit);
addEventListener("popstate", goneBack);
document.addEventListener("keydown", keyed);
document.addEventListener("click", clickedButton);
document.addEventListener("mouseover", overRow);
document.addEventListener("mouseout", outOfRow);
document.addEventListener("focusout", (event) => {
  if (event.target === byId(PARTS.frame)) leave();
});
