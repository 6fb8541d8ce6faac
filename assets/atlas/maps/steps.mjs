// @ts-check
// Scores and gradients as they come, in two bytes each (dashboard/maps/steps.py).

export const STEPS = 60000; // a score of 1
export const NO_STEP = 65535;
export const SLOPES = 32767; // the steepest gradient
export const NO_SLOPE = -32768;

/**
 * The step that a threshold has.
 * @param {number} threshold of four decimals
 */
export function thresholdStep(threshold) {
  return Math.round(threshold * 10000) * (STEPS / 10000);
}

/**
 * Which scores reach the threshold.
 * @param {Uint16Array} steps
 * @param {number} threshold its step
 */
export function flagsOf(steps, threshold) {
  const flags = new Uint8Array(steps.length);
  for (let head = 0; head < flags.length; head++) if (steps[head] !== NO_STEP && steps[head] >= threshold) flags[head] = 1;
  return flags;
}
