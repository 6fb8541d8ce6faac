// @ts-check
// What the tests share: a small view as the server sends it.
import { readFileSync } from "node:fs";
import { parseRules } from "../../assets/atlas/rules.mjs";

/** @typedef {import("../../assets/atlas/heads.mjs").Packed} Packed */

/** Ways to write a head's name, with the server's pattern. */
export const NAMES = JSON.parse(readFileSync(new URL("head_names.json", import.meta.url), "utf-8"));

/** How texts are shown and written into a CSV file: pairs of a text and what becomes of it. */
export const TEXTS = JSON.parse(readFileSync(new URL("../cases/texts.json", import.meta.url), "utf-8"));

/** How a head's name is written, as the scripts are told. */
export const HEAD = parseRules(JSON.stringify({ pins: 8, head: NAMES.pattern, upload: 5e6 })).head;

/**
 * An array as it travels.
 * @param {Uint8Array | Uint16Array | Float32Array} array
 */
export function base64(array) {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("base64");
}

/** How a panel looks in which the first head is coloured, and the last one marked. */
const look = {
  shades: ["#eceff3", "#0072b2"],
  codes: base64(Uint8Array.of(1, 0, 0, 1)),
  marks: base64(Uint8Array.of(0, 0, 0, 1)),
  empty: "#eceff3",
  ground: "",
};

/** What a panel is drawn with, beside its numbers. */
const drawn = { note: "2 heads", row: "", column: "", look, profile: null };

/**
 * Two layers of two heads with three panels.
 * @returns {Packed}
 */
export function packed() {
  /** @type {any} what only some tests need is left out */
  const view = {
    model: "some/model@01234567",
    named: "?model=some/model@01234567",
    own: "",
    numbers: "",
    layers: [3, 5],
    heads: 2,
    across: false,
    upward: false,
    drawn: 3,
    largest: 26,
    reasons: ["", "not applicable", "running"],
    labels: [
      { words: ["Unclassified", "Knowledge · Linguistic"], codes: base64(Uint16Array.of(1, 0, 0, 0)) },
      { words: ["helping", "hurting"], codes: base64(Uint16Array.of(0, 1, 0, 1)) },
    ],
    panels: [
      { ...drawn, key: "all", title: "All", reason: "", label: 0 },
      {
        ...drawn,
        key: "two",
        title: "Math · Any",
        reason: base64(Uint8Array.of(0, 0, 0, 2)),
        label: 1,
      },
      { ...drawn, key: "none", title: "Empty", reason: base64(Uint8Array.of(1, 1, 1, 0)), label: null },
    ],
    best: {
      count: 2,
      titles: ["hot → cold", "run → ran"],
      verbs: ["promotes", "suppresses"],
      item: base64(Uint8Array.of(1, 0, 0, 1, 0, 1, 1, 0)),
      verb: base64(Uint8Array.of(0, 0, 1, 0, 1, 0, 0, 0)),
      score: base64(Float32Array.of(0.65, 0.1, 0.1, 0, 0.25, 0, 0.05, 0)),
      low: base64(Uint8Array.of(50, 4, 4, 0, 14, 0, 1, 0)),
      high: base64(Uint8Array.of(78, 23, 23, 9, 40, 9, 17, 9)),
      remarks: ["", "copy-like"],
      remark: base64(Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0)),
    },
  };
  return view;
}

/**
 * The same with its numbers: one nameless measure; two named ones; none.
 * @param {import("../../assets/atlas/heads.mjs").Heads} heads
 */
export function measured(heads) {
  const scores = Float32Array.of(0.65, 0.1, 0.1, 0);
  const shares = Uint16Array.of(65535, 0, 32768, 0);
  const exact = { low: 0, step: 1, digits: 2, ranked: true, interval: null, values: () => scores };
  const rounded = { ...exact, step: 1 / 65535, values: () => shares };
  const signed = { ...rounded, low: -0.5, digits: 4, ranked: false };
  const measures = [[{ ...exact, name: "" }], [{ ...rounded, name: "F" }, { ...signed, name: "g" }], []];
  return { ...heads, panels: heads.panels.map((panel, i) => ({ ...panel, measures: measures[i] })) };
}
