// @ts-check
// What the scripts' rules make of a view, as plain values (tests/cases/rendered.py tells the same of the Python rules).

/**
 * Everything that follows the controls.
 * @param {any} view
 * @param {number} heads
 */
export function rendered(view, heads) {
  return {
    panels: view.panels.map((/** @type {any} */ panel) => ({
      key: panel.key,
      title: panel.title,
      note: panel.note,
      codes: rows(panel.look.codes, heads),
      marks: rows(panel.look.marks || panel.look.codes.map(() => 0), heads),
      colours: rows(Array.from(panel.look.codes, (/** @type {number} */ code) => panel.look.shades[code]), heads),
      ground: panel.look.ground,
      labels: labelsOf(panel.label, heads),
      besides: labelsOf(panel.besides || null, heads),
      profile: profileOf(panel.profile),
    })),
    sentence: view.sentence.map(textOf).join(""),
    legend: view.legend,
    topic: view.topic,
    idle: view.idle,
    called: view.called || {},
    best: view.best && bestOf(view.best),
    counts: view.counts,
    shares: view.shares,
    layers: profileOf(view.profile),
    measures: view.panels.map((/** @type {any} */ panel) => panel.measures.map(measureOf)),
  };
}

/**
 * @param {any} label
 * @param {number} heads
 */
function labelsOf(label, heads) {
  return label && rows(Array.from(label.codes, (/** @type {number} */ code) => label.words[code]), heads);
}

/** @param {any} measure */
function measureOf({ name, low, step, digits, ranked, interval, values }) {
  const numbers = Array.from(values(), (/** @type {number} */ value) => low + step * value || 0);
  return { name, digits, ranked, numbers, interval: interval && interval.map((/** @type {() => number[]} */ ends) => Array.from(ends())) };
}

/**
 * @param {any} values
 * @param {number} heads
 */
function rows(values, heads) {
  const found = [];
  for (let at = 0; at < values.length; at += heads) found.push(Array.from(values.slice(at, at + heads)));
  return found;
}

/** @param {any} profile */
function profileOf(profile) {
  if (!profile) return null;
  const { names, colours, shares, signed } = profile;
  return { names, colours, shares: shares.map((/** @type {number[]} */ row) => Array.from(row, (share) => Math.round(1000 * share))), signed };
}

/** @param {string | object} piece */
function textOf(piece) {
  return typeof piece === "string" ? piece : `*${Object.values(piece).join("")}*`;
}

/** @param {any} best */
function bestOf({ count, titles, verbs, item, verb, score, low, high, remarks, remark }) {
  const size = item().length / count;
  const lines = [];
  for (let head = 0; head < size; head++) {
    const mine = [];
    for (let place = 0; place < count; place++) {
      const at = place * size + head;
      if (!(score()[at] > 0)) continue;
      const ends = `(${low()[at]}–${high()[at]})`;
      const said = remarks[remark()[at]] && `, ${remarks[remark()[at]]}`;
      mine.push(`${verbs[verb()[at]]} ${titles[item()[at]]} ${Math.floor(1e6 * score()[at] + 0.5)} ${ends}${said}`);
    }
    lines.push(mine);
  }
  return lines;
}

/**
 * The arrays of a base64 text as the rules take them.
 * @param {string} text
 */
export function bufferOf(text) {
  const bytes = Buffer.from(text, "base64");
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
}
