// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { changedKeys, isGesture, isOneOf, shownQuery, valueOf, withOwn, withPins } from "../../assets/atlas/address.mjs";
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

test("the default view has a bare address, unless heads are pinned or the maps are zoomed", () => {
  const named = `?model=${MODEL}`;
  assert.equal(shownQuery("", { pin: "", zoom: "" }, named), "");
  assert.equal(shownQuery("", { pin: "L1H2" }, named), `?model=${MODEL}&pin=L1H2`);
  assert.equal(shownQuery("", { zoom: "L0-9.H0-3" }, named), `?model=${MODEL}&zoom=L0-9.H0-3`);
  assert.equal(shownQuery("?tau=0.3", {}, named), "?tau=0.3");
  assert.equal(shownQuery("?tau=0.3", { pin: "L1H2" }, named), "?tau=0.3&pin=L1H2");
});

test("what the browser looks after replaces its own parts, readable and escaped", () => {
  const values = { filter: "best:contains:a&b", sort: "-panel.all", pin: "L1H2" };
  const written = "?view=table&sort=-panel.all&filter=best:contains:a%26b&pin=L1H2";
  assert.equal(withOwn("?view=table&pin=L9H9&zoom=L1-2.H1-2&sort=name", values), written);
  assert.equal(valueOf(written, "filter"), values.filter);
});

test("each key that changed is known; the default model need not be named", () => {
  assert.deepEqual(changedKeys("", `?model=${MODEL}&tau=0.3`, false), ["tau"]);
  assert.deepEqual(changedKeys("?tau=0.3&pin=L1H1", "?tau=0.3", false), ["pin"]);
  assert.deepEqual(changedKeys("?how=any", "?model=other&how=any", true), ["model"]);
  assert.deepEqual(changedKeys("?tau=0.3", "?tau=0.3", false), []);
});

test("a slider, the zoom and a filter go on while a hand moves; pins, views and switches do not", () => {
  assert.ok(isGesture(["tau"], "", "?tau=0.3"));
  assert.ok(isGesture(["tau"], "?tau=0.3", ""));
  assert.ok(isGesture(["zoom"], "", "?zoom=L0-9.H0-3"));
  assert.ok(isGesture(["filter"], "", "?filter=best:contains:a"));
  assert.ok(!isGesture(["pin"], "", "?pin=L1H1"));
  assert.ok(!isGesture(["how"], "", "?how=always"));
  assert.ok(!isGesture(["view", "tau"], "", "?view=table&tau=0.3"));
});

test("a view that comes late is known by its address", () => {
  assert.ok(isOneOf(["?tau=0.3&pin=L1H1&zoom=L0-1.H0-1"], "?tau=0.3&pin=L1H1"));
  assert.ok(!isOneOf(["?tau=0.3&pin=L1H1"], "?tau=0.3"));
  assert.ok(!isOneOf([], ""));
});

test("a part that is not there is empty", () => {
  assert.equal(valueOf("?view=table", "view"), "table");
  assert.equal(valueOf("?view=table", "model"), "");
});

test("a picture is named after the page, in letters that every disk takes", () => {
  assert.equal(fileName("org/model · Map: 1"), "org-model-Map-1");
});
