// @ts-check
// Plotly, for the figures below the maps and for pictures.

/**
 * @typedef {object} Drawn what plotly adds to a graph's element
 * @property {any[]} data
 * @property {Record<string, any>} _fullLayout
 * @property {(event: string, listener: (event: any) => void) => void} on
 */

/** @typedef {HTMLElement & Drawn} Graph */

/**
 * @typedef {object} Plotly
 * @property {(graph: Element, changes: Record<string, unknown>, traces: number[]) => void} restyle
 * @property {(graph: Element, data: object, layout: object, traces: number[]) => void} update
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
