// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { pageOf, shownQuery, valueOf, withPins } from "../../assets/atlas/address.mjs";
import { fileName } from "../../assets/atlas/pictures.mjs";

const MODEL = "org/model@01234567";

test("pins replace those of an address, whose other parts stay as they are written", () => {
  assert.equal(withPins("?model=a/b@12&tau=0.3", ["L1H2", "L3H4"]), "?model=a/b@12&tau=0.3&pin=L1H2.L3H4");
  assert.equal(withPins("?model=a&pin=L9H9&tau=0.3", ["L1H2"]), "?model=a&tau=0.3&pin=L1H2");
  assert.equal(withPins("?pin=L9H9&tau=0.3", ["L1H2"]), "?tau=0.3&pin=L1H2");
  assert.equal(withPins("/export/view.csv?model=a&pin=L9H9", []), "/export/view.csv?model=a");
  assert.equal(withPins("?title=a?b&x=%20", ["L1H2"]), "?title=a?b&x=%20&pin=L1H2");
});

test("without pins and other parts nothing is left but the path", () => {
  assert.equal(withPins("", []), "");
  assert.equal(withPins("?pin=L1H1", []), "");
  assert.equal(withPins("/page", []), "/page");
});

test("the default view has a bare address, unless heads are pinned", () => {
  const named = `?model=${MODEL}`;
  assert.equal(shownQuery("", [], named), "");
  assert.equal(shownQuery("", ["L1H2"], named), `?model=${MODEL}&pin=L1H2`);
  assert.equal(shownQuery("?tau=0.3", [], named), "?tau=0.3");
  assert.equal(shownQuery("?tau=0.3", ["L1H2"], named), "?tau=0.3&pin=L1H2");
});

test("model and view make a page of the history, other parts do not", () => {
  assert.equal(pageOf("?tau=0.3", MODEL), pageOf("?tau=0.4", MODEL));
  assert.notEqual(pageOf("", MODEL), pageOf("?view=table", MODEL));
  assert.notEqual(pageOf("", MODEL), pageOf("", "other"));
});

test("a part that is not there is empty", () => {
  assert.equal(valueOf("?view=table", "view"), "table");
  assert.equal(valueOf("?view=table", "model"), "");
});

test("a picture is named after the page, in letters that every disk takes", () => {
  assert.equal(fileName("org/model · Map: 1"), "org-model-Map-1");
});
