// What happens in the browser alone: outlines, tooltip, pins, keyboard, the address, pictures.
// Texts reach the page through textContent only, so a token can never become markup.
(function () {
  "use strict";
  const byId = (id) => document.getElementById(id);
  const setData = (id, data) => window.dash_clientside.set_props(id, { data });
  const MAX_PINS = 8;

  // ---- The numbers behind the maps -------------------------------------------------------------------------------
  let view = null; // unpacked heads store
  let pins = [];
  let cursor = null; // [row, column] = [index of the layer, head] under the pointer or the keyboard

  function bytes(text) {
    const raw = atob(text), found = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) found[i] = raw.charCodeAt(i);
    return found;
  }
  const floats = (text) => new Float32Array(bytes(text).buffer);

  function lazily(holder, key, read) {
    const text = holder[key]; // unpacked when first asked for: painting comes before hovering
    let found;
    Object.defineProperty(holder, key, { get: () => (found ??= read(text)) });
  }

  const READERS = { f4: floats, u2: (text) => new Uint16Array(bytes(text).buffer) };

  function unpack(packed) {
    const found = { ...packed };
    found.labels = packed.labels.map((label) => ({ ...label }));
    for (const label of found.labels) lazily(label, "codes", bytes);
    found.panels = packed.panels.map((panel) => ({ ...panel, measures: panel.measures.map((measure) => ({ ...measure })) }));
    for (const panel of found.panels) {
      lazily(panel, "reason", (text) => (text ? bytes(text) : null));
      for (const measure of panel.measures) lazily(measure, "value", READERS[measure.type]);
    }
    if (packed.best) {
      found.best = { ...packed.best };
      lazily(found.best, "item", bytes);
      lazily(found.best, "verb", bytes);
      lazily(found.best, "score", floats);
    }
    return found;
  }

  const size = () => view.layers.length * view.heads;
  const nameOf = ([row, column]) => `L${view.layers[row]}H${column}`;

  function cellOf(name) {
    const match = /^\s*[La]?(\d{1,4})\s*(?:\.h|H|[.,:]\s*)\s*(\d{1,4})\s*$/i.exec(name || "");
    if (!match || !view) return null;
    const row = view.layers.indexOf(Number(match[1]));
    const column = Number(match[2]);
    return row >= 0 && column < view.heads ? [row, column] : null;
  }

  function rankOf(values, index) {
    const value = values[index];
    let rank = 1;
    for (let i = 0; i < values.length; i++) if (values[i] > value) rank++;
    return rank;
  }

  // ---- Where a head is on the screen ------------------------------------------------------------------------------
  const graph = () => document.querySelector("#maps .js-plotly-plot");
  const mapsOf = (figure) => figure.data.filter((trace) => trace.type === "heatmap"); // what follows them are profiles

  function axesOf(number) {
    const layout = graph() && graph()._fullLayout;
    const mark = number === 0 ? "" : String(number + 1);
    return layout && layout[`xaxis${mark}`] ? [layout[`xaxis${mark}`], layout[`yaxis${mark}`]] : null;
  }

  function boxOf(number, [row, column]) {
    const axes = axesOf(number);
    if (!axes) return null;
    const [x, y] = view.across ? [column, row] : [row, column];
    const [ax, ay] = axes;
    const left = ax.l2p(x - 0.5), right = ax.l2p(x + 0.5);
    const top = Math.min(ay.l2p(y - 0.5), ay.l2p(y + 0.5)), bottom = Math.max(ay.l2p(y - 0.5), ay.l2p(y + 0.5));
    if (right <= 0 || left >= ax._length || bottom <= 0 || top >= ay._length) return null;
    return { left: ax._offset + left, top: ay._offset + top, width: right - left, height: bottom - top };
  }

  function cellAt(event) {
    const gd = graph();
    if (!gd || !view) return null;
    const origin = gd.getBoundingClientRect();
    const px = event.clientX - origin.left, py = event.clientY - origin.top;
    for (let number = 0; number < mapsOf(view.figure).length; number++) {
      const axes = axesOf(number);
      if (!axes) return null;
      const [ax, ay] = axes;
      const x = px - ax._offset, y = py - ay._offset;
      if (x < 0 || y < 0 || x >= ax._length || y >= ay._length) continue;
      const across = Math.round(ax.p2l(x)), down = Math.round(ay.p2l(y));
      const cell = view.across ? [down, across] : [across, down];
      const inside = cell[0] >= 0 && cell[0] < view.layers.length && cell[1] >= 0 && cell[1] < view.heads;
      return inside ? { cell, number } : null;
    }
    return null;
  }

  // ---- Outlines and tooltip -------------------------------------------------------------------------------------
  function layer(name) {
    const frame = byId("frame");
    let found = frame.querySelector(`:scope > .${name}`);
    if (!found) {
      found = document.createElement("div");
      found.className = `outlines ${name}`;
      found.setAttribute("aria-hidden", "true");
      frame.appendChild(found);
    }
    return found;
  }

  function outline(holder, cells) {
    const gd = graph();
    if (!gd || !view) return;
    const dx = gd.offsetLeft, dy = gd.offsetTop;
    const boxes = [], maps = mapsOf(view.figure).length;
    for (const cell of cells)
      for (let number = 0; number < maps; number++) {
        const box = boxOf(number, cell);
        if (box) boxes.push(box);
      }
    while (holder.children.length < boxes.length) holder.appendChild(document.createElement("i"));
    for (let i = 0; i < holder.children.length; i++) {
      const style = holder.children[i].style;
      if (i >= boxes.length) {
        style.display = "none";
        continue;
      }
      const box = boxes[i];
      style.display = "block";
      style.transform = `translate(${box.left + dx - 2}px, ${box.top + dy - 2}px)`;
      style.width = `${box.width + 4}px`;
      style.height = `${box.height + 4}px`;
    }
  }

  const drawCursor = () => outline(layer("cursor"), cursor ? [cursor] : []);
  const drawPins = () => outline(layer("pinned"), pins.map(cellOf).filter(Boolean));

  function described(panel, index) {
    if (panel.reason && panel.reason[index]) return view.reasons[panel.reason[index]];
    return panel.measures.map((measure) => measured(measure, index)).join(" · ") || "no score";
  }

  function measured({ name, low, step, digits, ranked, value }, index) {
    const number = low + step * value[index];
    const rank = ranked && number > 0 ? `, rank ${rankOf(value, index)} of ${size()}` : "";
    return `${name} ${number.toFixed(digits)}${rank}`.trim();
  }

  function does(index, panel) {
    if (panel.label === null) return "";
    const label = view.labels[panel.label];
    return label.words[label.codes[index]];
  }

  function bestRelations(index) {
    const found = [], best = view.best;
    for (let i = 0; best && i < best.count; i++) {
      const at = i * size() + index;
      if (best.score[at] > 0) found.push([best.titles[best.item[at]], best.score[at], best.verbs[best.verb[at]]]);
    }
    return found;
  }

  function element(kind, name, text) {
    const made = document.createElement(kind);
    if (name) made.className = name;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function tooltip() {
    let tip = byId("tooltip");
    if (!tip) {
      tip = element("div");
      tip.id = "tooltip";
      tip.setAttribute("role", "tooltip");
      document.body.appendChild(tip);
    }
    return tip;
  }

  function scoreLines(panel, index) {
    const unnamed = panel.measures.every((measure) => !measure.name);
    if (unnamed || (panel.reason && panel.reason[index]))
      return [element("div", "tip-score", `${panel.title}: ${described(panel, index)}`)];
    const lines = panel.measures.map((measure) => element("div", "tip-score", measured(measure, index)));
    return [element("div", "tip-score", panel.title), ...lines];
  }

  function showTooltip(cell, number, x, y) {
    const tip = tooltip();
    const index = cell[0] * view.heads + cell[1];
    const panel = view.panels[number] || view.panels[0];
    const heading = element("div", "tip-head");
    heading.append(element("b", "", nameOf(cell)), element("span", "", does(index, panel)));
    const list = element("ul");
    for (const [title, value, verb] of bestRelations(index)) {
      const item = element("li");
      item.append(element("span", "", `${verb} ${title}`), element("b", "", value.toFixed(2)));
      list.appendChild(item);
    }
    tip.replaceChildren(heading, ...scoreLines(panel, index), list);
    tip.style.display = "block";
    const width = tip.offsetWidth, height = tip.offsetHeight;
    const left = x + 18 + width > innerWidth ? x - width - 14 : x + 18;
    const top = Math.min(Math.max(8, y - height / 2), innerHeight - height - 8);
    tip.style.transform = `translate(${Math.max(4, left)}px, ${top}px)`;
  }

  const hideTooltip = () => (tooltip().style.display = "none");

  function moved(event) {
    const found = cellAt(event);
    const same = found && cursor && found.cell[0] === cursor[0] && found.cell[1] === cursor[1];
    cursor = found ? found.cell : null;
    if (!same) drawCursor();
    if (found) showTooltip(found.cell, found.number, event.clientX, event.clientY);
    else hideTooltip();
  }

  function left() {
    cursor = null;
    drawCursor();
    hideTooltip();
  }

  // ---- Pins -----------------------------------------------------------------------------------------------------
  function setPins(next) {
    pins = next.slice(0, MAX_PINS);
    drawPins();
    setData("pins", pins);
  }

  function pin(name, several) {
    const had = pins.includes(name);
    if (several) {
      if (!had && pins.length >= MAX_PINS) return notify(`${MAX_PINS} heads are pinned; unpin one first.`);
      setPins(had ? pins.filter((other) => other !== name) : [...pins, name]);
    } else setPins(had && pins.length === 1 ? [] : [name]);
    announce(`${name} ${pins.includes(name) ? "pinned" : "unpinned"}`);
  }

  function announce(text) {
    byId("live").textContent = text;
  }

  // ---- Keyboard --------------------------------------------------------------------------------------------------
  const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  function step(key) {
    const [dx, dy] = STEPS[key];
    const [dr, dc] = view.across ? [view.upward ? -dy : dy, dx] : [dx, dy];
    const from = cursor || cellOf(pins[0]) || [0, 0];
    const start = cursor || pins.length;
    const clamp = (value, top) => Math.min(Math.max(value, 0), top - 1);
    cursor = start ? [clamp(from[0] + dr, view.layers.length), clamp(from[1] + dc, view.heads)] : from;
    focusCell();
  }

  function focusCell() {
    drawCursor();
    const index = cursor[0] * view.heads + cursor[1];
    const panel = view.panels[0];
    const named = panel.measures.some((measure) => measure.name);
    const said = named ? `${panel.title}: ${does(index, panel)}` : does(index, panel);
    announce(`${nameOf(cursor)}, ${said}, ${described(panel, index)}`);
    const box = boxOf(0, cursor);
    const origin = graph().getBoundingClientRect();
    if (box) showTooltip(cursor, 0, origin.left + box.left + box.width, origin.top + box.top + box.height / 2);
  }

  function typing(target) {
    return (
      target.closest &&
      target.closest("input:not([type=radio]):not([type=checkbox]), textarea, [contenteditable], .ag-cell-inline-editing")
    );
  }

  function keyed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !view || document.querySelector("[role=dialog]")) return;
    const inFrame = event.target.id === "frame";
    if (inFrame && event.key in STEPS) step(event.key);
    else if (inFrame && (event.key === "Enter" || event.key === " ") && cursor) pin(nameOf(cursor), event.shiftKey);
    else if (event.key === "Enter" && event.target.id === "search") search(event.target);
    else if (event.key === "Enter" && event.target.closest(".ag-row"))
      pin(event.target.closest(".ag-row").getAttribute("row-id"), event.shiftKey);
    else if (event.key === "Escape") escaped(event);
    else if (typing(event.target)) return;
    else if (event.key === "/") {
      byId("search").focus();
      byId("search").select();
    }
    else if (event.key === "?") window.dash_clientside.set_props("help", { opened: true });
    else if (event.key === "t") byId("transpose").click();
    else if (event.key === "c") copyLink();
    else return;
    event.preventDefault();
  }

  function escaped(event) {
    document.querySelectorAll("details.menu[open]").forEach((menu) => menu.removeAttribute("open"));
    left();
    if (typing(event.target)) event.target.blur();
    else if (pins.length) {
      setPins([]);
      announce("Pins cleared");
    }
  }

  function search(input) {
    const cell = cellOf(input.value);
    if (!/\d+\D+\d+/.test(input.value) || (!cell && /[^\w\s.,:]/.test(input.value))) {
      notify(`${input.value.slice(0, 40)} is no head's name: write layer and head like 10.7 or L10H7.`);
      return;
    }
    if (!cell) {
      const last = view.layers[view.layers.length - 1];
      notify(`There is no head ${input.value.slice(0, 40)} here: layers go to ${last}, heads to ${view.heads - 1}.`);
      return;
    }
    cursor = cell;
    setPins([nameOf(cell)]);
    byId("frame").focus();
    focusCell();
  }

  let notified;
  function notify(text) {
    let note = byId("note");
    if (!note) {
      note = element("div");
      note.id = "note";
      document.body.appendChild(note);
    }
    note.textContent = text;
    note.className = "shown";
    announce(text);
    clearTimeout(notified);
    notified = setTimeout(() => (note.className = ""), 3500);
  }

  // ---- The address -----------------------------------------------------------------------------------------------
  function withPins(query) {
    if (!pins.length) return query;
    return `${query || (view ? `?model=${view.model}` : "?")}&pin=${pins.join(".")}`.replace("?&", "?");
  }

  function part(search, key) {
    return new URLSearchParams(search).get(key) || "";
  }

  async function copyLink() {
    const parts = withPins(view ? lastQuery : location.search);
    const named = part(parts, "model") ? parts : `?model=${view.model}${parts.replace("?", "&")}`;
    const link = location.origin + location.pathname + named;
    try {
      await navigator.clipboard.writeText(link);
    } catch {
      const field = element("textarea", "", link);
      document.body.appendChild(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
    const button = byId("copy");
    button.textContent = "Copied";
    notify("Link copied");
    setTimeout(() => (button.textContent = "Copy link"), 1600);
  }

  let lastQuery = "";
  let scrolledTo; // the pinned head that the table last came to
  let lastPlace = null; // model and view that the address last named
  let arrived = true; // the next view comes from an address: opened, or gone back to

  function pinnedToo(address) {
    const bare = address.replace(/&pin=[^&]*/, "");
    return pins.length ? `${bare}&pin=${pins.join(".")}` : bare;
  }

  // ---- Pictures ---------------------------------------------------------------------------------------------------
  async function picture(button) {
    const address = `${pinnedToo(button.dataset.figure)}&dark=${isDark() ? 1 : 0}`;
    const figure = await (await fetch(address)).json();
    const holder = element("div", "unseen");
    document.body.appendChild(holder);
    await window.Plotly.newPlot(holder, figure.data, figure.layout, { staticPlot: true });
    const { width, height } = figure.layout;
    const filename = document.title.replace(/[^\w.-]+/g, "-");
    await window.Plotly.downloadImage(holder, { format: button.dataset.picture, width, height, scale: 2, filename });
    window.Plotly.purge(holder);
    holder.remove();
  }

  // ---- The screen -------------------------------------------------------------------------------------------------
  let theme = new URLSearchParams(location.search).get("theme") || "system";
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => theme === "dark" || (theme !== "light" && system.matches);

  function screenSize() {
    const main = document.querySelector("main");
    const style = main && getComputedStyle(main);
    const inner = main ? main.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) : 0;
    return { width: Math.floor(inner > 100 ? inner : innerWidth - 48), dark: isDark() };
  }

  let told = "";
  function tellScreen() {
    const now = screenSize();
    if (JSON.stringify(now) === told) return;
    told = JSON.stringify(now);
    setData("screen", now);
  }

  let waiting;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(tellScreen, 150);
  });
  system.addEventListener("change", () => {
    window.dash_clientside.set_props("provider", { forceColorScheme: isDark() ? "dark" : "light" });
    tellScreen();
  });
  addEventListener("popstate", () => {
    arrived = true;
    setData("address", location.search);
  });
  document.addEventListener("keydown", keyed);
  document.addEventListener("click", (event) => {
    const target = event.target.closest("[data-pin], [data-unpin], [data-instead], [data-picture], [data-export], #copy");
    document.querySelectorAll("details.menu[open]").forEach((menu) => {
      if (!menu.contains(event.target) || event.target.closest("a, button")) menu.removeAttribute("open");
    });
    if (!target) return;
    if (target.id === "copy") copyLink();
    else if (target.dataset.picture) picture(target);
    else if (target.dataset.export) target.href = pinnedToo(target.href);
    else if (target.dataset.pin) pin(target.dataset.pin, true);
    else if (target.dataset.instead) {
      const [from, to] = target.dataset.instead.split(" ");
      setPins([...new Set(pins.map((name) => (name === from ? to : name)))]);
      announce(`${to} instead of ${from}`);
    }
    else setPins(pins.filter((name) => name !== target.dataset.unpin));
  });
  document.addEventListener("mouseover", (event) => {
    const row = event.target.closest && event.target.closest(".ag-row");
    if (!row || !view) return;
    cursor = cellOf(row.getAttribute("row-id"));
    drawCursor();
  });
  document.addEventListener("mouseout", (event) => {
    if (event.target.closest && event.target.closest(".ag-row")) left();
  });
  document.addEventListener("focusout", (event) => {
    if (event.target.id === "frame") left();
  });

  // ---- Pieces of the page that arrive as data: [tag, properties, children] -----------------------------------------
  const TAGS = new Set(
    "section header h2 h3 div span p table thead tbody tr th td button code bdi i b small details summary".split(" "),
  );

  function built(piece) {
    if (typeof piece === "string") return document.createTextNode(piece);
    const [tag, properties, children] = piece;
    const made = document.createElement(TAGS.has(tag) ? tag : "span");
    for (const [name, value] of Object.entries(properties)) {
      if (name === "className") made.className = value;
      else if (name === "style") Object.assign(made.style, value);
      else if (name === "disabled") made.disabled = Boolean(value);
      else if (/^(aria-[a-z]+|data-[a-z]+|scope|title|role)$/.test(name)) made.setAttribute(name, value);
    }
    made.append(...children.map(built));
    return made;
  }

  // ---- Jobs ------------------------------------------------------------------------------------------------------
  let socket = null;
  let lastFresh = null;
  let lastJobs = "";

  function tellJobs(jobs) {
    if (JSON.stringify(jobs) === lastJobs) return;
    lastJobs = JSON.stringify(jobs);
    setData("jobs", jobs);
  }

  function listenToJobs() {
    socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live/jobs`);
    socket.onmessage = (event) => tellJobs(JSON.parse(event.data));
    socket.onclose = () => setTimeout(listenToJobs, 5000); // meanwhile the page asks every few seconds
  }

  async function ask(method, path, body) {
    const headers = body ? { "Content-Type": "application/json" } : {};
    const answer = await fetch(path, { method, headers, body: body ? JSON.stringify(body) : undefined });
    const told = await answer.json().catch(() => ({}));
    if (!answer.ok) notify(words(told) || `The server answered ${answer.status}.`);
    tellJobs(await (await fetch("/api/jobs")).json());
    return answer.ok;
  }

  function words(told) {
    if (Array.isArray(told.detail)) return told.detail.map((one) => `${one.loc.slice(1).join(" ")}: ${one.msg}`).join("; ");
    return told.detail || [told.message, told.hint].filter(Boolean).join(". ");
  }

  const ticked = (group) => [...group.querySelectorAll("input:checked")].map((box) => box.value);
  const asText = async (file) => ({ name: file.name, content: await file.text() });

  // What was typed of the causal map's settings; what is left empty is as usual.
  function gateSettings() {
    const typed = (name) => byId(`new-gates-${name}`).value.trim();
    const found = {};
    for (const name of ["seeds", "batch", "together", "push", "clip"]) if (typed(name)) found[name] = Number(typed(name));
    const updates = ["free", "pushed"].map((name) => Number(typed(name) || byId(`new-gates-${name}`).placeholder));
    if (typed("free") || typed("pushed")) found.updates = updates;
    if (typed("rates")) found.rates = typed("rates").split(/[\s,;→]+/).map(Number);
    if (byId("new-gates-published").checked) found.published = true;
    const tasks = ticked(byId("new-tasks"));
    if (tasks.length) found.tasks = tasks;
    return found;
  }

  async function analyse() {
    const [files, pairs] = [byId("new-files"), byId("new-pairs")].map((input) => [...(input.files || [])]);
    if ([...files, ...pairs].some((file) => file.size > 5e6)) return notify("A file may have at most 5 MB.");
    const body = {
      model: byId("new-model").value.trim(),
      revision: byId("new-revision").value.trim(),
      methods: ticked(byId("new-methods")),
      files: await Promise.all(files.map(asText)),
    };
    if (!body.model) return notify("Which model? Type its name.");
    if (body.methods.includes("causal")) Object.assign(body, gateSettings());
    if (pairs.length) body.contrast = await asText(pairs[0]);
    if (await ask("POST", "/api/jobs", body)) notify(`${body.model} will be analysed.`);
  }

  document.addEventListener("click", (event) => {
    const target = event.target.closest("#new-submit, [data-cancel], [data-retry]");
    if (!target) return;
    if (target.id === "new-submit") analyse();
    else if (target.dataset.cancel) ask("DELETE", `/api/jobs/${target.dataset.cancel}`);
    else ask("POST", `/api/jobs/${target.dataset.retry}/retry`);
  });

  const presses = [null, null]; // the last two
  let pinsBefore = []; // before the click that may be the first of two
  const doubled = () => presses[0] && presses[1] && nameOf(presses[0].cell) === nameOf(presses[1].cell);

  function clicked(found, event) {
    if (!found || (event.detail > 1 && doubled())) return; // a double click resets the zoom
    pinsBefore = pins;
    pin(nameOf(found.cell), event.shiftKey);
    byId("frame").focus({ preventScroll: true });
  }

  let listening = null;
  function listen() {
    const gd = graph();
    if (!gd || gd === listening || !gd.on) return;
    listening = gd;
    gd.addEventListener("mousemove", moved);
    gd.addEventListener("mouseleave", left);
    gd.addEventListener("mousedown", (event) => presses.splice(0, 2, presses[1], cellAt(event)), true);
    gd.on("plotly_click", ({ event }) => clicked(cellAt(event), event));
    gd.on("plotly_afterplot", afterPlot);
    gd.on("plotly_doubleclick", () => {
      if (!doubled()) return; // two quick clicks on two heads
      setPins(pinsBefore);
      resetZoom();
    });
  }

  // ---- Drawing --------------------------------------------------------------------------------------------------
  // plotly takes a tenth of a second for five big maps. When only colours change they are painted at once on a canvas
  // above the maps; plotly follows when nothing has changed for a moment, and the canvas goes.
  let shown = null; // the figure that the screen shows
  let waitingFigure = null; // the figure that plotly has still to draw
  let followUp;

  const shape = ({ data, layout }) =>
    JSON.stringify([data.length, layout.width, layout.height, layout.uirevision, layout.font.color]);

  function show(figure) {
    const before = shown;
    shown = figure;
    clearTimeout(followUp);
    if (before && shape(before) === shape(figure) && graph() && graph()._fullLayout) {
      waitingFigure = figure;
      paint();
      followUp = setTimeout(() => window.dash_clientside.set_props("maps", { figure: zoomed(figure) }), 300);
      return;
    }
    waitingFigure = null;
    const kept = before && before.layout.uirevision === figure.layout.uirevision && before.data.length === figure.data.length;
    window.dash_clientside.set_props("maps", { figure: kept && graph() && graph()._fullLayout ? zoomed(figure) : figure });
    whenDrawn(() => {
      listen();
      afterPlot();
    });
  }

  const axisNames = ({ layout }) => Object.keys(layout).filter((name) => /^[xy]axis/.test(name) && !layout[name].fixedrange);

  function zoomed(figure) {
    // The same figure with the ranges that a person has zoomed to.
    const layout = { ...figure.layout };
    for (const name of axisNames(figure)) layout[name] = { ...layout[name], range: [...graph()._fullLayout[name].range] };
    return { ...figure, layout };
  }

  function resetZoom() {
    const home = axisNames(shown).map((name) => [`${name}.range`, [...shown.layout[name].range]]);
    window.Plotly.relayout(graph(), Object.fromEntries(home));
  }

  function afterPlot() {
    const drawn = mapsOf({ data: graph().data || [] });
    const follows = drawn.length && waitingFigure && mapsOf(waitingFigure).every((map, i) => drawn[i] && sameCodes(drawn[i].z, map.z));
    if (follows) waitingFigure = null;
    if (waitingFigure) paint();
    else canvases().replaceChildren();
    drawCursor();
    drawPins();
    document.dispatchEvent(new Event("atlas-painted"));
  }

  const sameCodes = (one, other) => one && (one.bdata || one._inputArray?.bdata) === other.bdata;

  const canvases = () => layer("recoloured");

  function paint() {
    const holder = canvases(), gd = graph();
    const paper = getComputedStyle(byId("frame")).backgroundColor;
    const painted = mapsOf(waitingFigure).map((trace, number) => painting(trace, number, paper));
    for (const canvas of painted) {
      canvas.style.left = `${canvas.atLeft + gd.offsetLeft}px`;
      canvas.style.top = `${canvas.atTop + gd.offsetTop}px`;
    }
    holder.replaceChildren(...painted);
    waitingFigure.layout.annotations.forEach(({ text }, number) => {
      const count = />([^<>]*)<\/span>$/.exec(text);
      const shownText = gd.querySelectorAll(`g.annotation[data-index="${number}"] tspan`);
      if (count && shownText.length) shownText[shownText.length - 1].textContent = count[1];
    });
    document.dispatchEvent(new Event("atlas-painted"));
  }

  function painting(trace, number, paper) {
    const [ax, ay] = axesOf(number);
    const [rows, columns] = trace.z.shape.split(", ").map(Number);
    const codes = trace.z.dtype === "u1" ? bytes(trace.z.bdata) : floats(trace.z.bdata);
    const colourOf = colouring(trace);
    const canvas = element("canvas"), scale = window.devicePixelRatio || 1;
    [canvas.atLeft, canvas.atTop] = [ax._offset, ay._offset];
    [canvas.width, canvas.height] = [Math.round(ax._length * scale), Math.round(ay._length * scale)];
    [canvas.style.width, canvas.style.height] = [`${ax._length}px`, `${ay._length}px`];
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.fillStyle = trace.meta || paper;
    pen.fillRect(0, 0, ax._length, ay._length);
    const edges = (axis, count) => Array.from({ length: count + 1 }, (_, i) => Math.round(axis.l2p(i - 0.5) * scale) / scale);
    const xs = edges(ax, columns), ys = edges(ay, rows);
    const gap = trace.xgap;
    const byColour = new Map(); // one colour at a time: changing the pen is what costs
    for (let i = 0; i < codes.length; i++) {
      const colour = colourOf(codes[i]);
      if (!colour) continue;
      if (!byColour.has(colour)) byColour.set(colour, []);
      byColour.get(colour).push(i);
    }
    for (const [colour, cells] of byColour) {
      pen.fillStyle = colour;
      for (const i of cells) {
        const x = i % columns, y = (i / columns) | 0;
        const top = Math.min(ys[y], ys[y + 1]); // rows go up or down
        pen.fillRect(xs[x], top, xs[x + 1] - xs[x] - gap, Math.abs(ys[y + 1] - ys[y]) - gap);
      }
    }
    return canvas;
  }

  function colouring({ z, colorscale }) {
    if (z.dtype === "u1") return (code) => colorscale[2 * code][1];
    const parse = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    const low = parse(colorscale[0][1]), high = parse(colorscale[1][1]);
    return (value) =>
      Number.isNaN(value) ? null : `rgb(${low.map((from, i) => Math.round(from + (high[i] - from) * value)).join()})`;
  }

  function whenDrawn(work, patience = 600) {
    // The picture's library arrives after the page: ask again, frame by frame, for some seconds.
    if (graph() && graph()._fullLayout && graph().on) work();
    else if (patience) requestAnimationFrame(() => whenDrawn(work, patience - 1));
  }

  // ---- What the page calls -----------------------------------------------------------------------------------------
  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.atlas = {
    open: () => location.search,
    theme(chosen) {
      if (theme !== chosen && told) theme = chosen; // the first call carries the default, not the address's wish
      document.documentElement.setAttribute("data-mantine-color-scheme", isDark() ? "dark" : "light");
      const now = screenSize();
      told = JSON.stringify(now);
      return [now, isDark() ? "dark" : "light"];
    },
    write(query, chosen) {
      if (query === null || query === undefined) return;
      pins = chosen || pins;
      lastQuery = query;
      const next = withPins(query) || location.pathname;
      const place = `${view ? view.model : ""} ${part(query, "view")}`; // what makes a page of the history
      const isNew = lastPlace !== null && place !== lastPlace && !arrived;
      lastPlace = place;
      arrived = false;
      if ((location.search || location.pathname) !== next) history[isNew ? "pushState" : "replaceState"](null, "", next);
    },
    title(text) {
      if (text) document.title = text;
    },
    draw(packed) {
      if (!packed) return;
      if (!view) listenToJobs();
      view = unpack(packed);
      show(view.figure);
    },
    pin(chosen) {
      pins = chosen || [];
      drawPins();
    },
    select(chosen, rows) {
      const last = (chosen || []).at(-1), inTable = rows && rows.length && part(lastQuery, "view") === "table";
      const away = inTable && last && last !== scrolledTo;
      if (inTable) scrolledTo = last;
      return [{ ids: chosen || [] }, away ? { rowId: last } : window.dash_clientside.no_update];
    },
    pick(cell) {
      if (cell && cell.rowId) pin(cell.rowId, true);
    },
    cards: (cards) => byId("inspector").replaceChildren(...(cards || []).map(built)),
    number: (value) => Number(value).toFixed(2),
    told(told) {
      if (!told) return;
      const fingerprint = view ? view.model.split("@").pop() : "";
      const mine = told.filter((job) => fingerprint && job.fingerprint.startsWith(fingerprint));
      const fresh = mine.map((job) => `${job.id} ${job.state} ${job.stage} ${job.done}`).join();
      const before = lastFresh;
      lastFresh = fresh;
      if (before !== null && fresh !== before) setData("fresh", fresh); // the map on the screen has new layers
    },
    async poll() {
      if (socket && socket.readyState === WebSocket.OPEN) return; // progress is pushed
      const answer = await fetch("/api/jobs");
      if (answer.ok) tellJobs(await answer.json());
    },
    help: () => true,
  };
})();
