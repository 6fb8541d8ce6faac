// @ts-check
// The screen: how wide the page is and whether it is dark, told to the server when it changes.
import { dash, PARTS, setStore } from "./page.mjs";

/** @typedef {{width: number, dark: boolean}} Screen */

/**
 * @typedef {object} Watched
 * @property {string} theme
 * @property {string} told the screen as the server knows it
 * @property {ReturnType<typeof setTimeout> | undefined} resized
 * @property {number} fitted the frame in which the maps are fitted
 * @property {{width: number, height: number} | null} room for the maps
 */

/** @type {Watched} */
const page = { theme: "system", told: "", resized: undefined, fitted: 0, room: null };

const ABOVE = 240; // pixels of what stands above the maps
const LEAST = 420; // pixels that the maps may always have
const THEME = "theme"; // in the browser's storage, from which assets/before/theme.js reads it, too

/**
 * Take the theme that was chosen in this browser, and follow the window and the system.
 * @param {() => void} fit draws the maps as the window is now
 */
export function watchScreen(fit) {
  page.theme = rememberedTheme();
  addEventListener("resize", () => {
    page.room = null; // measured when the window has changed, not for every change of colours
    cancelAnimationFrame(page.fitted);
    page.fitted = requestAnimationFrame(fit);
    clearTimeout(page.resized);
    page.resized = setTimeout(tellScreen, 150);
  });
  system().addEventListener("change", () => {
    dash().set_props(PARTS.provider, { forceColorScheme: scheme() });
    tellScreen();
  });
}

/**
 * The server knows a screen already, by the first view.
 * @param {Screen} screen
 */
export function screenKnown(screen) {
  page.told = JSON.stringify(screen);
}

/**
 * The theme was chosen: what the server and the page are told.
 * @param {string} theme
 * @returns {[screen: Screen, scheme: string]}
 */
export function chooseTheme(theme) {
  rememberTheme(theme);
  document.documentElement.setAttribute("data-mantine-color-scheme", scheme());
  const now = measured();
  page.told = JSON.stringify(now);
  return [now, scheme()];
}

function rememberedTheme() {
  try {
    return localStorage.getItem(THEME) || "system";
  } catch {
    return "system"; // a browser that keeps nothing
  }
}

/**
 * @param {string} theme
 */
function rememberTheme(theme) {
  page.theme = theme;
  try {
    localStorage.setItem(THEME, theme);
  } catch {
    // It is forgotten with the page.
  }
}

/** Whether the page is dark. */
export function isDark() {
  return isDarkIn(page.theme, system().matches);
}

/**
 * Whether a theme is dark, given what the system prefers.
 * @param {string} theme
 * @param {boolean} prefersDark
 */
export function isDarkIn(theme, prefersDark) {
  return theme === "dark" || (theme !== "light" && prefersDark);
}

function scheme() {
  return isDark() ? "dark" : "light";
}

function system() {
  return matchMedia("(prefers-color-scheme: dark)");
}

/**
 * What the server is told.
 * @returns {Screen}
 */
function measured() {
  return { width: inside(), dark: isDark() };
}

/** The page's width in pixels, without its margins. */
function inside() {
  const main = document.querySelector("main");
  const style = main && getComputedStyle(main);
  const inner = style ? main.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) : 0;
  return Math.floor(inner > 100 ? inner : innerWidth - 48);
}

/**
 * The room for the maps inside their frame, so that they fit below what stands above them.
 * @returns {{width: number, height: number}}
 */
export function room() {
  page.room ??= { width: inside() - 2, height: Math.max(LEAST, innerHeight - ABOVE) };
  return page.room;
}

function tellScreen() {
  const now = measured();
  if (JSON.stringify(now) === page.told) return;
  page.told = JSON.stringify(now);
  setStore(PARTS.screen, now);
}
