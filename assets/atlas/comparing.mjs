// @ts-check
// Numbers of heads against each other: differences, correlation, extents. A grid runs over layers, then heads.

/** @typedef {(number | null)[][]} Grid */

/**
 * Every value of some grids that is there.
 * @param {Grid[]} grids
 */
function present(grids) {
  return /** @type {number[]} */ (grids.flat(2).filter((value) => value !== null));
}

/**
 * The smallest and the largest value; zero is always between them.
 * @param {Grid[]} grids
 * @returns {[number, number]}
 */
export function extent(grids) {
  let [low, high] = [0, 0];
  for (const value of present(grids)) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

/**
 * What the second has more than the first.
 * @param {Grid} first
 * @param {Grid} second
 * @returns {Grid}
 */
export function difference(first, second) {
  return first.map((row, i) =>
    row.map((value, j) => {
      const other = second[i][j];
      return value === null || other === null ? null : other - value;
    }),
  );
}

/**
 * Pearson's correlation over the heads that both have; NaN where one of them does not vary.
 * @param {Grid} first
 * @param {Grid} second
 */
export function correlation(first, second) {
  const [xs, ys] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([])];
  for (const [i, row] of first.entries()) {
    for (const [j, value] of row.entries()) {
      const other = second[i][j];
      if (value === null || other === null) continue;
      xs.push(value);
      ys.push(other);
    }
  }
  const [mx, my] = [mean(xs), mean(ys)];
  let [xy, xx, yy] = [0, 0, 0];
  for (const [i, x] of xs.entries()) {
    xy += (x - mx) * (ys[i] - my);
    xx += (x - mx) ** 2;
    yy += (ys[i] - my) ** 2;
  }
  return xy / Math.sqrt(xx * yy);
}

/** @param {number[]} values */
function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / (values.length || 1);
}

/**
 * Where a value lies between two, from 0 to 1.
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export function clipped(value, low, high) {
  return high > low ? Math.min(1, Math.max(0, (value - low) / (high - low))) : 0.5;
}

/**
 * The mean of each layer at its relative depth, from 0 to 1.
 * @param {Grid} values
 */
export function depthProfile(values) {
  const last = Math.max(1, values.length - 1);
  return values.map((row, layer) => ({ depth: layer / last, mean: mean(present([[row]])) }));
}

/**
 * A rectangle as an address has it: two corners.
 * @param {{x: number, y: number}} one
 * @param {{x: number, y: number}} other
 */
export function brushText(one, other) {
  return [one.x, one.y, other.x, other.y].map((value) => String(Number(value.toPrecision(4)))).join(",");
}

/**
 * The corners of a rectangle in an address; null when it has none.
 * @param {string} text
 * @returns {[{x: number, y: number}, {x: number, y: number}] | null}
 */
export function brushOf(text) {
  const numbers = text.split(",").map((part) => (part.trim() ? Number(part) : NaN));
  if (numbers.length !== 4 || !numbers.every(Number.isFinite)) return null;
  const [x0, y0, x1, y1] = numbers;
  return [{ x: x0, y: y0 }, { x: x1, y: y1 }];
}

/**
 * A number in few digits, with a true minus sign.
 * @param {number | null} value
 * @param {number} [digits]
 */
export function short(value, digits = 2) {
  return value === null ? "" : String(Number(value.toPrecision(digits))).replace("-", "−");
}

/**
 * The points inside a rectangle, whichever of its corners are given.
 * @template {{x: number, y: number}} Point
 * @param {Point[]} points
 * @param {{x: number, y: number}} one
 * @param {{x: number, y: number}} other
 */
export function inside(points, one, other) {
  const [left, right] = [Math.min(one.x, other.x), Math.max(one.x, other.x)];
  const [top, bottom] = [Math.min(one.y, other.y), Math.max(one.y, other.y)];
  return points.filter(({ x, y }) => x >= left && x <= right && y >= top && y <= bottom);
}
