// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  queryOf,
  queryString,
  quoted,
  replaced,
  textOf,
  valueFor,
  withModel,
  written,
} from "../../assets/atlas/query.mjs";

const SETTINGS = [
  { key: "how", default: "any", local: true },
  { key: "tau", default: 0.15, local: true },
  { key: "tasks", default: [], local: false },
  { key: "transpose", default: false, local: true },
];

test("values stand in an address as the server writes them", () => {
  const texts = [true, false, 0.3, 0.1499, 5, 0.30000000000000004, ["math", "syntax"], "No", null].map(textOf);
  assert.deepEqual(texts, ["1", "0", "0.3", "0.1499", "5", "0.3", "math,syntax", "No", ""]);
});

test("a page that names no model, or one without its weights, gets an address that does", () => {
  assert.equal(withModel("", "org/m@12"), "?model=org/m@12");
  assert.equal(withModel("?how=always&model=org/m&pin=L1H2", "org/m@12"), "?model=org/m@12&how=always&pin=L1H2");
  assert.equal(withModel("?tasks=a%20b&tasks=c", "m@12"), "?model=m@12&tasks=a%20b&tasks=c");
  for (const named of ["?model=m@12", "?how=always&model=m%4012"]) assert.equal(withModel(named, "m@12"), named);
});

test("an empty control stands for the default", () => {
  for (const empty of ["", null, undefined]) assert.equal(valueFor(empty, SETTINGS[1]), 0.15);
  assert.equal(valueFor(0.123456, SETTINGS[1]), 0.1235);
  assert.equal(valueFor(false, SETTINGS[3]), false);
});

test("what can be read stays readable, all else is escaped", () => {
  assert.equal(quoted("a@b.c,d/e:f-g_h~"), "a@b.c,d/e:f-g_h~");
  assert.equal(quoted("The story of (!'*)&ü"), "The%20story%20of%20%28%21%27%2A%29%26%C3%BC");
});

test("a query names the model and what differs from the default, in order", () => {
  const values = { how: "always", tau: 0.15, tasks: ["math"], transpose: true };
  assert.equal(queryOf("m@12", "", values, SETTINGS), "?model=m@12&how=always&tasks=math&transpose=1");
  assert.equal(queryOf("m@12", "causal", { ...values, how: "any" }, SETTINGS), "?model=m@12&view=causal&tasks=math&transpose=1");
});

test("a form's address names what differs from what the form was told, and nothing that is empty", () => {
  const settings = [
    { key: "model", default: "", local: false },
    { key: "ablate", default: "last", local: false },
    { key: "text", default: "", local: false },
  ];
  const query = queryString(written({ text: "a & b\nc", model: "org/m@12", ablate: "last" }, settings));
  assert.equal(query, "?model=org/m@12&text=a%20%26%20b%0Ac");
  assert.equal(queryString({ head: ["L1H2", "L3H4"], fit: "" }), "?head=L1H2&head=L3H4");
  assert.equal(queryString({}), "");
});

test("an address keeps what is not replaced, as it is written; a key that only begins alike is another", () => {
  assert.equal(replaced("/x?pin=L1H1&pinned=1&a=%20b", { pin: "", zoom: "L1-2" }), "/x?pinned=1&a=%20b&zoom=L1-2");
  assert.equal(replaced("?pin=L1H1", { pin: "" }), "");
});
