// @ts-check
// Before anything is drawn: ask for the page of this address and screen, while the scripts still load. Dash would ask for a
// page that is the same for all addresses, and fill it in later; it is handed this answer instead.
(function () {
  const root = document.documentElement;
  const margins = matchMedia("(max-width: 760px)").matches ? 24 : 48;
  let theme = "system";
  try {
    theme = localStorage.getItem("theme") || theme;
  } catch {} // a browser that keeps nothing
  const asked = new URLSearchParams({
    theme,
    address: location.search,
    width: String(Math.min(root.clientWidth, 1760) - margins),
    dark: root.getAttribute("data-mantine-color-scheme") === "dark" ? "1" : "0",
  });
  const plain = window.fetch;
  const answer = plain(`/_dash-layout?${asked}`, { credentials: "same-origin", headers: { Accept: "application/json" } });
  answer.catch(() => {}); // said when Dash asks for it
  window.fetch = (resource, options) => {
    if (resource !== "/_dash-layout") return plain(resource, options);
    window.fetch = plain;
    return answer;
  };
})();
