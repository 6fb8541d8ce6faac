// @ts-check
// Before anything is drawn: dark or light as was chosen in this browser, else as the system says. No flash.
(function () {
  let chosen = null;
  try {
    chosen = localStorage.getItem("theme");
  } catch {} // a browser that keeps nothing
  const dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", dark ? "dark" : "light");
})();
