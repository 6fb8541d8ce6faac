// @ts-check
// Elements made by scripts. Text becomes text nodes only, so a token can never become markup.

/** @typedef {string | [tag: string, properties: Record<string, any>, children: Piece[]]} Piece */

/** The tags that a piece of the page may have; any other becomes a span. */
export const TAGS = new Set([
  ..."section header h2 h3 div span p bdi i b small code button details summary a".split(" "),
  ..."table thead tbody tr th td".split(" "),
]);

const ATTRIBUTE = /^(aria-[a-z]+|data-[a-z]+|scope|title|role)$/;

/**
 * A new element with a class and text.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} [className]
 * @param {string} [text]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

/**
 * The element with an id at the end of the page, made when it is first needed.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function atTheEnd(id) {
  const there = document.getElementById(id);
  if (there) return there;
  const made = element("div");
  made.id = id;
  document.body.appendChild(made);
  return made;
}

/**
 * The element that a piece of the page stands for; dashboard/markup.py writes the pieces.
 * @param {Piece} piece
 * @returns {Node}
 */
export function built(piece) {
  if (typeof piece === "string") return document.createTextNode(piece);
  const [tag, properties, children] = piece;
  const made = document.createElement(TAGS.has(tag) ? tag : "span");
  for (const [name, value] of Object.entries(properties)) setProperty(made, name, value);
  made.append(...children.map(built));
  return made;
}

/**
 * @param {HTMLElement} made
 * @param {string} name
 * @param {any} value
 */
function setProperty(made, name, value) {
  if (name === "className") made.className = value;
  else if (name === "style") Object.assign(made.style, value);
  else if (name === "disabled") made.toggleAttribute("disabled", Boolean(value));
  else if (name === "href" && String(value).startsWith("/")) made.setAttribute(name, value); // of this site
  else if (ATTRIBUTE.test(name)) made.setAttribute(name, value);
}
