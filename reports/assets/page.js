"use strict";
(() => {
  const root = document.documentElement;

  // Theme: the system's, until the button is used.
  const button = document.querySelector(".theme");
  const isDark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const nameTheme = () => { button.textContent = isDark() ? "Light colours" : "Dark colours"; };
  try { const kept = localStorage.getItem("leveret-theme"); if (kept === "dark" || kept === "light") root.dataset.theme = kept; } catch (e) { /* no storage for files */ }
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("leveret-theme", root.dataset.theme); } catch (e) { /* kept for this page only */ }
    nameTheme();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
  nameTheme();

  // Tables: a button in each heading sorts the rows of each body. What has no value stays last.
  const number = (text) => {
    const s = text.replace(/ \(.*\)$/, "").replace(/,/g, "").replace(/^[<>=]+\s*/, "");
    return s === "" || s === "-" || s === "n/a" ? null : Number(s);
  };
  const compare = (a, b, up) => {
    const x = number(a), y = number(b);
    if (x === null || y === null) return (x === null) - (y === null);
    const order = Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en", { numeric: true }) : x - y;
    return up ? order : -order;
  };
  const sort = (table, column, heading) => {
    const up = heading.getAttribute("aria-sort") !== "ascending";
    for (const h of table.querySelectorAll("th[aria-sort]")) h.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    const text = (row) => row.cells[column].textContent.trim();
    for (const body of table.tBodies) {
      const rows = [...body.rows].filter((r) => !r.classList.contains("title"));
      rows.sort((a, b) => compare(text(a), text(b), up));
      body.append(...rows);
    }
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[table.tHead.rows.length - 1].cells].forEach((heading, column) => {
      const b = document.createElement("button");
      b.type = "button";
      b.textContent = heading.textContent || "row";
      heading.replaceChildren(b);
      heading.setAttribute("aria-sort", "none");
      b.addEventListener("click", () => sort(table, column, heading));
    });
  }

  // Charts: the values at the pointer, or at the arrow keys' place.
  const digits = (v) => {
    if (v === 0) return "0";
    const size = Math.floor(Math.log10(Math.abs(v)));
    if (size >= 9 || size < -6) return v.toPrecision(4);
    return v.toLocaleString("en-US", { maximumFractionDigits: Math.max(0, 3 - size), minimumFractionDigits: 0 });
  };
  const place = (axis, v) => axis.scale === "log"
    ? Math.log(v / axis.min) / Math.log(axis.max / axis.min)
    : (v - axis.min) / (axis.max - axis.min);
  const at = (axis, share) => axis.scale === "log"
    ? axis.min * Math.pow(axis.max / axis.min, share)
    : axis.min + share * (axis.max - axis.min);
  const xText = (axis, v) => {
    if (axis.scale !== "nines") return digits(v) + " " + axis.label;
    const digitsOfPercent = Math.min(6, Math.max(0, Math.ceil(v) - 1));
    return v >= axis.max ? "maximum" : (100 * (1 - Math.pow(10, -v))).toFixed(digitsOfPercent) + " %";
  };
  const nearest = (points, x) => {
    let low = 0, high = points.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (points[middle][0] < x) low = middle; else high = middle;
    }
    return x - points[low][0] < points[high][0] - x ? points[low] : points[high];
  };
  const element = (name, className) => { const e = document.createElement(name); e.className = className; e.hidden = true; return e; };
  // Where the ends of the axes are, of the drawing that is seen, in pixels within its holder.
  const panelOf = (holder) => {
    const svg = [...holder.querySelectorAll("svg")].find((s) => s.getClientRects().length > 0 && s.dataset.panel);
    if (!svg) return null;
    const box = svg.getBoundingClientRect(), outer = holder.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
    const [left, top, right, bottom] = svg.dataset.panel.split(" ").map((v) => v * scale);
    const x = box.left - outer.left, y = box.top - outer.top;
    return { left: x + left, top: y + top, right: x + right, bottom: y + bottom, outer };
  };
  // The pointer's place as shares of the axes, from 0 to 1; null where it is beside the panel.
  const shares = (holder, event) => {
    const p = panelOf(holder);
    if (!p) return null;
    const x = (event.clientX - p.outer.left - p.left) / (p.right - p.left), y = (p.bottom - event.clientY + p.outer.top) / (p.bottom - p.top);
    const within = (v) => Math.min(1, Math.max(0, v)), beside = (v) => v < -0.02 || v > 1.02;
    return { x: within(x), y: within(y), besideX: beside(x), besideY: beside(y) };
  };
  // What is shown at the pointer: a mark on the drawing, and beside it a head, named values and their unit.
  const pointer = (holder, keys, markClass) => {
    const mark = element("div", markClass), values = element("div", "values");
    values.setAttribute("role", "status");
    holder.append(mark, values);
    holder.tabIndex = 0;
    holder.setAttribute("role", "group");
    holder.setAttribute("aria-label", "Values: " + keys);
    const hide = () => { mark.hidden = values.hidden = true; };
    holder.addEventListener("pointerleave", hide);
    holder.addEventListener("blur", hide);
    const line = (className, ...parts) => { const e = document.createElement("div"); e.className = className; e.append(...parts); return e; };
    const show = (box, outer, head, rows, unit) => {
      for (const side of ["left", "top", "width", "height"]) mark.style[side] = box[side] + "px";
      values.replaceChildren(line("", head), ...rows.map(([name, value]) => {
        const v = document.createElement("b");
        v.textContent = value;
        return line("", name === "" ? "" : name + ": ", v);
      }), line("unit", unit));
      mark.hidden = values.hidden = false;
      const right = box.left + box.width, width = values.offsetWidth, wide = box.width > outer.width / 2;
      values.style.left = Math.max(0, right + 12 + width <= outer.width ? right + 12 : (wide ? right : box.left) - 12 - width) + "px";
      values.style.top = Math.max(0, Math.min(box.top + 6, outer.height - values.offsetHeight)) + "px";
    };
    return { hide, show };
  };
  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

  const pointAtLines = (holder, plot) => {
    const lines = plot.lines.filter((l) => l.points.length > 0);
    if (lines.length === 0) return;
    const along = plot.sideways ? plot.y : plot.x, across = plot.sideways ? plot.x : plot.y;
    const named = lines.some((l) => l.name !== "");
    const grid = [...new Set(lines.flatMap((l) => l.points.map((p) => p[0])))].sort((a, b) => a - b);
    const { hide, show } = pointer(holder, "left and right arrow keys", "cursor");
    let index = -1;
    const showAt = (x) => {
      const p = panelOf(holder);
      if (!p) return;
      const step = (along.max - along.min) / 40, share = place(along, x);
      const box = plot.sideways
        ? { left: p.left, top: p.bottom - share * (p.bottom - p.top), width: p.right - p.left, height: 1 }
        : { left: p.left + share * (p.right - p.left), top: p.top, width: 1, height: p.bottom - p.top };
      const name = plot.sideways ? (plot.names || []).reduce((best, n) => best && Math.abs(best.at - x) <= Math.abs(n.at - x) ? best : n, null) : null;
      const rows = [];
      for (const l of lines) {
        if (named && l.name === "") continue; // bars that only fill what a line shows: the places of their middles are for it
        const near = nearest(l.points, x);
        if (along.scale === "log" || Math.abs(near[0] - x) <= step) rows.push([l.name, digits(near[1])]);
      }
      show(box, p.outer, plot.sideways ? (name ? name.text : "") : xText(plot.x, x), rows, across.label);
    };
    const pointed = (event) => {
      const s = shares(holder, event);
      if (!s) return;
      if (plot.sideways ? s.besideY : s.besideX) { hide(); return; }
      const x = nearest(grid.map((g) => [g]), at(along, plot.sideways ? s.y : s.x))[0];
      index = grid.indexOf(x);
      showAt(x);
    };
    holder.addEventListener("pointermove", pointed);
    holder.addEventListener("pointerdown", pointed);
    holder.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide();
      const [x, y] = arrows[event.key] || [0, 0], step = x || (plot.sideways ? y : 0);
      if (!step) return;
      event.preventDefault();
      index = Math.min(grid.length - 1, Math.max(0, index < 0 && step > 0 ? 0 : index + step));
      showAt(grid[index]);
    });
  };

  // A heat map has values by cell. The arrow keys go to those that hold anything.
  const pointAtCells = (holder, plot) => {
    const { name, edges, columns } = plot.heat;
    const held = (c, row) => c.counts[row - c.first] || 0;
    const { hide, show } = pointer(holder, "arrow keys", "cursor cell");
    let column = -1, row = -1;
    const showCell = () => {
      const p = panelOf(holder), c = columns[column];
      if (!p || !c || row < 0 || row + 1 >= edges.length) return;
      const x = (v) => p.left + Math.min(1, Math.max(0, place(plot.x, v))) * (p.right - p.left);
      const y = (v) => p.bottom - Math.min(1, Math.max(0, place(plot.y, v))) * (p.bottom - p.top);
      const box = { left: x(c.from), top: y(edges[row + 1]), width: x(c.to) - x(c.from), height: y(edges[row]) - y(edges[row + 1]) };
      show(box, p.outer, digits(c.from) + " to " + digits(c.to) + " " + plot.x.label,
        [[name, digits(held(c, row))], ["in all of the column", digits(c.counts.reduce((sum, n) => sum + n, 0))]],
        digits(edges[row]) + " to " + digits(edges[row + 1]) + " " + plot.y.label);
    };
    const pointed = (event) => {
      const s = shares(holder, event);
      if (!s) return;
      const x = at(plot.x, s.x), y = at(plot.y, s.y);
      const c = columns.findIndex((c) => x >= c.from && x <= c.to), r = edges.findLastIndex((e) => e <= y);
      if (s.besideX || s.besideY || c < 0 || r < 0 || r + 1 >= edges.length) { hide(); return; }
      [column, row] = [c, r];
      showCell();
    };
    holder.addEventListener("pointermove", pointed);
    holder.addEventListener("pointerdown", pointed);
    const fullest = (c) => c.first + c.counts.indexOf(Math.max(...c.counts));
    holder.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide();
      const step = arrows[event.key];
      if (!step) return;
      event.preventDefault();
      const next = Math.min(columns.length - 1, Math.max(0, column + (column < 0 ? 1 : step[0])));
      if (next !== column) [column, row] = [next, held(columns[next], row) ? row : fullest(columns[next])];
      for (let r = row + step[1]; step[1] && r >= 0 && r + 1 < edges.length; r += step[1]) {
        if (held(columns[column], r)) { row = r; break; }
      }
      showCell();
    });
  };
  for (const holder of document.querySelectorAll(".plot")) {
    const data = holder.querySelector("script");
    if (!data) continue;
    const plot = JSON.parse(data.textContent);
    (plot.heat ? pointAtCells : pointAtLines)(holder, plot);
  }

  // Print: what is folded is printed, too.
  addEventListener("beforeprint", () => { for (const d of document.querySelectorAll("details")) d.open = true; });
})();
