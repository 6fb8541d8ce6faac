// @ts-check
// What the controls say, read from Dash's own store in the moment it changes. A callback would come later: Dash queues
// callbacks behind a timer and some twenty steps of books that it keeps, which take longer than drawing all maps.
import { PARTS, propsOf } from "./page.mjs";
import { rules } from "./rules.mjs";

/** @typedef {import("./query.mjs").Setting} Setting */
/**
 * @callback Take is given each control that says something else
 * @param {Setting} setting
 * @param {unknown} given
 * @param {boolean} isOnItsWay a view has come, which is not drawn yet: the control may say what the view does
 */

/**
 * @typedef {object} Store what is used of Dash's
 * @property {() => {layout: unknown}} getState
 * @property {(listener: () => void) => void} subscribe
 */

/** @type {{layout: unknown, given: Map<string, unknown>, drawn: unknown, isReading: boolean}} */
const page = { layout: null, given: new Map(), drawn: null, isReading: false };

/**
 * Be told of all that local controls say, from now on.
 * @param {Take} take
 * @param {(isOnItsWay: boolean) => void} done after all of them; a view that says more may have come without being drawn yet
 */
export function watchControls(take, done) {
  const [store] = /** @type {{dash_stores: Store[]}} */ (/** @type {unknown} */ (window)).dash_stores;
  read(store, () => {});
  store.subscribe(() => {
    if (page.isReading || store.getState().layout === page.layout) return;
    page.isReading = true;
    queueMicrotask(() => {
      page.isReading = false; // an answer sets several controls, one after the other
      if (read(store, take)) done(propsOf(PARTS.heads)?.data !== page.drawn);
    });
  });
}

/** The view that Dash has is the one on the page. */
export function viewTaken() {
  page.drawn = propsOf(PARTS.heads)?.data;
}

/**
 * Tell of those that have changed; whether there were any.
 * @param {Store} store
 * @param {Take} take
 */
function read(store, take) {
  page.layout = store.getState().layout;
  const isOnItsWay = propsOf(PARTS.heads)?.data !== page.drawn;
  let isOther = false;
  for (const setting of rules().settings) {
    if (!setting.prop) continue;
    const given = propsOf(setting.key)?.[setting.prop];
    if (page.given.has(setting.key) && page.given.get(setting.key) === given) continue;
    page.given.set(setting.key, given);
    writeNumber(setting, given);
    if (!setting.local) continue;
    take(setting, given, isOnItsWay);
    isOther = true;
  }
  return isOther;
}

/**
 * The number beside a control's name.
 * @param {Setting} setting
 * @param {unknown} given
 */
function writeNumber({ key }, given) {
  const beside = document.getElementById(`${key}-shown`);
  const text = Number(given).toFixed(2);
  if (beside && beside.textContent !== text) beside.textContent = text;
}
