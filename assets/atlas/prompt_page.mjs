// @ts-check
// A text of one's own: tokens, attention of some heads, next tokens, and every head's effect on the first of them.
import { listenBeside } from "./beside.mjs";
import { extent } from "./comparing.mjs";
import { element } from "./elements.mjs";
import { nameAt } from "./heads.mjs";
import { heatColour, heatMap, scaleEnds } from "./heat.mjs";
import { printable } from "./pairs.mjs";
import { modelQuery, named, pageOf, queryString, settingsOf, written } from "./query.mjs";

/** @typedef {import("./heat.mjs").Place} Place */
/** @typedef {import("./heat.mjs").HeatMap} HeatMap */
/** @typedef {{id: string, fingerprint: string, layers: number[], heads: number}} Card */
/** @typedef {{text: string, probability: number, logit: number}} NextToken */
/** @typedef {{head: string, attention: number[][]}} Pattern */

/**
 * @typedef {object} Reading
 * @property {Card} model
 * @property {{text: string}[]} tokens
 * @property {NextToken[]} next
 * @property {number[]} layers
 * @property {{heads: number[][], about: string}} direct
 * @property {{heads: number[][], about: string} | null} without
 * @property {Pattern[]} patterns
 * @property {Provenance} provenance
 */

/** @typedef {{version: string, device: string, libraries: Record<string, string>, date: string, atlas: string}} Provenance */

const SHADE = 0.55; // of the full colour behind a token that has all attention: its text stays legible

/** @type {{asked: number, maps: {map: HeatMap, values: number[][]}[]}} */
const page = { asked: 0, maps: [] };

