// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, cellNamed, countOf, indexOf, nameOf, numbers, parseName, unpack } from "../../assets/atlas/heads.mjs";
import { base64, HEAD, NAMES, packed } from "./samples.mjs";

test("people write heads in several ways; the server's tests read the same table", () => {
  for (const [text, layer, head] of NAMES.heads) assert.deepEqual(parseName(text, HEAD), [layer, head], text);
});

test("anything else is no head's name", () => {
  for (const text of [...NAMES.others, null, undefined]) assert.equal(parseName(text, HEAD), null, String(text));
});

test("a head is found by its layer's own number, and none beyond the last", () => {
  const heads = { layers: [1, 3, 5], heads: 4 };
  assert.deepEqual(cellNamed(heads, "L3H2", HEAD), [1, 2]);
  assert.equal(nameOf(heads, [1, 2]), "L3H2");
  assert.equal(indexOf(heads, [1, 2]), 6);
  assert.equal(countOf(heads), 12);
  for (const name of ["L2H0", "L3H4", "L6H0", "nothing"]) assert.equal(cellNamed(heads, name, HEAD), null, name);
});

test("numbers of one, two and four bytes are read as they were written", () => {
  assert.deepEqual([...bytes(base64(Uint8Array.of(0, 128, 255)))], [0, 128, 255]);
  assert.deepEqual([...numbers(base64(Uint16Array.of(0, 258, 65535)), "u2")], [0, 258, 65535]);
  assert.deepEqual([...numbers(base64(Float32Array.of(0.5, -2, NaN)), "f4")], [0.5, -2, NaN]);
  assert.deepEqual([...numbers("AQI=", "u2")], [513]); // little-endian
});

test("the store is unpacked: labels to their panels, and numbers are waited for where there are any", () => {
  const heads = unpack(packed());
  const [all, roles] = heads.panels;
  assert.deepEqual([heads.isWaiting, unpack({ ...packed(), numbers: "/view/numbers/1" }).isWaiting], [false, true]);
  assert.equal(all.reason, null);
  assert.deepEqual(all.label?.words, ["Unclassified", "Knowledge · Linguistic"]);
  assert.deepEqual([...(roles.reason ?? [])], [0, 0, 0, 2]);
  assert.equal(heads.panels[2].label, null);
  assert.deepEqual([...all.look.codes], [1, 0, 0, 1]);
  assert.deepEqual([...(all.look.marks ?? [])], [0, 0, 0, 1]);
  assert.deepEqual([...(heads.best?.item() ?? [])], [1, 0, 0, 1, 0, 1, 1, 0]);
});

test("an array is decoded once, when it is first asked for", () => {
  const { best } = unpack(packed());
  assert.equal(best?.score(), best?.score());
  const broken = packed();
  if (broken.best) broken.best.score = "not base64!";
  const unpacked = unpack(broken);
  assert.throws(() => unpacked.best?.score());
});

test("a model without items has no best ones", () => {
  assert.equal(unpack({ ...packed(), best: null }).best, null);
});
