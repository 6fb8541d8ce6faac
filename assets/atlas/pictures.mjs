// @ts-check
// Pictures of the view as files, drawn here by plotly from a figure of the server.
import { withPins } from "./address.mjs";
import { element } from "./elements.mjs";
import { plotly } from "./graph.mjs";
import { isDark } from "./screen.mjs";
import { state } from "./state.mjs";

/**
 * Download the figure of an address in a format.
 * @param {string} address
 * @param {string} format
 */
export async function downloadPicture(address, format) {
  const wanted = new URL(withPins(address, state.pins), location.href);
  wanted.searchParams.set("dark", isDark() ? "1" : "0");
  const answer = await fetch(wanted);
  const { data, layout } = await answer.json();
  const holder = element("div", "unseen");
  document.body.appendChild(holder);
  const { newPlot, downloadImage, purge } = await plotly();
  await newPlot(holder, data, layout, { staticPlot: true });
  const { width, height } = layout;
  await downloadImage(holder, { format, width, height, scale: 2, filename: fileName(document.title) });
  purge(holder);
  holder.remove();
}

/**
 * A title as the name of a file.
 * @param {string} title
 */
export function fileName(title) {
  return title.replace(/[^\w.-]+/g, "-");
}
