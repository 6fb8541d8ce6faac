// @ts-check
// Query strings, written as the server writes them (dashboard/query.py): what differs from the default, in order. No other
// script writes one.

/** @typedef {{key: string, default: unknown, local: boolean, prop?: string}} Setting `prop`: of its control, if it has one */

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
 * A query string of some texts in their order, without the empty ones; empty without any.
 * @param {Record<string, string | readonly string[]>} texts by key; several of one key stand one after the other
 */
export function queryString(texts) {
  return joined(partsOf(texts));
}

/**
 * An address with these texts instead of its own; empty ones are left out, the rest stays as it is written.
 * @param {string} address
 * @param {Record<string, string>} texts by key
 */
export function replaced(address, texts) {
  const [path, query = ""] = address.split(/\?(.*)/s);
  const keys = Object.keys(texts);
  const kept = query.split("&").filter((part) => part && !keys.includes(part.split("=")[0]));
  return path + joined([...kept, ...partsOf(texts)]);
}

/**
 * @param {Record<string, string | readonly string[]>} texts
 */
function partsOf(texts) {
  const parts = [];
  for (const [key, text] of Object.entries(texts)) {
    for (const each of typeof text === "string" ? [text] : text) if (each) parts.push(`${key}=${quoted(each)}`);
  }
  return parts;
}

/**
 * @param {string[]} parts
 */
function joined(parts) {
  return parts.length ? `?${parts.join("&")}` : "";
}

/**
 * What differs from the default, by key, as it stands in an address.
 * @param {Record<string, unknown>} values by key
 * @param {Setting[]} settings in the order of an address
 */
export function written(values, settings) {
  /** @type {Record<string, string>} */
  const texts = {};
  for (const setting of settings) {
    const text = textOf(values[setting.key]);
    if (text !== textOf(setting.default)) texts[setting.key] = text;
  }
  return texts;
}

/**
 * The settings that a form has been told, by which what it says stands in the address of its page.
 * @param {HTMLElement} form
 * @returns {Setting[]}
 */
export function settingsOf(form) {
  return JSON.parse(form.dataset.settings || "[]");
}

/**
 * A model as an address names it.
 * @param {{id: string, fingerprint: string}} card
 */
export function named({ id, fingerprint }) {
  return `${id}@${fingerprint.slice(0, 8)}`;
}

/**
 * A model as the API takes it.
 * @param {string} model its id and fingerprint
 */
export function modelQuery(model) {
  const [, id = "", fingerprint = ""] = /^(.*)@([0-9a-f]*)$/.exec(model) || [];
  return { model: id, fingerprint };
}

/**
 * The query string of a page, with the model that it shows in place of the one it names, if it names any.
 * @param {string} query of the page
 * @param {string} model its id and fingerprint
 */
export function withModel(query, model) {
  const texts = new URLSearchParams(query);
  if (texts.get("model") === model) return query;
  /** @type {Record<string, string | string[]>} */
  const all = { model };
  for (const key of texts.keys()) if (key !== "model") all[key] = texts.getAll(key);
  return queryString(all);
}

/**
 * Where a head's page is.
 * @param {string} head
 * @param {string} model its id and fingerprint
 */
export function pageOf(head, model) {
  return `/head/${head}${queryString({ model })}`;
}

/**
 * Where all answers to a question are.
 * @param {string} text
 * @param {string} model its id and fingerprint
 * @param {string} [own] the id of a custom relation set that is searched, too
 */
export function answersOf(text, model, own = "") {
  return `/search${queryString({ model, own, q: text })}`;
}

/**
 * The query string of a view that names its model.
 * @param {string} model with its fingerprint
 * @param {string} view empty for the first
 * @param {Record<string, unknown>} values by key
 * @param {Setting[]} settings in the order of an address
 */
export function queryOf(model, view, values, settings) {
  return queryString({ model, view, ...written(values, settings) });
}
