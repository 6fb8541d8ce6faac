// @ts-check
// From gates and state to what each panel of the causal map shows (dashboard/maps/causal/panels.py).
import { glow, groundOf, mixtures } from "./causal_colours.mjs";
import { level, once, slopes, toneOf } from "./palette.mjs";
import { later, missingPanel, sharesOf } from "./panels.mjs";
import { flagsOf, NO_SLOPE, NO_STEP, SLOPES, STEPS, thresholdStep } from "./steps.mjs";
import { number, percent } from "./text.mjs";

/** @typedef {import("../heads.mjs").Panel} Panel */
/** @typedef {import("../heads.mjs").Measure} Measure */
/** @typedef {import("../squares.mjs").Look} Look */
/** @typedef {import("./palette.mjs").Palette} Palette */
/** @typedef {import("./unpacking.mjs").Answer} Answer */
/** @typedef {import("./unpacking.mjs").Facts} Facts */

/**
 * @typedef {object} CausalState
 * @property {"both" | "always" | "any"} columns
 * @property {"both" | "facilitation" | "interference" | "irrelevance" | "preview"} gates
 * @property {number} role the threshold θ
 * @property {string} palette
 */

/** @typedef {{task: number, column: string, key: string, title: string}} Place of a panel */

export const PREVIEW = "preview";
export const HEAD_ROLES = ["facilitation", "interference", "irrelevance"];
const SHORT_WORDS = ["needs it", "hurts it", "does not matter"];
const NAMED_ROLES = ["needs it (F)", "hurts it (N)", "does not matter (R)"];
const ROLE_WORDS = [
  "no clear role", "needs it (F)", "hurts it (N)", "needs it and hurts it (F and N)", "does not matter (R)",
];
const [NO_ROLE, FACILITATING, INTERFERING, BOTH, IRRELEVANT] = [0, 1, 2, 3, 4];
const PROMPT_COLUMNS = ["mean", "always", "any"]; // of the preview
/** @type {Record<string, string>} */
const COLUMN_NAMES = { always: "Always", any: "Any", mean: "Mean" };

const DIM = 0.4; // of the strength of a role below the threshold
export const LEVELS = 13; // of each of two roles
const FINE = 65; // of one score or gradient

/**
 * The panels, a row for each task.
 * @param {Answer} answer
 * @param {CausalState} state
 * @param {Palette} palette
 * @returns {Panel[]}
 */
export function panelsOf({ facts, arrays }, state, palette) {
  if (!facts.tasks.length) return [missingPanel(facts, { key: "", title: "Causal map" }, 1, palette)];
  const make = state.gates === PREVIEW ? previewPanel : fittedPanel;
  const panels = [];
  for (const [task, { name, title }] of facts.tasks.entries()) {
    for (const column of columnsOf(facts, state)) {
      const place = { task, column, key: `${name} ${column}`, title: `${title} · ${calledColumn(column)}` };
      panels.push(make(facts, arrays, place, state, palette));
    }
  }
  return panels;
}

/**
 * The columns: Always and Any, one of them, or a seed; of the preview also the mean over the prompts.
 * @param {Facts} facts
 * @param {CausalState} state
 * @returns {string[]}
 */
function columnsOf(facts, { gates, columns }) {
  if (gates === PREVIEW) return [columns === "both" ? "mean" : columns];
  return facts.alone || columns === "both" ? facts.columns : [columns];
}

/**
 * @param {Facts} facts
 * @param {Place} place
 */
function namedOf({ tasks }, { task, column, key, title }) {
  return { key, title, row: tasks[task].name, column };
}

/**
 * @param {Facts} facts
 * @param {Record<string, any>} arrays
 * @param {Place} place
 * @param {CausalState} state
 * @param {Palette} palette
 * @returns {Panel}
 */
