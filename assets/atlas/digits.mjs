// @ts-check
// Numbers with a fixed number of digits, rounded as Python rounds them, so that a number reads the same everywhere.

/**
 * Of two neighbours that are equally near, the even one: 0.625 is 0.62, and 0.375 is 0.38.
 * @param {number} number
 * @param {number} digits
 */
export function fixed(number, digits) {
  const text = number.toFixed(digits); // the larger of the two
  const isDyadic = Number.isInteger(number * 2 ** (digits + 1)); // only such a number lies exactly between two others
  const scaled = Math.abs(number) * 10 ** digits;
  if (!isDyadic || scaled % 1 !== 0.5) return text;
  const even = 2 * Math.round(scaled / 2);
  return ((Math.sign(number) * even) / 10 ** digits).toFixed(digits);
}
