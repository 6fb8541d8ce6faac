// @ts-check
// The rules of the causal map: from its numbers and the state to all that follows the controls.
export { decorate } from "./causal_card.mjs";
import { glow, light, mixtures } from "./causal_colours.mjs";
import { panelsOf, PREVIEW, HEAD_ROLES, sharesOfRoles } from "./causal_panels.mjs";
import { slopes } from "./palette.mjs";
import { missingEntries } from "./panels.mjs";
import { number } from "./text.mjs";

/** @typedef {import("../heads.mjs").Panel} Panel */
/** @typedef {import("../legend.mjs").Entry} Entry */
/** @typedef {import("./causal_panels.mjs").CausalState} CausalState */
/** @typedef {import("./index.mjs").View} View */
/** @typedef {import("./palette.mjs").Palette} Palette */
/** @typedef {import("./text.mjs").Said} Said */
/** @typedef {import("./unpacking.mjs").Answer} Answer */
/** @typedef {import("./unpacking.mjs").Facts} Facts */

const SWATCH = 7; // squares on a side of the legend's swatch
const SIDES = ["N ↑", "F →", "facilitation F from left to right, interference N from bottom to top"];
const PROMPTS = {
  both: "It is the mean over the prompts.",
  always: "It is the gradient that all prompts share; 0 where they disagree.",
  any: "It is the steepest gradient of any prompt.",
};
const NOTHING = {
  both: "all gradients are 0 here",
  always: "no head helps or hurts on every prompt",
  any: "all gradients are 0 here",
};
const ESTIMATE = "a first-order estimate";
const ESTIMATED = ", from gradients alone, of whether the head helps or hurts the task. Fitted gates may say otherwise. ";
const ALONE = [
  "how much the task needs it (F, facilitation)",
  "how much it hurts the task (N, interference)",
  "how little it matters (R, irrelevance)",
];
const SLOPE =
  "gate gradient g = ∂loss/∂gate: below 0 the head seems to help, above 0 to hurt (first-order estimate)";
const WITHOUT_FIT = "The preview comes from gradients alone.";

/**
 * The numbers of an answer, ready for the rules.
 * @param {Answer} answer
 */
export function prepared(answer) {
  return answer;
}

/**
 * All that follows the controls.
 * @param {Answer} numbers
 * @param {CausalState} state
 * @param {Palette} palette
 * @returns {View}
 */
export function viewOf(numbers, state, palette) {
  const { facts } = numbers;
  const panels = panelsOf(numbers, state, palette);
  return {
    panels,
    sentence: sentenceOf(facts, state),
    get legend() {
      const isEmpty = panels.every((panel) => !panel.measures.length || panel.reason?.every(Boolean));
      return [...(isEmpty ? [] : legendOf(facts, state, palette)), ...missingEntries(panels, facts, palette)];
    },
    topic: "",
    idle: idleOf(facts, state),
    called: state.gates === PREVIEW ? { columns: { both: "Mean" } } : {},
    counts: null,
    get shares() {
      return sharesOfRoles(numbers, state, palette);
    },
    profile: null,
    best: null,
  };
}

/**
 * How to read what is on the page.
 * @param {Facts} facts
 * @param {CausalState} state
 * @returns {Said[]}
 */
function sentenceOf(facts, state) {
  const start = `Each square is one attention head of ${facts.model}${facts.example}; `;
  if (state.gates === PREVIEW) {
    return [start, "its colour is ", { b: ESTIMATE }, ESTIMATED + PROMPTS[state.columns]];
  }
  const [helps, hurts, neither] = state.palette === "paper" ? ["green", "red", "black"] : ["blue", "orange", "grey"];
  const disagree = facts.alone || state.columns === "any" ? "" : " or, under Always, that seeds disagree";
  /** @type {Record<string, Said[]>} */
  const meanings = {
    both: [
      `${helps} means that the task `,
      { b: "needs" },
      ` it (facilitation F), ${hurts} that it `,
      { b: "hurts" },
      ` the task (interference N), ${neither} that it `,
      { b: "does not matter" },
      ` (irrelevance R)${disagree}`,
    ],
    facilitation: ["the stronger its colour, the more the task ", { b: "needs" }, " it (facilitation F)"],
    interference: ["the stronger its colour, the more it ", { b: "hurts" }, " the task (interference N)"],
    irrelevance: ["the stronger its colour, the ", { b: "less it matters" }, " to the task (irrelevance R)"],
  };
  return [start, ...meanings[state.gates], `. ${facts.seeds}`];
}

/**
 * A square of both roles, or a colour bar.
 * @param {Facts} facts
 * @param {CausalState} state
 * @param {Palette} palette
 * @returns {Entry[]}
 */
function legendOf(facts, state, palette) {
  if (state.gates === PREVIEW) {
    const scale = facts.scales[state.columns === "both" ? "mean" : state.columns];
    const reach = scale ? `full colour at ${scale}, not counted below 5 % of that` : NOTHING[state.columns];
    const words = `${SLOPE}; ${reach}`;
    return [{ words, kind: "ramp", shades: slopes(palette, 9), ends: ["−", "+"] }];
  }
  const fainter = `fainter below θ = ${number(state.role)}`;
  const alone = HEAD_ROLES.indexOf(state.gates);
  if (alone >= 0) {
    const shades = [0, 0.5, 1].map((score) => glow(palette, state.gates, score));
    return [{ words: `${ALONE[alone]}; ${fainter}`, kind: "ramp", shades, ends: ["0", "1"] }];
  }
  const both = facts.alone ? "both" : "both (mostly in different seeds)";
  return [
    { words: "needs it (F)", colour: light(palette, 1, 0), kind: "swatch" },
    { words: "hurts it (N)", colour: light(palette, 0, 1), kind: "swatch" },
    { words: both, colour: light(palette, 1, 1), kind: "outlined" },
    { words: "neither", colour: light(palette, 0, 0), kind: "outlined" },
    { words: fainter, kind: "square", shades: squareOf(palette), ends: SIDES },
  ];
}

/**
 * Every mixture of the two roles, F across and N up.
 * @param {Palette} palette
 */
function squareOf(palette) {
  const shades = mixtures(palette, SWATCH);
  const rows = [];
  for (let hurts = SWATCH - 1; hurts >= 0; hurts--) rows.push(...shades.filter((/** @type {string} */ _, /** @type {number} */ i) => i % SWATCH === hurts));
  return rows;
}

/**
 * The controls that do nothing in this state, each with the reason.
 * @param {Facts} facts
 * @param {CausalState} state
 * @returns {Record<string, string>}
 */
function idleOf(facts, state) {
  if (state.gates === PREVIEW) {
    return { role: `${WITHOUT_FIT} It has no threshold.`, seed: `${WITHOUT_FIT} It has no seeds.` };
  }
  /** @type {Record<string, string>} */
  const reasons = {};
  if (facts.alone) reasons.columns = "One seed is shown: Always and Any would be the same.";
  if (facts.single) reasons.seed = "There is only one seed.";
  return reasons;
}
