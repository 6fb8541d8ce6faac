// @ts-check
// The start of the page: its layout brings the first view. The maps are drawn as soon as their frame is on the page, before
// the browser shows it, so that nothing is seen empty and filled later.
import { PARTS } from "./page.mjs";

/** @typedef {{props?: {id?: unknown, data?: unknown, children?: unknown}}} Component */
/** @typedef {Record<string, unknown>} First the data of the stores by their ids */

/** @type {{stores: First | null}} */
const first = { stores: null };

/**
 * The data of the stores in a layout, which are children of its root.
 * @param {Component} layout
 * @returns {First}
 */
export function storesIn(layout) {
  const children = layout.props?.children;
  /** @type {First} */
  const stores = {};
  for (const child of Array.isArray(children) ? children : []) {
    const { id, data } = child?.props || {};
    if (typeof id === "string" && data !== undefined) stores[id] = data;
  }
  return stores;
}

/**
 * What Dash calls when the layout has come, and before it makes elements of it.
 * @param {(stores: First) => void} draw
 */
export function startHooks(draw) {
  return {
    layout_post: (/** @type {Component} */ layout) => {
      first.stores = storesIn(layout);
      const observer = new MutationObserver(() => {
        if (!document.getElementById(PARTS.maps) || !first.stores) return;
        observer.disconnect();
        draw(first.stores);
      });
      observer.observe(document.body, { childList: true, subtree: true });
    },
  };
}
