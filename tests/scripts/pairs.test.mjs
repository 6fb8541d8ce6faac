// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, sampleButton, hitWords, printable, questionOf, rowsOf } from "../../assets/atlas/pairs.mjs";
import { TEXTS } from "./samples.mjs";

test("a button's question becomes an address, in which everything is escaped", () => {
  const data = { pairs: "my rel & co", head: "L1H2", kind: "promote", method: "m", result: "0a1b", own: "mine@12", sample: "No", samples: "No\nThe story of" };
  const question = questionOf(data);
  assert.deepEqual(question.samples, ["No", "The story of"]);
  const address = new URL(addressOf(question, "org/my@name@0123abcd"), "http://localhost");
  assert.equal(address.pathname, "/api/pairs");
  assert.deepEqual(Object.fromEntries(address.searchParams), {
    model: "org/my@name",
    fingerprint: "0123abcd",
    head: "L1H2",
    relation: "my rel & co",
    kind: "promote",
    method: "m",
    result: "0a1b",
    own: "mine@12",
    sample: "No",
  });
  assert.deepEqual(questionOf({ pairs: "x" }).samples, []);
});

test("a sample's button asks the same question of that sample", () => {
  const data = { pairs: "opposites", head: "L1H2", kind: "suppress", method: "m", result: "0a1b", own: "mine@12", sample: "No", samples: "No\nThe story of", verb: "suppresses", title: "word → opposite", place: "lowest", where: "after", called: "carriers" };
  const { props } = sampleButton(questionOf(data), "The story of");
  const carried = Object.entries(props).filter(([name]) => name.startsWith("data-"));
  const dataset = Object.fromEntries(carried.map(([name, value]) => [name.slice("data-".length), String(value)]));
  assert.deepEqual(questionOf(dataset), { ...questionOf(data), sample: "The story of" });
  assert.equal(props["aria-pressed"], "false");
});

test("of several samples the dialog says whose pairs it lists, in the words of the map", () => {
  const worth = { low: 0.5457, high: 0.8188, beyond: 0.3333 };
  const answer = { head: "L1H2", kind: "promote", title: "", k: 7, hits: 28, kept: 40, ...worth, pairs: [] };
  const highest = { pairs: "x", kind: "promote", place: "highest" };
  const one = questionOf({ ...highest, sample: "No", samples: "No\nThe story of", where: "after", called: "carriers" });
  const told = "28 of 40 pairs are hits (95 % interval 0.55–0.82): their target is among the 7 tokens that the head ranks highest.";
  const words = `${told} Of the hits, a share of 0.33 (β) rank above the source itself.`;
  assert.equal(hitWords(one, answer), `After “No”, one of 2 carriers, ${words}`);
  assert.equal(hitWords(questionOf(highest), answer), words);
  assert.equal(hitWords(questionOf(highest), { ...answer, beyond: null }), told);
  const none = { ...answer, hits: 0, kept: 0, low: null, high: null, beyond: null };
  assert.match(hitWords(questionOf(highest), none), /^0 of 0 pairs are hits: /);
});

test("nothing in a token is invisible or turns the text around", () => {
  for (const [text, shown] of TEXTS.printable) assert.equal(printable(text), shown);
});

test("pairs become rows of plain text", () => {
  const pair = { source: "France", target: "Paris", hit: true, rank: 2, source_rank: 1, top: [" France", " Paris"] };
  assert.deepEqual(rowsOf([pair, { ...pair, hit: false }]).map(({ hit, top }) => [hit, top]), [
    ["hit", "␣France  ␣Paris"],
    ["miss", "␣France  ␣Paris"],
  ]);
});