/** @param {string} id */
function part(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * The heads that a text names, such as "L18H6, 16.0".
 * @param {string} text
 */
export function headNames(text) {
  return text.split(/[\s;]+|,\s+/).filter(Boolean);
}

function form() {
  return /** @type {HTMLFormElement} */ (part("prompt-form"));
}

/**
 * Where the answer to a question is.
 * @param {string} model its id and fingerprint
 * @param {string} text
 * @param {string[]} heads
 * @param {string} ablate
 * @param {string} instead
 */
export function questionOf(model, text, heads, ablate, instead) {
  return `/api/prompt${queryString({ ...modelQuery(model), text, ablate, instead, head: heads })}`;
}

/** How many heads can be asked about. */
function mostHeads() {
  return Number(form().dataset.heads);
}

/** What the form says, by the names of its fields. */
function chosen() {
  /** @type {Record<string, string>} */
  const said = {};
  for (const [name, value] of new FormData(form())) {
    said[name] = String(value).replaceAll("\r\n", "\n");
  }
  return said;
}

/**
 * What is said of heads whose attention is not shown, because there are too many; nothing without any.
 * @param {string[]} names
 * @param {number} most
 */
export function leftOutWords(names, most) {
  if (!names.length) return "";
  return `The attention of at most ${most} heads is shown; ${names.join(", ")} ${names.length === 1 ? "is" : "are"} left out.`;
}

/**
 * Ask the worker, show the reading, then what the prediction loses without each head.
 * @param {string[]} [dropped] heads that gave way to another one
 */
async function read(dropped = []) {
  const asked = ++page.asked;
  const { model, text, head, ablate, instead } = chosen();
  if (!model) return say("Choose a model first.");
  if (!text.trim()) return;
  history.replaceState(null, "", `/prompt${queryString(written(chosen(), settingsOf(form())))}`);
  say("Running … the first time, the model has to be loaded.");
  const names = headNames(head);
  const shown = names.slice(0, mostHeads());
  const leftOut = leftOutWords([...dropped, ...names.slice(mostHeads())], mostHeads());
  for (const off of new Set(["none", ablate])) {
    const reply = await ask(questionOf(model, text, shown, off, instead));
    if (asked !== page.asked) return;
    if (typeof reply === "string") return say(reply);
    show(reply, text);
    say(off === ablate ? "" : "Switching heads off, one by one …");
    part("prompt-left-out").textContent = leftOut;
  }
}

/**
 * An answer, or why there is none.
 * @param {string} question its address
 * @returns {Promise<Reading | string>}
 */
async function ask(question) {
  const answer = await fetch(question).catch(() => null);
  if (!answer) return "The server does not answer.";
  const reply = await answer.json().catch(() => ({}));
  if (answer.ok) return reply;
  const detail = typeof reply.detail === "string" ? reply.detail : "";
  return [reply.message || detail || `The server answered ${answer.status}.`, reply.hint].filter(Boolean).join(". ");
}

/** @param {string} words */
function say(words) {
  part("prompt-note").textContent = words;
}

/**
 * @param {Reading} reading
 * @param {string} text
 */
function show(reading, text) {
  showNext(reading);
  showEffects(reading);
  const holder = part("prompt-patterns");
  holder.replaceChildren(...reading.patterns.map((pattern) => patternCard(reading, pattern)));
  part("prompt-source").textContent = sourceOf(reading);
  document.title = `${text.slice(0, 40)} – ${reading.model.id} – Head Atlas`;
}

/**
 * Where the answer comes from, in words.
 * @param {Reading} reading
 */
export function sourceOf({ model, provenance: { version, device, libraries, date, atlas } }) {
  const made = `prompt version ${version}, Head Atlas ${atlas}, torch ${libraries.torch}, ${device}, ${date}`;
  return `${model.id} ${model.fingerprint.slice(0, 8)} · ${made}`;
}

/** @param {Reading} reading */
function showNext({ next }) {
  const table = element("table");
  const body = table.createTBody();
  for (const token of next) {
    const line = body.insertRow();
    line.append(element("th", "", printable(token.text)));
    const bar = element("span", "bar");
    const share = element("i");
    share.style.width = `${(100 * token.probability).toFixed(1)}%`;
    share.style.background = "var(--tone-below)";
    bar.append(share, element("span", "", `${(100 * token.probability).toFixed(1)} %`));
    line.insertCell().append(bar);
  }
  const holder = part("prompt-next");
  holder.hidden = false;
  holder.replaceChildren(element("h2", "", "Next token"), table);
}

/** @param {Reading} reading */
function showEffects(reading) {
  const first = printable(reading.next[0].text);
  const holder = part("prompt-maps");
  holder.replaceChildren();
  page.maps = [];
  const { direct, without } = reading;
  addEffects(holder, reading, direct.heads, `direct effect on the logit of ${first}: blue raises it, orange lowers it`, direct.about);
  if (without) {
    const title = `change in log P(${first}) without the head: blue loses, orange gains`;
    addEffects(holder, reading, without.heads, title, without.about, true);
  }
}

/**
 * @param {HTMLElement} holder
 * @param {Reading} reading
 * @param {number[][]} values
 * @param {string} title
 * @param {string} about
 * @param {boolean} [falls] what helps the prediction is below zero, and blue all the same
 */
function addEffects(holder, reading, values, title, about, falls = false) {
  const most = Math.max(...extent([values]).map(Math.abs));
  const map = heatMap(values, `${title}; full colour at ${most.toPrecision(2)}`, most, {
    layers: reading.layers,
    falls,
    hover: (place) => overHead(reading, place),
    click: (place) => addHead(nameAt(reading, place)),
  });
  map.figure.title = about;
  holder.append(map.figure);
  page.maps.push({ map, values });
}

/**
 * Outline a head on both maps and say its numbers.
 * @param {Reading} reading
 * @param {Place | null} place
 */
function overHead(reading, place) {
  const numbers = [];
  for (const { map, values } of page.maps) {
    map.show(place);
    if (place) numbers.push(values[place.row][place.column].toFixed(3));
  }
  if (place) say(`${nameAt(reading, place)}: ${numbers.join(" direct, without it ")}. Click to see where it looks.`);
}

/**
 * Show the attention of one more head.
 * @param {string} name
 */
function addHead(name) {
  const field = /** @type {HTMLInputElement} */ (document.querySelector("input[name=head]"));
  const names = headNames(field.value);
  const wanted = names.includes(name) ? names : [...names, name];
  field.value = wanted.slice(-mostHeads()).join(" ");
  read(wanted.slice(0, -mostHeads()));
}

/**
 * The token that another attends to most.
 * @param {number[]} attention
 */
export function mostSeen(attention) {
  return attention.indexOf(Math.max(...attention));
}

/**
 * Where one head looks: tokens across are looked at from tokens down; hovering marks both in the text.
 * @param {Reading} reading
 * @param {Pattern} pattern
 */
function patternCard(reading, pattern) {
  const card = element("section", "card");
  const text = element("p", "prompt-text");
  const tokens = reading.tokens.map((token) => printable(token.text));
  const spans = tokens.map((token) => element("span", "token", token));
  text.append(...spans);
  const across = reading.tokens.map((_, key) => pattern.attention.map((row) => row[key] ?? 0));
  const note = element("p", "hint", "Hover over a token or a square: what the token looks at is shaded in the text.");
  note.setAttribute("role", "status");
  const ends = scaleEnds();
  /** @param {Place | null} place */
  const hover = (place) => {
    map.show(place);
    for (const [i, span] of spans.entries()) {
      const weight = place ? pattern.attention[place.column][i] ?? 0 : 0;
      span.style.background = place ? heatColour(SHADE * weight, 1, ends) : "";
      span.classList.toggle("looking", place !== null && i === place.column);
    }
    if (place) {
      const weight = (pattern.attention[place.column][place.row] ?? 0).toFixed(2);
      note.textContent = `${tokens[place.column]} looks at ${tokens[place.row]}: ${weight}`;
    }
  };
  const map = heatMap(across, "across: the token looked at; down: the token that looks", 1, { hover, tokens });
  for (const [looking, span] of spans.entries()) {
    span.addEventListener("mouseenter", () => hover({ row: mostSeen(pattern.attention[looking]), column: looking }));
    span.addEventListener("mouseleave", () => hover(null));
  }
  const title = element("h2");
  const link = element("a", "", pattern.head);
  link.href = pageOf(pattern.head, named(reading.model));
  title.append(link, " looks");
  card.append(title, text, map.figure, note);
  return card;
}

if (typeof document !== "undefined") {
  listenBeside();
  form().addEventListener("submit", (event) => {
    event.preventDefault();
    read();
  });
  read();
}
