// @ts-check
// Plotly's graph of the maps.

/** @typedef {import("./geometry.mjs").Axes} Axes */
/** @typedef {import("./geometry.mjs").Axis} Axis */
/** @typedef {{dtype: string, shape: string, bdata: string}} PackedArray numbers as plotly takes them, in base64 */

/**
 * @typedef {object} Trace
 * @property {string} type
 * @property {PackedArray} z
 * @property {[at: number, colour: string][]} colorscale
 * @property {number} xgap pixels between squares
 * @property {string} [meta] the colour between them, when it is not the page's
 * @property {string} [legendgroup] "inside" of a map that is drawn over the middles of another's squares
 */

/**
 * @typedef {object} Layout
 * @property {number} width
 * @property {number} height
 * @property {string} uirevision
 * @property {{color: string}} font
 * @property {{text: string}[]} annotations
 */

/** @typedef {{data: Trace[], layout: Layout & Record<string, any>}} Figure */

/**
 * @typedef {object} Drawn what plotly adds to the graph's element
 * @property {Trace[]} data
 * @property {Record<string, any>} _fullLayout
 * @property {(event: string, listener: (event: any) => void) => void} on
 */

/** @typedef {HTMLElement & Drawn} Graph */

/**
 * @typedef {object} Plotly
 * @property {(graph: Element, changes: Record<string, unknown>) => void} relayout
 * @property {(graph: Element, changes: Record<string, unknown>, traces: number[]) => void} restyle
 * @property {(holder: Element, data: unknown, layout: unknown, config: unknown) => Promise<unknown>} newPlot
 * @property {(holder: Element, options: unknown) => Promise<unknown>} downloadImage
 * @property {(holder: Element) => void} purge
 */

/**
 * Plotly itself, which arrives after the page.
 * @returns {Plotly}
 */
export function plotly() {
  return /** @type {{Plotly: Plotly}} */ (/** @type {unknown} */ (window)).Plotly;
}

/**
 * The graph of the maps, or null before plotly has drawn it.
 * @returns {Graph | null}
 */
export function graph() {
  const part = /** @type {Graph | null} */ (document.querySelector("#maps .js-plotly-plot"));
  return part && part._fullLayout && typeof part.on === "function" ? part : null;
}

/**
 * Do something as soon as the graph is drawn: plotly arrives after the page, so ask again frame by frame for some seconds.
 * @param {(drawn: Graph) => void} work
 * @param {number} [patience] frames
 */
export function whenDrawn(work, patience = 600) {
  const drawn = graph();
  if (drawn) work(drawn);
  else if (patience) requestAnimationFrame(() => whenDrawn(work, patience - 1));
}

/**
 * The traces of a figure that are maps; the others are drawn over them, or are profiles beside them.
 * @param {Trace[]} data
 */
export function mapsIn(data) {
  return data.filter((trace) => trace.type === "heatmap" && trace.legendgroup !== "inside");
}

/**
 * The traces that are drawn over the middles of the maps' squares, one for each map, or none.
 * @param {Trace[]} data
 */
export function insidesIn(data) {
  return data.filter((trace) => trace.type === "heatmap" && trace.legendgroup === "inside");
}

/**
 * The axes of the first maps of a graph.
 * @param {Graph} drawn
 * @param {number} count
 * @returns {Axes[]}
 */
export function axesOf(drawn, count) {
  /** @type {Axes[]} */
  const axes = [];
  for (let map = 0; map < count; map++) {
    const mark = map === 0 ? "" : String(map + 1);
    const xAxis = drawn._fullLayout[`xaxis${mark}`];
    const yAxis = drawn._fullLayout[`yaxis${mark}`];
    if (xAxis && yAxis) axes.push([xAxis, yAxis]);
  }
  return axes;
}
