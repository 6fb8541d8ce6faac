// @ts-check
// What follows the controls in the agreement map's part of cards (dashboard/maps/agreement/card.py).
import { fixed } from "../digits.mjs";
import { number } from "./text.mjs";

/**
 * @typedef {object} ClassFacts all that a head's class for an item is made of
 * @property {(number | null)[]} labels all that count, and those beyond copying
 * @property {string[]} relations whose scores these are
 * @property {(number | null)[]} causes on average, in every sample, in some
 * @property {[label: boolean, cause: boolean]} strict whether they must be above their thresholds
 * @property {string} unit of the cause
 * @property {string} missing why there is no class; empty where there is one
 */

/** @typedef {{label: number, cause: number, change: number, matters: string, counted: string}} AgreementState */

const WORDS = ["neither", "causal but unlabelled", "labelled but irrelevant", "labelled and causal"];
const COUNTED = ["all", "beyond"];
const OVERS = ["mean", "always", "any"];

/**
 * A head's class for each item, the two numbers that decide, and the thresholds.
 * @param {Record<string, unknown>} values of the settings
 */
export function decorate(values) {
  const state = /** @type {AgreementState} */ (/** @type {unknown} */ (values));
  for (const part of document.querySelectorAll("[data-agreement]")) {
    const said = classOf(JSON.parse(part.getAttribute("data-agreement") || "{}"), state);
    for (const [name, text] of Object.entries(said)) {
      const place = part.querySelector(`.agreement-${name}`);
      if (place) place.textContent = text;
    }
  }
  for (const part of document.querySelectorAll("[data-number]")) {
    part.textContent = number(Number(values[part.getAttribute("data-number") || ""]));
  }
}

/**
 * A head's class in words, and what decides about it.
 * @param {ClassFacts} facts
 * @param {AgreementState} state
 */
export function classOf({ labels, relations, causes, strict, unit, missing }, state) {
  const counted = COUNTED.indexOf(state.counted);
  const [label, cause] = [labels[counted], causes[OVERS.indexOf(state.matters)]];
  const isLabelled = holds(label, state.label, strict[0]);
  const isCausal = holds(cause, unit === "share" ? state.cause : state.change, strict[1]);
  return {
    class: missing || WORDS[2 * Number(isLabelled) + Number(isCausal)],
    label: label === null ? "" : fixed(label, 2),
    relation: relations[counted],
    cause: cause === null ? "" : fixed(cause, 2),
  };
}

/**
 * @param {number | null} value
 * @param {number} least
 * @param {boolean} strict
 */
function holds(value, least, strict) {
  if (value === null) return false;
  return strict ? value > least : value >= least;
}
