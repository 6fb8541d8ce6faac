// @ts-check
// A head's own page: the pairs behind a score open in a dialog.
import { listenBeside } from "./beside.mjs";
import { element } from "./elements.mjs";
import { addressOf, hitWords, questionOf, rowsOf } from "./pairs.mjs";
import { withModel } from "./query.mjs";

/** The model whose head it is; the address may have only its name, or none. */
function model() {
  const page = document.querySelector("main[data-model]");
  return (page instanceof HTMLElement && page.dataset.model) || "";
}

/**
 * The pairs of an answer as a table.
 * @param {import("./pairs.mjs").Answer} answer
 */
export function pairTable(answer) {
  const table = element("table");
  const head = table.createTHead().insertRow();
  for (const words of ["source", "target", "hit", "rank of the target", "rank of the source", "first tokens"]) {
    head.append(element("th", "", words));
  }
  const body = table.createTBody();
  for (const row of rowsOf(answer.pairs)) {
    const line = body.insertRow();
    for (const value of [row.source, row.target, row.hit, row.rank, row.source_rank, row.top]) {
      line.insertCell().textContent = String(value);
    }
  }
  return table;
}

/**
 * Ask for the pairs that a number of hits stands for.
 * @param {HTMLElement} button
 */
async function showPairs(button) {
  const question = questionOf(button.dataset);
  const dialog = element("dialog", "pair-list");
  dialog.append(element("p", "", "Computing …"));
  document.body.append(dialog);
  dialog.showModal();
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  const answer = await fetch(addressOf(question, model())).catch(() => null);
  const reply = answer ? await answer.json().catch(() => ({})) : { message: "The server does not answer" };
  if (!answer || !answer.ok) {
    dialog.replaceChildren(element("p", "", reply.message || reply.detail || "The server could not answer."));
    return;
  }
  const words = element("p", "", hitWords(question, reply));
  dialog.replaceChildren(element("h2", "", `${reply.head}: ${reply.title}`), words, pairTable(reply));
}

/** A page that was opened without its model, or by its name alone, has an address that keeps its meaning. */
function nameModel() {
  const query = model() && withModel(location.search, model());
  if (query && query !== location.search) history.replaceState(history.state, "", `${query}${location.hash}`);
}

if (typeof document !== "undefined") {
  nameModel();
  listenBeside();
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-pairs]") : null;
    if (button instanceof HTMLElement) showPairs(button);
  });
}