function fittedPanel(facts, arrays, place, state, palette) {
  const size = facts.layers.length * facts.heads;
  const at = place.task * facts.columns.length + facts.columns.indexOf(place.column);
  const why = arrays.why.subarray(at * size, (at + 1) * size);
  /** @type {Uint16Array[]} */
  const roles = HEAD_ROLES.map((_, role) => arrays.roles.subarray((3 * at + role) * size, (3 * at + role + 1) * size));
  const isFitted = roles.map((steps) => steps.some((step) => step !== NO_STEP));
  const wanted = HEAD_ROLES.includes(state.gates) ? [HEAD_ROLES.indexOf(state.gates)] : [0, 1];
  const shown = wanted.filter((role) => isFitted[role]);
  if (!shown.length) {
    const empty = missingPanel(facts, namedOf(facts, place), why, palette);
    return { ...empty, look: { ...empty.look, ground: groundOf(palette) } };
  }
  const threshold = thresholdStep(state.role);
  const flags = roles.map((steps) => flagsOf(steps, threshold));
  const strengths = shown.map((role) => roles[role]);
  const reason = new Uint8Array(size);
  for (const steps of strengths) for (let head = 0; head < size; head++) if (steps[head] === NO_STEP) reason[head] = why[head];
  const besides = arrays.besides.subarray(place.task * size, (place.task + 1) * size);
  const label = later(() => ({ words: ROLE_WORDS, codes: roleCodes(flags[0], flags[1], flags[2]) }));
  const profile = later(() => profileOf(shown, flags, reason, facts, palette));
  return {
    ...namedOf(facts, place),
    note: shown.map((role) => `${SHORT_WORDS[role]} ${percent(meanOf(flags[role]))}`).join(" · "),
    reason: reason.some(Boolean) ? reason : null,
    get label() {
      return label();
    },
    besides: facts.besides[place.task].length ? { words: facts.besides[place.task], codes: besides } : null,
    measures: HEAD_ROLES.map((_, role) => measureOf(NAMED_ROLES[role], roles[role])).filter((_, role) => isFitted[role]),
    look: fittedLook(strengths, shown, threshold, reason, palette),
    get profile() {
      return profile();
    },
  };
}

/**
 * @param {string} name
 * @param {Uint16Array} steps
 * @returns {Measure}
 */
function measureOf(name, steps) {
  const values = later(() => steps.map((step) => (step === NO_STEP ? 0 : step)));
  return { name, low: 0, step: 1 / STEPS, digits: 2, ranked: true, interval: null, values };
}

/**
 * @param {Uint8Array} flags
 */
function meanOf(flags) {
  let count = 0;
  for (const flag of flags) count += flag;
  return count / flags.length;
}

/**
 * A role for every head.
 * @param {Uint8Array} helps
 * @param {Uint8Array} hurts
 * @param {Uint8Array} idle
 */
function roleCodes(helps, hurts, idle) {
  const codes = new Uint16Array(helps.length);
  for (let head = 0; head < codes.length; head++) {
    if (helps[head]) codes[head] = hurts[head] ? BOTH : FACILITATING;
    else if (hurts[head]) codes[head] = INTERFERING;
    else codes[head] = idle[head] ? IRRELEVANT : NO_ROLE;
  }
  return codes;
}

/**
 * Two roles mixed, or one score from none to full.
 * @param {Uint16Array[]} strengths
 * @param {number[]} shown
 * @param {number} threshold
 * @param {Uint8Array} reason
 * @param {Palette} palette
 * @returns {Look}
 */
function fittedLook(strengths, shown, threshold, reason, palette) {
  const first = palette.missing.length;
  const levels = shown.length > 1 ? LEVELS : FINE;
  const coded = strengths.map((steps) => levelsOf(steps, threshold, levels));
  const alone = HEAD_ROLES[shown[0]];
  const shadesOf = () =>
    shown.length > 1
      ? mixtures(palette, LEVELS)
      : Array.from({ length: FINE }, (_, i) => glow(palette, alone, i / (FINE - 1)));
  const name = shown.length > 1 ? "roles" : alone;
  const shades = once(palette, `${name} and missing`, () => [...palette.missing, ...shadesOf()]); // one list for all panels
  const codes = new Uint8Array(reason.length);
  for (let head = 0; head < codes.length; head++) {
    const mixed = coded.length > 1 ? coded[0][head] * LEVELS + coded[1][head] : coded[0][head];
    codes[head] = reason[head] || first + mixed;
  }
  return { shades, codes, marks: null, empty: palette.empty, ground: groundOf(palette) };
}

/**
 * @param {Uint16Array} steps
 * @param {number} threshold
 * @param {number} levels
 */
function levelsOf(steps, threshold, levels) {
  const lights = new Uint8Array(steps.length);
  for (let head = 0; head < lights.length; head++) lights[head] = level(lightOf(steps[head], threshold), levels);
  return lights;
}

/**
 * How strong a role looks, from 0 to 1.
 * @param {number} step
 * @param {number} threshold
 */
function lightOf(step, threshold) {
  if (step === NO_STEP) return 0;
  return (step >= threshold ? step : DIM * step) / STEPS;
}

