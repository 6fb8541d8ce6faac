// @ts-check
// Where the panels of the page stand: so that their cells are as large as the window allows. dashboard/arrange.py does the
// same for pictures, with the same names; tests/cases/arrange.json holds for both.

/** @typedef {{left: number, top: number, width: number, height: number}} Box pixels from the sheet's corner */

/**
 * @typedef {object} Arrangement all panels of a sheet
 * @property {number} width
 * @property {number} height
 * @property {number} cell pixels of a cell's side, in the last panel
 * @property {Box[]} boxes
 * @property {Box[]} sides of the layer profiles of all panels, of the first alone, or of none
 */

/**
 * @typedef {object} Task what is to be placed, and where
 * @property {number} count panels
 * @property {number} columns cells across
 * @property {number} rows cells down
 * @property {number} width
 * @property {number} height
 * @property {number} largest pixels of a cell's side
 * @property {"" | "beside" | "below"} profile where each panel's layer profile goes
 * @property {number} beside how many belong in one row, of panels in a grid; else 0
 * @property {boolean} [alike] the first panel says no more than the others: all have one size
 */

export const [LEFT, RIGHT, TOP, BOTTOM] = [34, 10, 30, 34];
const [LARGEST, LARGEST_FIRST, LARGEST_ALONE] = [26, 32, 40];
const COMFORTABLE = 14;
const WHOLE = 8;
const LEGIBLE = 180;
const [NARROWEST, NARROWEST_LED] = [170, 126];
const ENDLESS = 1_000_000;
const SMALLEST = 3;
const [PHONE, LARGEST_ON_PHONE] = [640, 16];
const [GAP, LEAST_SIDE, LARGEST_SIDE, UNDER] = [28, 110, 220, 46];

/**
 * Place panels of cells across and down, each with its layer profile, if any. Panels stand in one row where their cells are
 * comfortable; else as their cells are largest, with no place of the last row empty, or the first above all others; on a
 * phone below each other.
 * @param {Task} task
 * @returns {Arrangement}
 */
export function arrange(task) {
  const { count, width, height, largest, beside, alike } = task;
  const isLed = !beside && !alike;
  if (count === 1 && largest === LARGEST) return arrange({ ...task, largest: LARGEST_ALONE });
  if (width < PHONE) return onAPhone(beside ? task : { ...task, profile: "" });
  const options = evenly(task).map((each) => inRows(task, each, height));
  if (isLed) options.push(...leading(task));
  const fitting = options.filter((option) => option.height <= height && isLegible(option));
  const spread = fitting.filter((option) => count === 1 || rightOf(option) > width / 2);
  if (!spread.length && isLed) {
    // five flat maps below each other would leave most of a wide window empty
    const above = firstAbovePairs(task).filter((option) => option.height <= height && isLegible(option));
    if (above.length) return [...fitting, ...above].reduce((best, option) => (areaOf(option) > areaOf(best) ? option : best));
  }
  if (!fitting.length) return scrolling(task);
  const chosen = spread.length ? spread : fitting;
  const comfortable = chosen.filter((option) => option.cell >= Math.min(COMFORTABLE, largest));
  if (comfortable.length && !beside) return lowest(comfortable);
  return chosen.reduce((best, option) => (isLarger(option, best) ? option : best));
}

/**
 * Panels that do not fit the window, as wide as it is: the first large, or those of a grid in its columns.
 * @param {Task} task
 */
function scrolling(task) {
  const { count, width, beside, alike } = task;
  const tall = { ...task, height: ENDLESS };
  const options = [...leading(tall).filter(isLegible), ...firstAbovePairs(tall)];
  if (!beside && !alike && options.length) return lowest(options);
  const most = Math.min(beside || 2, Math.floor(width / NARROWEST), count);
  return inRows(task, Math.max(1, most), null);
}

/**
 * Where the panel that reaches furthest to the right ends.
 * @param {Arrangement} option
 */
