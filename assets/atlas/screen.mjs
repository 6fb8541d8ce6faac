// @ts-check
// The screen: how wide the page is and whether it is dark, told to the server when it changes.
import { dash, PARTS, setStore } from "./page.mjs";

/** @typedef {{width: number, dark: boolean}} Screen */

/** @type {{theme: string, told: string, resized: ReturnType<typeof setTimeout> | undefined}} */
const page = { theme: "system", told: "", resized: undefined };

const THEME = "theme"; // in the browser's storage, from which assets/before/theme.js reads it, too

/** Take the theme that was chosen in this browser, and follow the window and the system. */
export function watchScreen() {
  page.theme = rememberedTheme();
  addEventListener("resize", () => {
    clearTimeout(page.resized);
    page.resized = setTimeout(tellScreen, 150);
  });
  system().addEventListener("change", () => {
    dash().set_props(PARTS.provider, { forceColorScheme: scheme() });
    tellScreen();
  });
}

/**
 * The theme was chosen: what the server and the page are told.
 * @param {string} theme
 * @returns {[screen: Screen, scheme: string]}
 */
export function chooseTheme(theme) {
  if (page.told) rememberTheme(theme);
  else if (page.theme !== theme) dash().set_props(PARTS.theme, { value: page.theme }); // the first call has the default
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
 * The room for the maps.
 * @returns {Screen}
 */
function measured() {
  const main = document.querySelector("main");
  const style = main && getComputedStyle(main);
  const inner = style ? main.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) : 0;
  return { width: Math.floor(inner > 100 ? inner : innerWidth - 48), dark: isDark() };
}

function tellScreen() {
  const now = measured();
  if (JSON.stringify(now) === page.told) return;
  page.told = JSON.stringify(now);
  setStore(PARTS.screen, now);
}
