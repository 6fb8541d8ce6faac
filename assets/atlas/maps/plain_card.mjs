// @ts-check
// What follows the controls on the cards of plain maps.

/**
 * Rows of plain maps: those whose number reaches a setting stand out, those of another variant are hidden.
 * @param {Record<string, unknown>} values of the settings
 */
export function decorate(values) {
  for (const row of document.querySelectorAll("tr[data-reaches]")) {
    const [key, number] = (row.getAttribute("data-reaches") || "").split(" ");
    row.classList.toggle("strong", Number(number) >= Number(values[key]));
  }
  for (const row of document.querySelectorAll("tr[data-when]")) {
    const [key, value] = (row.getAttribute("data-when") || "").split(" ");
    row.toggleAttribute("hidden", values[key] !== value);
  }
}
