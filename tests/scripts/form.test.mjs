// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { chosenFields, collected, complaints, parseNumbers, unusedFiles } from "../../assets/atlas/form.mjs";

/** @typedef {import("../../assets/atlas/form.mjs").Field} Field */
/** @typedef {import("../../assets/atlas/form.mjs").FieldType} FieldType */

/**
 * A field as it stands in the form.
 * @param {string} name
 * @param {FieldType} type
 * @param {Partial<Field>} [filled]
 * @returns {Field}
 */
function field(name, type, filled = {}) {
  return { name, type, methods: [], missing: "", text: "", ticked: [], files: [], ...filled };
}

/**
 * @param {string} name
 * @param {string} content
 */
function file(name, content) {
  return { name, size: content.length, text: async () => content };
}

test("every type of field becomes its value", async () => {
  const body = await collected([
    field("model", "text", { text: "  org/name " }),
    field("carriers", "lines", { text: " No\n\nThe story of \n" }),
    field("sources", "choice", { ticked: ["any"], text: "single" }),
    field("seeds", "number", { text: "3" }),
    field("push", "number", { text: " 0.25 " }),
    field("rates", "numbers", { text: "1.0 0.1 0.5 0.1" }),
    field("published", "flag", { ticked: ["on"], text: "on" }),
    field("tasks", "choices", { ticked: ["math", "syntax"] }),
    field("files", "files", { files: [file("a.csv", "a,b"), file("b.csv", "c,d")] }),
    field("contrast", "file", { files: [file("pairs.jsonl", "{}")] }),
  ]);
  assert.deepEqual(body, {
    model: "org/name",
    carriers: ["No", "The story of"],
    sources: "any",
    seeds: 3,
    push: 0.25,
    rates: [1, 0.1, 0.5, 0.1],
    published: true,
    tasks: ["math", "syntax"],
    files: [{ name: "a.csv", content: "a,b" }, { name: "b.csv", content: "c,d" }],
    contrast: { name: "pairs.jsonl", content: "{}" },
  });
});

test("what is left empty is not sent, whatever its type", async () => {
  /** @type {FieldType[]} */
  const types = ["text", "lines", "number", "numbers", "flag", "choice", "choices", "files", "file"];
  const empty = types.map((type) => field(type, type, { text: type === "flag" ? "on" : "  " }));
  assert.deepEqual(await collected(empty), {});
});

test("a zero is a value", async () => {
  assert.deepEqual(await collected([field("seeds", "number", { text: "0" })]), { seeds: 0 });
});

test("numbers are separated by spaces, commas, semicolons or arrows", () => {
  assert.deepEqual(parseNumbers("1.0 0.1 0.5 0.1"), [1, 0.1, 0.5, 0.1]);
  assert.deepEqual(parseNumbers(" 120,260;  3 → 4→5e-3, "), [120, 260, 3, 4, 0.005]);
});

test("what is not a number is sent as it was typed, for the server to name", async () => {
  assert.deepEqual(parseNumbers("1 often Infinity"), [1, "often", "Infinity"]);
  assert.deepEqual(await collected([field("seeds", "number", { text: "three" })]), { seeds: "three" });
});

test("a file of a method that is not ticked is named", () => {
  const file = { name: "pairs.jsonl", size: 1, text: async () => "" };
  const contrast = field("contrast", "file", { methods: ["gates"], files: [file] });
  const chosen = field("methods", "choices", { ticked: ["other"] });
  const said = [{ field: "contrast", words: "No ticked method takes pairs.jsonl." }];
  assert.deepEqual(unusedFiles([chosen, contrast], chosenFields([chosen, contrast])), said);
  const ticked = field("methods", "choices", { ticked: ["gates"] });
  assert.deepEqual(unusedFiles([ticked, contrast], chosenFields([ticked, contrast])), []);
});

test("settings of methods count only when one of them is chosen", () => {
  const settings = field("seeds", "number", { methods: ["gates", "else"], text: "3" });
  const model = field("model", "text", { text: "m" });
  const chosen = field("methods", "choices", { ticked: ["gates", "other"] });
  const other = field("methods", "choices", { ticked: ["other"] });
  assert.deepEqual(chosenFields([model, chosen, settings]), [model, chosen, settings]);
  assert.deepEqual(chosenFields([model, other, settings]), [model, other]);
  assert.deepEqual(chosenFields([model, settings]), [model]);
});

test("every needed field that is empty is said, in its own words", () => {
  const missing = "Which model? Type its name.";
  const wrong = [field("model", "text", { missing, text: " " }), field("methods", "choices", { missing: "Which?" })];
  assert.deepEqual(complaints(wrong, 100), [
    { field: "model", words: missing },
    { field: "methods", words: "Which?" },
  ]);
  assert.deepEqual(complaints([field("model", "text", { missing, text: "m" })], 100), []);
});

test("a file above the limit is named with the limit", () => {
  const large = [file("small.csv", "a"), { name: "large.csv", size: 5_000_001, text: async () => "" }];
  const [problem] = complaints([field("files", "files", { files: large })], 5_000_000);
  assert.equal(problem.field, "files");
  assert.match(problem.words, /^large\.csv .*at most 5 MB/);
  assert.deepEqual(complaints([field("files", "files", { files: large })], 5_000_001), []);
});
