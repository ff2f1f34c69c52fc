// Sorting, filtering, choosing criteria, walking from gap to gap, and arrows from definitions to uses.
// Every page is readable without this file.
"use strict";
(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const announce = (text) => {
    document.getElementById("announce").textContent = text;
  };

  // Sorting: by the number or text in data-v, else by the text of the cell.
  const key = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.v ?? cell.textContent.trim();
  };
  const compare = (a, b) => {
    const [x, y] = [Number(a), Number(b)];
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
  };
  const sort = (button) => {
    const heading = button.closest("th");
    const table = heading.closest("table");
    const down = heading.getAttribute("aria-sort") === "ascending";
    all("th[aria-sort]", table).forEach((other) => other.setAttribute("aria-sort", "none"));
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [key(row, heading.cellIndex), row]);
    rows.sort(([a], [b]) => (down ? compare(b, a) : compare(a, b)));
    body.append(...rows.map(([, row]) => row));
    announce(`Sorted by ${button.textContent}, ${down ? "descending" : "ascending"}`);
  };

  // Filtering: rows whose heading or second cell has the words, with gaps if that is asked.
  const filter = (form) => {
    const table = document.getElementById(form.dataset.table);
    const words = form.querySelector("input[type=search]").value.toLowerCase();
    const gaps = form.querySelector("input[type=checkbox]").checked;
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const text = `${row.cells[0].textContent} ${row.cells[1].textContent}`.toLowerCase();
      row.hidden = !text.includes(words) || (gaps && !row.hasAttribute("data-gaps"));
      shown += row.hidden ? 0 : 1;
    }
    form.querySelector("output").textContent = `${shown} of ${table.tBodies[0].rows.length} shown`;
  };

  // What is chosen stays so from page to page, where the browser keeps it.
  const keep = (name, value) => {
    try {
      sessionStorage.setItem(`lydian-${name}`, value);
    } catch {}
  };
  const kept = (name) => {
    try {
      return sessionStorage.getItem(`lydian-${name}`);
    } catch {
      return null;
    }
  };

  // One criterion: the colour of a line means it alone. data-c has a digit for each criterion.
  const STATES = [
    ["", "", ""],
    ["yes", "✓", "covered"],
    ["may", "◐", "partly covered"],
    ["no", "✗", "not covered"],
    ["out", "–", "excluded"],
  ];
  const chooser = document.getElementById("criterion");
  const paint = (row, [state, symbol, word]) => {
    row.classList.remove("yes", "may", "no", "out");
    if (state) row.classList.add(state);
    const cell = row.querySelector("td.s");
    cell.replaceChildren();
    if (!state) return;
    const sign = Object.assign(document.createElement("span"), { className: `sym ${state}`, textContent: symbol });
    sign.setAttribute("aria-hidden", "true");
    cell.append(sign, Object.assign(document.createElement("span"), { className: "sr", textContent: word }));
  };
  const showCriterion = (name) => {
    const at = chooser.selectedIndex - 1;
    for (const row of all("tr.line")) {
      row.dataset.all ??= String(STATES.findIndex(([state]) => state && row.classList.contains(state)));
      const digit = at < 0 ? row.dataset.all : (row.dataset.c?.[at] ?? 0);
      paint(row, STATES[Math.max(0, Number(digit))]);
    }
    for (const part of all("[data-k]")) part.hidden = at >= 0 && part.dataset.k !== name;
    announce(at < 0 ? "All criteria are shown" : `The lines show ${name} alone`);
  };
  if (chooser) {
    chooser.addEventListener("change", () => {
      keep("criterion", chooser.value);
      showCriterion(chooser.value);
    });
    const before = kept("criterion");
    if (before && [...chooser.options].some((option) => option.value === before)) {
      chooser.value = before;
      showCriterion(before);
    }
  }

  // Columns of criteria: where there are many, the well-known ones are shown first.
  const FIRST = ["stmt", "bc", "dc", "mcdc", "all-uses", "wm"];
  const showColumns = (box) => {
    const table = document.getElementById(box.dataset.table);
    const first = Number(box.dataset.first);
    const hidden = all("input", box).map((input, at) => (input.checked ? 0 : first + at)).filter(Boolean);
    const style = document.getElementById(`columns-${table.id}`) ?? document.createElement("style");
    style.id = `columns-${table.id}`;
    const cells = hidden.map((n) => `#${table.id} tr > :nth-child(${n})`);
    style.textContent = cells.length ? `${cells.join(",")} { display: none; }` : "";
    document.head.append(style);
  };
  for (const box of all("details.columns")) {
    const inputs = all("input", box);
    const before = kept("columns")?.split(",");
    const wanted = before ?? (inputs.length > 8 ? FIRST : null);
    if (wanted && inputs.some((input) => wanted.includes(input.value))) {
      for (const input of inputs) input.checked = wanted.includes(input.value);
    }
    showColumns(box);
    box.addEventListener("change", () => {
      keep("columns", inputs.filter((input) => input.checked).map((input) => input.value).join(","));
      showColumns(box);
    });
  }

  // Gaps: the first lines of runs of lines that are not wholly covered.
  const isGap = (row) => row && (row.classList.contains("no") || row.classList.contains("may"));
  const gaps = () => {
    const lines = all("tr.line");
    return lines.filter((row, at) => isGap(row) && !(isGap(lines[at - 1]) && lines[at - 1].className === row.className));
  };
  let here = null;
  const jump = (step) => {
    const found = gaps();
    if (found.length === 0) {
      announce("There is no gap on this page");
      return;
    }
    const at = here === null ? (step > 0 ? -1 : 0) : found.indexOf(here);
    here = found[(at + step + found.length) % found.length];
    const details = document.getElementById(`D${here.id.slice(1)}`);
    if (details) details.open = true;
    here.scrollIntoView({ block: "center" });
    here.querySelector("a").focus({ preventScroll: true });
    announce(`Line ${here.id.slice(1)}: gap ${found.indexOf(here) + 1} of ${found.length}`);
  };

  const openAll = (open) => {
    all("tr.below > td > details, details.function").forEach((details) => {
      details.open = open;
    });
  };

  // The rows of a pair.
  const markRows = (button) => {
    const on = button.getAttribute("aria-pressed") !== "true";
    const decision = button.closest("section");
    all("[data-rows]", decision).forEach((other) => other.setAttribute("aria-pressed", "false"));
    all("tr.pair", decision).forEach((row) => row.classList.remove("pair"));
    if (!on) return;
    button.setAttribute("aria-pressed", "true");
    button.dataset.rows.split(" ").forEach((id) => document.getElementById(id)?.classList.add("pair"));
  };

  // Arrows from definitions to uses.
  const svg = document.querySelector("svg.arrows");
  const shape = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([attribute, value]) => made.setAttribute(attribute, value));
    return made;
  };
  const point = (line, column, origin) => {
    const code = document.querySelector(`#L${line} td.c code`);
    if (!code) return null;
    const box = code.getBoundingClientRect();
    const probe = document.createElement("span");
    probe.textContent = "0".repeat(10);
    code.append(probe);
    const wide = probe.getBoundingClientRect().width / 10;
    probe.remove();
    return { x: box.left - origin.left + (Number(column) + 0.5) * wide, y: box.bottom - origin.top - 1 };
  };
  // Arrows between the same lines are drawn beside each other, ends of arrows below the text.
  const arrow = (from, to, covered, number) => {
    const back = to.y <= from.y;
    const bend = Math.max(from.x, to.x) + 48 + Math.min(160, Math.abs(to.y - from.y) / 4);
    const side = bend + (back ? 24 : 0) + (number % 12) * 14;
    const group = shape("g", { class: covered ? "yes" : "no" });
    const tip = 7;
    group.append(
      shape("circle", { cx: from.x, cy: from.y, r: 4 }),
      shape("path", { d: `M${from.x} ${from.y}C${side} ${from.y} ${side} ${to.y} ${to.x + tip} ${to.y}` }),
      shape("path", { class: "tip", d: `M${to.x} ${to.y}l${tip + 2} -5v10z` }),
    );
    return group;
  };
  const draw = () => {
    if (!svg) return;
    svg.replaceChildren();
    all("tr.line.flow").forEach((row) => row.classList.remove("flow"));
    const pressed = document.querySelector("[data-arrows][aria-pressed=true]");
    if (!pressed) return;
    const wrap = svg.parentElement;
    svg.setAttribute("width", wrap.scrollWidth);
    svg.setAttribute("height", wrap.scrollHeight);
    const origin = svg.getBoundingClientRect();
    let [drawn, missing] = [0, 0];
    // What is not covered is drawn last, and so on top.
    const pairs = pressed.dataset.arrows.split(" ");
    pairs.sort((a, b) => Number(b.endsWith("1")) - Number(a.endsWith("1")));
    for (const pair of pairs) {
      const [definition, use, covered] = pair.split(">");
      const ends = [definition, use].map((place) => place.split(":"));
      const [from, to] = ends.map(([line, column]) => point(line, column, origin));
      if (!from || !to) continue;
      ends.forEach(([line]) => document.getElementById(`L${line}`).classList.add("flow"));
      svg.append(arrow(from, to, covered === "1", drawn));
      drawn += 1;
      missing += covered === "1" ? 0 : 1;
    }
    announce(`${drawn} pairs of ${pressed.dataset.variable} drawn, ${missing} of them not covered`);
  };
  const choose = (button) => {
    const on = button.getAttribute("aria-pressed") !== "true";
    all("[data-arrows]").forEach((other) => other.setAttribute("aria-pressed", "false"));
    button.setAttribute("aria-pressed", String(on));
    draw();
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if ("sort" in button.dataset) sort(button);
    else if (button.dataset.jump) jump(Number(button.dataset.jump));
    else if (button.dataset.open) openAll(button.dataset.open === "1");
    else if (button.dataset.rows) markRows(button);
    else if (button.dataset.arrows) choose(button);
  });
  document.addEventListener("input", (event) => {
    const form = event.target.closest("form.filter");
    if (form) filter(form);
  });
  document.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("toggle", draw, true);
  window.addEventListener("resize", draw);

  // Keys: n and p go from gap to gap, o and x open and close details, c chooses a criterion.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select")) return;
    const keys = { n: () => jump(1), p: () => jump(-1), o: () => openAll(true), x: () => openAll(false) };
    if (chooser && event.key === "c") chooser.focus();
    else if (svg && keys[event.key]) keys[event.key]();
    else if (event.key === "/") document.querySelector("input[type=search]")?.focus();
    else return;
    event.preventDefault();
  });

  // A link to a line opens what is known of it.
  const openTarget = () => {
    const details = document.getElementById(`D${location.hash.slice(2)}`);
    if (details && location.hash.startsWith("#L")) details.open = true;
  };
  window.addEventListener("hashchange", openTarget);
  openTarget();

  // On paper nothing can be opened.
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = all("details:not([open])");
    closed.forEach((details) => {
      details.open = true;
    });
  });
  window.addEventListener("afterprint", () => {
    closed.forEach((details) => {
      details.open = false;
    });
  });
  document.documentElement.classList.add("scripted");
})();
