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
    const s = text.replace(/,/g, "").replace(/^[<>=]+\s*/, "");
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
  for (const holder of document.querySelectorAll(".plot")) {
    const data = holder.querySelector("script");
    if (!data) continue;
    const plot = JSON.parse(data.textContent);
    const lines = plot.lines.filter((l) => l.points.length > 0);
    if (lines.length === 0) continue;
    const along = plot.sideways ? plot.y : plot.x, across = plot.sideways ? plot.x : plot.y;
    const named = lines.some((l) => l.name !== "");
    const grid = [...new Set(lines.flatMap((l) => l.points.map((p) => p[0])))].sort((a, b) => a - b);
    const cursor = element("div", "cursor"), values = element("div", "values");
    values.setAttribute("role", "status");
    holder.append(cursor, values);
    holder.tabIndex = 0;
    holder.setAttribute("role", "group");
    holder.setAttribute("aria-label", "Values: left and right arrow keys");
    let index = -1;
    const hide = () => { cursor.hidden = values.hidden = true; };
    const show = (x) => {
      const svg = [...holder.querySelectorAll("svg")].find((s) => s.getClientRects().length > 0 && s.dataset.panel);
      if (!svg) return;
      const box = svg.getBoundingClientRect(), outer = holder.getBoundingClientRect(), view = svg.viewBox.baseVal;
      const [left, top, right, bottom] = svg.dataset.panel.split(" ").map(Number);
      const scale = box.width / view.width, step = (along.max - along.min) / 40, share = place(along, x);
      const px = box.left - outer.left + scale * (plot.sideways ? right : left + share * (right - left));
      const py = box.top - outer.top + scale * (plot.sideways ? bottom - share * (bottom - top) : top);
      cursor.style.left = box.left - outer.left + scale * (plot.sideways ? left : left + share * (right - left)) + "px";
      cursor.style.top = py + "px";
      cursor.style.width = (plot.sideways ? scale * (right - left) : 1) + "px";
      cursor.style.height = (plot.sideways ? 1 : scale * (bottom - top)) + "px";
      const name = plot.sideways ? (plot.names || []).reduce((best, n) => best && Math.abs(best.at - x) <= Math.abs(n.at - x) ? best : n, null) : null;
      values.replaceChildren(plot.sideways ? (name ? name.text : "") : xText(plot.x, x));
      for (const l of lines) {
        if (named && l.name === "") continue; // bars that only fill what a line shows: the places of their middles are for it
        const p = nearest(l.points, x);
        if (along.scale !== "log" && Math.abs(p[0] - x) > step) continue;
        const row = document.createElement("div"), v = document.createElement("b");
        v.textContent = digits(p[1]);
        row.append(l.name === "" ? "" : l.name + ": ", v);
        values.append(row);
      }
      const unit = document.createElement("div");
      unit.className = "unit";
      unit.textContent = across.label;
      values.append(unit);
      cursor.hidden = values.hidden = false;
      const width = values.offsetWidth;
      values.style.left = Math.max(0, px + 12 + width > outer.width ? px - 12 - width : px + 12) + "px";
      values.style.top = py + 6 + "px";
    };
    const pointed = (event) => {
      const svg = [...holder.querySelectorAll("svg")].find((s) => s.getClientRects().length > 0 && s.dataset.panel);
      if (!svg) return;
      const box = svg.getBoundingClientRect();
      const [left, top, right, bottom] = svg.dataset.panel.split(" ").map(Number), unit = svg.viewBox.baseVal.width / box.width;
      const share = plot.sideways ? (bottom - (event.clientY - box.top) * unit) / (bottom - top) : ((event.clientX - box.left) * unit - left) / (right - left);
      if (share < -0.02 || share > 1.02) { hide(); return; }
      const wanted = at(along, Math.min(1, Math.max(0, share)));
      const x = nearest(grid.map((g) => [g]), wanted)[0];
      index = grid.indexOf(x);
      show(x);
    };
    holder.addEventListener("pointermove", pointed);
    holder.addEventListener("pointerdown", pointed);
    holder.addEventListener("pointerleave", hide);
    holder.addEventListener("blur", hide);
    holder.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, ...(plot.sideways && { ArrowUp: 1, ArrowDown: -1 }) }[event.key];
      if (event.key === "Escape") hide();
      if (!step) return;
      event.preventDefault();
      index = Math.min(grid.length - 1, Math.max(0, index < 0 && step > 0 ? 0 : index + step));
      show(grid[index]);
    });
  }

  // Print: what is folded is printed, too.
  addEventListener("beforeprint", () => { for (const d of document.querySelectorAll("details")) d.open = true; });
})();
