// @ts-check
// The query string of a view, written as the server writes it (dashboard/state.py): what differs from the default, in order.

/** @typedef {{key: string, default: unknown, local: boolean}} Setting */

/**
 * A value as it stands in an address.
 * @param {unknown} value
 */
export function textOf(value) {
  if (typeof value === "boolean") return value ? "1" : "0";
  if (typeof value === "number") return String(Number(value.toFixed(4)));
  if (Array.isArray(value)) return value.join(",");
  return String(value ?? "");
}

/**
 * What a control says, as the state has it: an empty one stands for the default.
 * @param {unknown} value
 * @param {Setting} setting
 */
export function valueFor(value, setting) {
  if (value === null || value === undefined || value === "") return setting.default;
  return typeof value === "number" ? Number(value.toFixed(4)) : value;
}

/**
 * A text in a query string; a few characters stand as they are, so that people can read it.
 * @param {string} text
 */
export function quoted(text) {
  const escaped = encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  return escaped.replace(/%(40|2C|2F|3A)/g, (code) => decodeURIComponent(code));
}

/**
 * The query string of a view that names its model.
 * @param {string} model with its fingerprint
 * @param {string} view empty for the first
 * @param {Record<string, unknown>} values by key
 * @param {Setting[]} settings in the order of an address
 */
export function queryOf(model, view, values, settings) {
  const parts = [`model=${quoted(model)}`];
  if (view) parts.push(`view=${quoted(view)}`);
  for (const setting of settings) {
    const text = textOf(values[setting.key]);
    if (text !== textOf(setting.default)) parts.push(`${setting.key}=${quoted(text)}`);
  }
  return `?${parts.join("&")}`;
}