function rightOf({ boxes, sides }) {
  return Math.max(...[...boxes, ...sides].map(({ left, width }) => left + width));
}

/**
 * @param {Arrangement} option
 */
function isLegible({ cell, boxes: [box] }) {
  return cell >= WHOLE || Math.min(box.width, box.height) >= LEGIBLE;
}

/**
 * @param {Arrangement[]} options
 */
function lowest(options) {
  return options.reduce((best, option) => (option.height < best.height ? option : best));
}

/**
 * @param {Arrangement} option
 * @param {Arrangement} best
 */
function isLarger(option, best) {
  const more = areaOf(option) - areaOf(best);
  return more > 0 || (more === 0 && option.height < best.height);
}

/**
 * @param {Arrangement} option
 */
function areaOf({ boxes }) {
  return boxes.reduce((sum, { width, height }) => sum + width * height, 0);
}

/**
 * How many panels may stand in a row without an empty place in the last; of a grid its columns, or all.
 * @param {Task} task
 */
function evenly({ count, width, beside }) {
  const most = Math.max(1, Math.floor(width / NARROWEST));
  const wanted = beside > 1 ? [beside, count] : Array.from({ length: count }, (_, i) => i + 1);
  const even = wanted.filter((each) => count % each === 0 && each <= most);
  return even.length ? even : [1];
}

/**
 * @param {Task} task
 */
function onAPhone(task) {
  const most = Math.max(1, Math.min(task.count, Math.floor(task.width / NARROWEST)));
  const smaller = { ...task, largest: Math.min(task.largest, LARGEST_ON_PHONE) };
  /** @type {Arrangement[]} */
  const options = [];
  for (let beside = 1; beside <= most; beside++) options.push(inRows(smaller, beside, null));
  return lowest(options.filter((option) => option.cell >= Math.min(9, options[0].cell)));
}

/**
 * So many panels beside each other, as large as the width and, where there is one, the height allow.
 * @param {Task} task
 * @param {number} beside
 * @param {number | null} height
 * @returns {Arrangement}
 */
function inRows(task, beside, height) {
  const across = Math.floor(task.width / beside);
  const deep = Math.ceil(task.count / beside);
  const [roomBeside, roomBelow] = roomOf(task, across);
  let cell = Math.min((across - LEFT - RIGHT - roomBeside) / task.columns, task.largest);
  if (height !== null) cell = Math.min(cell, (height / deep - TOP - BOTTOM - roomBelow) / task.rows);
  cell = snapped(cell);
  const inner = sizeOf(cell, task);
  const step = inner.height + TOP + BOTTOM + roomBelow;
  const boxes = [];
  for (let i = 0; i < task.count; i++) {
    const [left, top] = [(i % beside) * across + LEFT, Math.floor(i / beside) * step + TOP];
    boxes.push({ left, top, ...inner });
  }
  const sides = task.profile ? boxes.map((box) => sideOf(box, task, across)) : [];
  return { width: task.width, height: deep * step, cell, boxes, sides };
}

/**
 * Pixels that a profile needs beside a panel and below it.
 * @param {Task} task
 * @param {number} across
 * @returns {[beside: number, below: number]}
 */
function roomOf({ profile }, across) {
  const beside = profile === "beside" ? Math.min(LEAST_SIDE, Math.floor(across / 4)) + GAP : 0;
  return [beside, profile === "below" ? UNDER + GAP : 0];
}

/**
 * Where the profile of a panel goes, that has so many pixels with its labels.
 * @param {Box} box
 * @param {Task} task
 * @param {number} across
 * @returns {Box}
 */
function sideOf({ left, top, width, height }, task, across) {
  if (task.profile === "below") return { left, top: top + height + BOTTOM, width, height: UNDER };
  const wide = Math.max(8, Math.min(LARGEST_SIDE, across - LEFT - RIGHT - width - GAP));
  return { left: left + width + GAP, top, width: wide, height };
}

/**
 * The first panel large, the others in two or three rows behind it.
 * @param {Task} task
 */
