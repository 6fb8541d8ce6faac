// @ts-check
// The rules of the house that hold for every script.
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { ROOT, scriptsIn, skip, wordsOf } from "./tokens.mjs";

const WORD = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g; // of text, snake_case and camelCase
const QUERY = /\?[a-z_]+=|&[a-z_]+=$|^\/[^\s?]*\?$|[\w/\0]\?\0/;
const GENERAL_MAP_SCRIPTS = ["palette", "panels", "plain", "plain_card", "steps", "text", "unpacking"];

/** Where a word that is also the name of a method stands for something else. */
const OTHER_MEANINGS = [
  ["heat.mjs", "getContext"],
  ["prompt_page.mjs", "Running … the first time, the model has to be loaded."],
  ["sheet.mjs", "getContext"],
];

/** The names of methods and maps: each has its package. */
function packages() {
  const names = new Set();
  for (const [folder, file] of [["analysis/methods/", "method.py"], ["dashboard/maps/", "map.py"]]) {
    for (const name of readdirSync(new URL(folder, ROOT))) {
      if (existsSync(new URL(`${folder}${name}/${file}`, ROOT))) names.add(name);
    }
  }
  return names;
}

/**
 * The texts and identifiers of a script in which a method or map is named.
 * @param {string} source
 */
function naming(source) {
  const { names, texts } = wordsOf(source);
  const known = packages();
  return [...names, ...texts].filter((text) => (text.match(WORD) || []).some((word) => known.has(word.toLowerCase())));
}

/**
 * What of a script puts a query string together.
 * @param {string} source
 */
function queries(source) {
  const { texts, tokens } = wordsOf(source);
  const written = texts.filter((text) => QUERY.test(text));
  const joined = [["join", "(", '"&"'], ["encodeURIComponent"], ["new", "URLSearchParams", "(", "{"]];
  for (const start of tokens.keys()) {
    if (joined.some((call) => call.every((token, i) => tokens[start + i] === token))) written.push(tokens[start]);
  }
  return written;
}

/** @param {string} path */
function isGeneral(path) {
  const [, name] = /maps\/(\w+)\.mjs$/.exec(path) || [];
  return !name || GENERAL_MAP_SCRIPTS.includes(name);
}

test("no general script names a method or map: what the browser shows of one comes from the server", { skip }, () => {
  const named = [];
  for (const [path, source] of scriptsIn("assets/atlas/")) {
    if (isGeneral(path)) for (const text of new Set(naming(source))) named.push([path.replace(/.*\//, ""), text]);
  }
  assert.deepEqual(named, OTHER_MEANINGS);
});

test("a name is found wherever it is planted, and neither in a comment nor as the language's keyword", { skip }, () => {
  for (const source of [
    'view === "causal"', "`view=causal`", "`${a}${`${b} causal`}`", "state.isCausal", "const { agreement } = maps;",
    'OWN["function"]', 'import { viewOf } from "./maps/salience.mjs";', "const a = /`/; const b = \"causal\";",
  ]) {
    assert.equal(naming(source).length, 1, source);
  }
  const plain = "/** The causal map. */\n// causal\nfunction* all() {} // causal\nif (typeof a.b() === \"function\") c();";
  assert.deepEqual(naming(plain), []);
});

test("one script writes query strings", { skip }, () => {
  for (const [path, source] of [...scriptsIn("assets/atlas/"), ...scriptsIn("assets/before/")]) {
    const isAllowed = path.endsWith("/query.mjs") || path.endsWith("/start.js"); // which runs before any module
    if (!isAllowed) assert.deepEqual(queries(source), [], path);
  }
});

test("a query string by hand is found, and neither a condition nor a pattern is one", { skip }, () => {
  for (const text of ["`${a}/${b}?forget=true`", "`${path}?${parts}`", '"/?view=models"', '"/head?" + x', 'all.join("&")', "new URLSearchParams({ a })"]) {
    assert.equal(queries(`const address = ${text};`).length, 1, text);
  }
  assert.deepEqual(queries("const a = b ? `${c} ${d ? 1 : 2}` : `^(?:${e})$`; // at /?a=1"), []);
});

test("one script writes the names of heads", { skip }, () => {
  const writing = [];
  for (const [path, source] of scriptsIn("assets/atlas/")) {
    if (wordsOf(source).texts.some((text) => text.startsWith("L\0H\0"))) writing.push(path);
  }
  assert.deepEqual(writing, ["assets/atlas/heads.mjs"]);
});
