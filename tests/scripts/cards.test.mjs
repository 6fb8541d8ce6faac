// @ts-check
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { titleOf } from "../../assets/atlas/cards.mjs";
import { classOf } from "../../assets/atlas/maps/agreement_card.mjs";
import { roleIn } from "../../assets/atlas/maps/causal_card.mjs";
import { remarksOn } from "../../assets/atlas/maps/function_card.mjs";

const tables = JSON.parse(readFileSync(new URL("../cases/cards.json", import.meta.url), "utf8"));
const DEFAULTS = { label: 0.15, cause: 0.5, change: 0.1, matters: "mean", counted: "all" };

for (const { name, seeds, threshold, about, odd, expected } of tables.roles) {
  test(`a role in words: ${name}`, () => assert.equal(roleIn(seeds, threshold, about, odd), expected));
}

for (const { name, effects, tau, expected } of tables.remarks) {
  const told = effects.map((/** @type {any} */ { beyond, ...effect }) => ({ ...effect, copies: beyond < 0.5 }));
  test(`what speaks against a label: ${name}`, () => assert.deepEqual(remarksOn(told, tau), expected));
}

for (const { name, facts, state, expected } of tables.classes) {
  test(`label and cause: ${name}`, () => assert.deepEqual(classOf(facts, { ...DEFAULTS, ...state }), expected));
}

test("a head is called once where all panels agree, else by each panel", () => {
  /** @type {(title: string, label: object | null) => any} */
  const panel = (title, label) => ({ title, label });
  const label = { words: ["Unclassified", "Knowledge"], codes: Uint16Array.of(1, 0) };
  assert.equal(titleOf([panel("All", label), panel("Knowledge", label)], 0), "Knowledge");
  const other = { words: ["needs it"], codes: Uint16Array.of(0, 0) };
  assert.equal(titleOf([panel("Math", label), panel("Syntax", other)], 1), "Math: Unclassified · Syntax: needs it");
  assert.equal(titleOf([panel("Map", null)], 0), "");
});
