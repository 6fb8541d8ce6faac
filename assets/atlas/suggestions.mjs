// @ts-check
// Below the search field: the heads that the words are about, the strongest first. Arrows choose, Enter opens.
import { element } from "./elements.mjs";
import { byId, PARTS } from "./page.mjs";
import { answersOf, modelQuery, pageOf, queryString } from "./query.mjs";
import { state } from "./state.mjs";

/** @typedef {{head: string, findings: {text: string}[]}} Answer */

const REST = 180; // milliseconds after the last key before the server is asked
const MOST = 8;
const LEAST = 2; // letters

/** @type {{asked: number, timer: ReturnType<typeof setTimeout> | undefined, chosen: number}} */
const typed = { asked: 0, timer: undefined, chosen: -1 };

/** The model on the page. */
function model() {
  return state.heads ? state.heads.model : "";
}

/** The list below the field, made when it is first needed. */
function list() {
  const there = document.getElementById("suggestions");
  if (there) return there;
  const made = element("div", "suggestions");
  made.id = "suggestions";
  made.setAttribute("role", "listbox");
  made.setAttribute("aria-label", "Heads");
  document.body.append(made);
  return made;
}

/** Take the list away. */
export function hideSuggestions() {
  typed.asked += 1;
  typed.chosen = -1;
  list().replaceChildren();
  tellField();
}

/** Tell the field, for those who do not see the list, whether it is open and which of it is chosen. */
function tellField() {
  const field = byId(PARTS.search);
  const chosen = list().children[typed.chosen];
  field.setAttribute("role", "combobox");
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-controls", list().id);
  field.setAttribute("aria-expanded", String(list().childElementCount > 0));
  if (chosen) field.setAttribute("aria-activedescendant", chosen.id);
  else field.removeAttribute("aria-activedescendant");
}

/**
 * Ask what the words are about, when they have rested.
 * @param {Event} event
 */
export function typing(event) {
  const field = event.target;
  if (!(field instanceof HTMLInputElement) || field.id !== PARTS.search) return;
  clearTimeout(typed.timer);
  const text = field.value.trim();
  if (text.length < LEAST) return hideSuggestions();
  typed.timer = setTimeout(() => suggest(text), REST);
}

/** @param {string} text */
async function suggest(text) {
  const asked = ++typed.asked;
  const answer = await fetch(`/api/search${queryString({ q: text, ...modelQuery(model()), own: state.heads?.own || "" })}`).catch(() => null);
  const reply = answer && answer.ok ? await answer.json() : { answers: [] };
  if (asked === typed.asked) show(reply.answers.slice(0, MOST), text);
}

/**
 * @param {Answer[]} answers
 * @param {string} text
 */
function show(answers, text) {
  typed.chosen = -1;
  const links = answers.map(({ head, findings }) => {
    const link = element("a");
    link.href = pageOf(head, model());
    link.setAttribute("role", "option");
    link.append(element("b", "", head), ` ${findings.length ? findings[0].text : ""}`);
    return link;
  });
  const all = element("a", "all", answers.length ? "All answers" : "No head found");
  all.href = answersOf(text, model(), state.heads?.own);
  all.setAttribute("role", "option");
  for (const [i, link] of [...links, all].entries()) link.id = `suggestion-${i}`;
  list().replaceChildren(...links, all);
  tellField();
  place();
}

function place() {
  const box = byId(PARTS.search).getBoundingClientRect();
  const { style } = list();
  style.top = `${box.bottom + 4}px`;
  style.right = `${Math.max(8, innerWidth - box.right)}px`;
}

/**
 * Arrows choose one of the list, Enter opens it, Escape takes the list away.
 * @param {KeyboardEvent} event
 */
export function choosing(event) {
  const links = /** @type {HTMLAnchorElement[]} */ ([...list().children]);
  if (!(event.target instanceof HTMLInputElement) || event.target.id !== PARTS.search || !links.length) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") choose(links, event.key === "ArrowDown" ? 1 : -1);
  else if (event.key === "Enter" && typed.chosen >= 0) location.assign(links[typed.chosen].href);
  else if (event.key === "Escape") hideSuggestions();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/**
 * @param {HTMLAnchorElement[]} links
 * @param {number} step
 */
function choose(links, step) {
  typed.chosen = (typed.chosen + step + links.length) % links.length;
  for (const [i, link] of links.entries()) link.setAttribute("aria-selected", String(i === typed.chosen));
  tellField();
  links[typed.chosen].scrollIntoView({ block: "nearest" });
}
