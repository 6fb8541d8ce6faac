// @ts-check
// Links from one view to another keep what the local controls say, which the server does not know.
import { replaced, written } from "./query.mjs";
import { rules } from "./rules.mjs";

/**
 * Put the local settings into the addresses of all links to views, but for those that a link sets itself.
 * @param {Record<string, unknown>} values of the settings
 */
export function keepSettings(values) {
  const local = rules().settings.filter((setting) => setting.local);
  for (const link of document.querySelectorAll("a[data-view], a[data-set]")) {
    const own = (link.getAttribute("data-set") || link.getAttribute("data-view") || "").split(" ")[0];
    const kept = local.filter(({ key }) => key !== own);
    const empty = Object.fromEntries(kept.map(({ key }) => [key, ""]));
    const address = replaced(link.getAttribute("href") || "", { ...empty, ...written(values, kept) });
    if (address !== link.getAttribute("href")) link.setAttribute("href", address);
  }
}
