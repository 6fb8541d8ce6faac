// @ts-check
// On a phone the cards of pinned heads are a sheet above the page: it comes up when a head was tapped and its card is there.
import { byId, PARTS } from "./page.mjs";

/** @type {{isWanted: boolean}} */
const drawer = { isWanted: false };

/** A head was tapped: its card is to be seen. */
export function wantCard() {
  drawer.isWanted = matchMedia("(max-width: 760px)").matches;
}

/** The cards have changed: the sheet comes up when one is wanted, and goes when there is none. */
export function cardsCame() {
  const hasCards = byId(PARTS.inspector).querySelector(".head-card") !== null;
  if (drawer.isWanted && hasCards) byId(PARTS.drawer).classList.add("raised");
  if (!hasCards) lower();
  drawer.isWanted = false;
}

/** Let the sheet down; the heads stay pinned. */
export function lower() {
  byId(PARTS.drawer).classList.remove("raised");
}
