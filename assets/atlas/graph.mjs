// @ts-check
// Plotly, for the figures below the maps and for pictures. It is large, and most visits never need it: it is fetched when
// something is drawn with it for the first time.
import { rules } from "./rules.mjs";

/**
 * @typedef {object} Drawn what plotly adds to a graph's element
 * @property {any[]} data
 * @property {Record<string, any>} _fullLayout
 * @property {(event: string, listener: (event: any) => void) => void} on
 */

/** @typedef {HTMLElement & Drawn} Graph */

/**
 * @typedef {object} Plotly
 * @property {(graph: Element, data: unknown, layout: unknown, config: unknown) => Promise<Graph>} react
 * @property {(graph: Element, changes: Record<string, unknown>, traces: number[]) => void} restyle
 * @property {(graph: Element, data: object, layout: object, traces: number[]) => void} update
 * @property {(holder: Element, data: unknown, layout: unknown, config: unknown) => Promise<unknown>} newPlot
 * @property {(holder: Element, options: unknown) => Promise<unknown>} downloadImage
 * @property {(holder: Element) => void} purge
 * @property {{resize: (graph: Element) => void}} Plots
 */

/** @type {{loading: Promise<Plotly> | null}} */
const script = { loading: null };

/**
 * Plotly itself, fetched once; after a failure the next one who needs it tries again.
 * @returns {Promise<Plotly>}
 */
export function plotly() {
  script.loading ??= new Promise((resolve, reject) => {
    const tag = document.createElement("script");
    tag.src = rules().plotly;
    tag.onload = () => resolve(/** @type {{Plotly: Plotly}} */ (/** @type {unknown} */ (window)).Plotly);
    tag.onerror = () => {
      script.loading = null;
      tag.remove();
      reject(new Error("plotly could not be fetched"));
    };
    document.head.append(tag);
  });
  return script.loading;
}
