// Before anything is drawn: dark or light as the address, else the system, says. No flash.
(function () {
  const asked = new URLSearchParams(location.search).get("theme");
  const dark = asked === "dark" || (asked !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", dark ? "dark" : "light");
})();