function leading(task) {
  const deeps = [2, 3].filter((deep) => task.count > deep && (task.count - 1) % deep === 0);
  const options = deeps.map((deep) => firstBesideRows(task, deep));
  return options.filter(({ cell, boxes }) => cell >= SMALLEST && boxes[boxes.length - 1].width >= NARROWEST_LED);
}

/**
 * The first panel, alone with a profile, as high as the rows of the others.
 * @param {Task} task
 * @param {number} deep
 * @returns {Arrangement}
 */
function firstBesideRows(task, deep) {
  const behind = Math.floor((task.count - 1) / deep);
  const [around, above] = [LEFT + RIGHT, TOP + BOTTOM];
  const [roomBeside, roomBelow] = roomOf(task, Math.floor(task.width / 2));
  const between = ((deep - 1) * above - roomBelow) / task.rows; // cells as high as the labels between the rows
  let small = task.width - (behind + 1) * around - roomBeside - between * task.columns;
  small = small / ((deep + behind) * task.columns);
  small = snapped(Math.min(small, (task.height / deep - above) / task.rows, task.largest));
  const inner = sizeOf(small, task);
  const leftOver = task.width - behind * (inner.width + around) - around - roomBeside;
  const high = (task.height - above - roomBelow) / task.rows;
  const large = snapped(Math.min(leftOver / task.columns, high, LARGEST_FIRST));
  const first = { left: LEFT, top: TOP, ...sizeOf(large, task) };
  const [start, step] = [first.width + around + roomBeside, inner.width + around];
  const boxes = [first];
  for (let i = 0; i < task.count - 1; i++) {
    const left = start + (i % behind) * step + LEFT;
    const top = Math.floor(i / behind) * (inner.height + above) + TOP;
    boxes.push({ left, top, ...inner });
  }
  const height = Math.max(first.height + above + roomBelow, deep * (inner.height + above));
  const sides = task.profile ? [sideOf(first, task, start)] : [];
  return { width: task.width, height, cell: small, boxes, sides };
}

/**
 * The first panel, alone with a profile, as wide as the window, the others below it in pairs; twice their size.
 * @param {Task} task
 * @returns {Arrangement[]}
 */
function firstAbovePairs(task) {
  const { count, width, columns, rows } = task;
  if (count < 3 || count % 2 === 0) return [];
  const [deep, across] = [(count - 1) / 2, Math.floor(width / 2)];
  const [around, above] = [LEFT + RIGHT, TOP + BOTTOM];
  const [roomBeside, roomBelow] = roomOf(task, width);
  const high = (task.height - (deep + 1) * above - roomBelow) / rows; // cells of all rows together
  const small = snapped(Math.min((across - around) / columns, high / (deep + 2), task.largest));
  const wide = (width - around - roomBeside) / columns;
  const large = snapped(Math.min(wide, high - deep * small, LARGEST_FIRST));
  const first = { left: LEFT, top: TOP, ...sizeOf(large, task) };
  const inner = sizeOf(small, task);
  const [start, step] = [first.height + above + roomBelow, inner.height + above];
  const boxes = [first];
  for (let i = 0; i < count - 1; i++) {
    boxes.push({ left: (i % 2) * across + LEFT, top: start + Math.floor(i / 2) * step + TOP, ...inner });
  }
  const sides = task.profile ? [sideOf(first, task, width)] : [];
  return [{ width, height: start + deep * step, cell: small, boxes, sides }];
}

/**
 * Large cells have whole pixels, so that all are equal.
 * @param {number} cell
 */
function snapped(cell) {
  return cell >= WHOLE ? Math.floor(cell) : Math.max(cell, 0.5);
}

/**
 * @param {number} cell
 * @param {Task} task
 */
function sizeOf(cell, { columns, rows }) {
  return { width: Math.max(8, Math.floor(cell * columns)), height: Math.max(8, Math.floor(cell * rows)) };
}
