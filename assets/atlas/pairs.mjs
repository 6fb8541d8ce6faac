// @ts-check
// The pairs behind a score: asked for when a number of hits is clicked, and shown in a dialog.
import { refusalText } from "./jobs.mjs";
import { dash, PARTS } from "./page.mjs";
import { modelQuery, queryString } from "./query.mjs";
import { state } from "./state.mjs";

/**
 * @typedef {object} Question
 * @property {string} relation
 * @property {string} head
 * @property {string} kind
 * @property {string} method
 * @property {string} result the name of a result with settings of its own; empty for the default one
 * @property {string} own the set of an uploaded relation; empty for a built-in one
 * @property {string} sample one of several, such as a carrier phrase; empty when there are none
 * @property {string[]} samples all of them
 * @property {Words} words
 */

/**
 * @typedef {object} Words what the map says of the score
 * @property {string} verb what the head does
 * @property {string} title the relation
 * @property {string} place where it ranks a hit
 * @property {string} where before a sample
 * @property {string} called what samples are
 */

/** @typedef {{source: string, target: string, hit: boolean, rank: number, source_rank: number, top: string[]}} Pair */
/** @typedef {{head: string, kind: string, title: string, k: number, hits: number, kept: number, low: number | null, high: number | null, beyond: number | null, pairs: Pair[]}} Answer */

/** @type {{last: Question | null}} */
const asked = { last: null }; // an answer to an earlier question comes too late

/** @type {Record<string, string>} */
const SIGNS = { " ": "␣", "\n": "⏎", "\t": "⇥", "\u007f": "␡", "\u00a0": "⍽" };

/**
 * A token as it can be shown: nothing in it is invisible or turns what follows around.
 * @param {string} text
 */
export function printable(text) {
  const shown = text.replace(/[\p{C}\p{Z}]/gu, (character) => SIGNS[character] || numbered(character));
  return shown || "∅";
}

/**
 * @param {string} character
 */
function numbered(character) {
  const code = character.codePointAt(0) || 0;
  return code < 32 ? String.fromCodePoint(0x2400 + code) : `⟨${code.toString(16)}⟩`;
}

/**
 * The question that a button carries.
 * @param {DOMStringMap} data
 * @returns {Question}
 */
export function questionOf(data) {
  const { pairs = "", head = "", kind = "", method = "", result = "", own = "", sample = "", samples = "" } = data;
  const { verb = "", title = "", place = "", where = "", called = "" } = data;
  const words = { verb, title, place, where, called };
  return { relation: pairs, head, kind, method, result, own, sample, samples: samples.split("\n").filter(Boolean), words };
}

/**
 * Where its answer is.
 * @param {Question} question
 * @param {string} model its id and fingerprint
 */
export function addressOf({ relation, head, kind, method, result, own, sample }, model) {
  return `/api/pairs${queryString({ ...modelQuery(model), head, relation, kind, method, result, own, sample })}`;
}

/**
 * The rows of the table.
 * @param {Pair[]} pairs
 */
export function rowsOf(pairs) {
  return pairs.map((pair) => ({
    ...pair,
    source: printable(pair.source),
    target: printable(pair.target),
    hit: pair.hit ? "hit" : "miss",
    top: pair.top.map(printable).join("  "),
  }));
}

/**
 * Open the dialog for the score that a button stands for.
 * @param {HTMLElement} button
 */
export async function showPairs(button) {
  const question = questionOf(button.dataset);
  asked.last = question;
  dash().set_props(PARTS.pairs, { opened: true, title: `${question.head} ${question.words.verb} ${question.words.title}` });
  tell(question, "Computing …", []);
  const answer = await fetch(addressOf(question, state.heads ? state.heads.model : "")).catch(() => null);
  const reply = answer ? await answer.json().catch(() => ({})) : { message: "The server does not answer" };
  if (asked.last !== question) return;
  if (!answer || !answer.ok) return tell(question, refusalText(reply) || `The server answered ${answer?.status}.`, []);
  show(question, reply);
}

/**
 * @param {Question} question
 * @param {Answer} answer
 */
function show(question, answer) {
  tell(question, hitWords(question, answer), rowsOf(answer.pairs));
}

/**
 * How many pairs are hits, how sure that is and how many are more than copying; of several samples these are the pairs of one, while a score may be over all.
 * @param {Question} question
 * @param {Answer} answer
 */
export function hitWords({ sample, samples, words: { place, where, called } }, { hits, kept, k, low, high, beyond }) {
  const which = samples.length > 1 ? `${capitalised(where)} “${sample}”, one of ${samples.length} ${called}, ` : "";
  const sure = low === null || high === null ? "" : ` (95 % interval ${low.toFixed(2)}–${high.toFixed(2)})`;
  const ahead = beyond === null ? "" : ` Of the hits, a share of ${beyond.toFixed(2)} (β) rank above the source itself.`;
  return `${which}${hits} of ${kept} pairs are hits${sure}: their target is among the ${k} tokens that the head ranks ${place}.${ahead}`;
}

/**
 * @param {string} word
 */
function capitalised(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** What the file with the pairs on the screen is called. */
export function pairsFile() {
  const { head = "", relation = "", kind = "" } = asked.last || {};
  return `${head}-${relation}-${kind}.csv`.replace(/[^\w.-]+/g, "-");
}

/**
 * Say something above the table, and fill it.
 * @param {Question} question
 * @param {string} words
 * @param {unknown[]} rows
 */
function tell(question, words, rows) {
  const samples = question.samples.map((sample) => sampleButton(question, sample));
  const choice = samples.length ? [html("P", { children: [`${capitalised(question.words.where)} `, ...samples] })] : [];
  dash().set_props(PARTS.pairsAbout, { children: [...choice, html("P", { children: words })] });
  dash().set_props(PARTS.pairsTable, { rowData: rows });
}

/**
 * What asks the same of another sample.
 * @param {Question} question
 * @param {string} sample
 */
export function sampleButton(question, sample) {
  const { relation, samples, words, sample: chosen, ...asked } = question;
  const data = { pairs: relation, ...asked, sample, samples: samples.join("\n"), ...words };
  const attributes = Object.fromEntries(Object.entries(data).map(([name, value]) => [`data-${name}`, value]));
  return html("Button", { children: `“${sample}”`, className: "pairs", "aria-pressed": String(sample === chosen), ...attributes });
}

/**
 * A component of Dash, whose text becomes text nodes only.
 * @param {string} type
 * @param {Record<string, unknown>} props
 */
function html(type, props) {
  return { namespace: "dash_html_components", type, props };
}