/**
 * @param {number[]} shown roles
 * @param {Uint8Array[]} flags of each role
 * @param {Uint8Array} reason
 * @param {Facts} facts
 * @param {Palette} palette
 */
function profileOf(shown, flags, reason, facts, palette) {
  return {
    names: shown.map((role) => SHORT_WORDS[role]),
    colours: shown.map((role) => toneOf(palette, HEAD_ROLES[role])),
    shares: shown.map((role) => sharesOf(flags[role], reason, facts)),
    signed: shown.length === 2,
  };
}

/**
 * @param {Facts} facts
 * @param {Record<string, any>} arrays
 * @param {Place} place
 * @param {CausalState} state
 * @param {Palette} palette
 * @returns {Panel}
 */
function previewPanel(facts, arrays, place, state, palette) {
  if (!facts.previewed[place.task]) return missingPanel(facts, namedOf(facts, place), 1, palette);
  const size = facts.layers.length * facts.heads;
  const before = facts.previewed.slice(0, place.task).filter(Boolean).length;
  const at = (before * PROMPT_COLUMNS.length + PROMPT_COLUMNS.indexOf(place.column)) * size;
  /** @type {Int16Array} */
  const steps = arrays.slopes.subarray(at, at + size);
  /** @type {Uint8Array} */
  const signs = arrays.signs.subarray(at, at + size);
  const [helps, hurts] = [1, 2].map((sign) => signs.map((flags) => (flags & sign ? 1 : 0)));
  const reason = Uint8Array.from(steps, (step) => (step === NO_SLOPE ? 1 : 0));
  const first = palette.missing.length;
  const codes = reason.map((why, head) => why || first + level((steps[head] / SLOPES + 1) / 2, FINE));
  const none = new Uint8Array(size);
  const values = later(() => Float64Array.from(steps, (step) => (step === NO_SLOPE ? 0 : step)));
  const step = facts.steepest[place.column] / SLOPES;
  const shares = [helps, hurts].map((flags, role) => `${SHORT_WORDS[role]} ${percent(meanOf(flags))}`);
  return {
    ...namedOf(facts, place),
    note: ["first-order", ...shares].join(" · "),
    reason: reason.some(Boolean) ? reason : null,
    label: { words: ROLE_WORDS, codes: roleCodes(helps, hurts, none) },
    measures: [{ name: "gradient g", low: 0, step, digits: 4, ranked: false, interval: null, values }],
    look: { shades: once(palette, "slopes and missing", () => [...palette.missing, ...slopes(palette, FINE)]), codes, marks: null, empty: palette.empty, ground: "" },
    profile: profileOf([0, 1], [helps, hurts], reason, facts, palette),
  };
}

/**
 * The share of heads with each role, of each task.
 * @param {Answer} answer
 * @param {CausalState} state
 * @param {Palette} palette
 * @returns {import("./index.mjs").ShareTable[]}
 */
export function sharesOfRoles({ facts, arrays }, state, palette) {
  const size = facts.layers.length * facts.heads;
  const threshold = thresholdStep(state.role);
  const caption = `heads scoring at least ${number(state.role)}`;
  return facts.tasks.map((/** @type {{name: string}} */ { name }, /** @type {number} */ task) => {
    /** @type {[words: string, colour: string, heads: number[]][]} */
    const rows = [];
    for (const [role, words] of NAMED_ROLES.entries()) {
      const counts = facts.columns.map((/** @type {string} */ _, /** @type {number} */ column) => {
        const at = (3 * (task * facts.columns.length + column) + role) * size;
        return reaching(arrays.roles.subarray(at, at + size), threshold);
      });
      const colour = toneOf(palette, HEAD_ROLES[role]);
      if (counts.some((/** @type {number} */ count) => count >= 0)) rows.push([words, colour, counts]);
    }
    return { task: name, caption, columns: facts.columns.map(calledColumn), rows, total: size };
  });
}

/**
 * How many steps reach a threshold; -1 where nothing is known.
 * @param {Uint16Array} steps
 * @param {number} threshold
 */
function reaching(steps, threshold) {
  let count = 0;
  let isKnown = false;
  for (const step of steps) {
    if (step === NO_STEP) continue;
    isKnown = true;
    if (step >= threshold) count++;
  }
  return isKnown ? count : -1;
}

/**
 * A column as a person reads it.
 * @param {string} column
 */
function calledColumn(column) {
  return COLUMN_NAMES[column] || column[0].toUpperCase() + column.slice(1).toLowerCase();
}
