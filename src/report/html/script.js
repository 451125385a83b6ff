"use strict";

function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

// A table is sorted by a click on a heading, and shows the rows that have all words of its filter.
function sortable(table) {
  const body = table.tBodies[0];
  table.querySelectorAll("thead th").forEach((heading, column) => {
    // No button: a browser does not paint it where the heading is repeated on the next page.
    const button = make("span", { role: "button", tabIndex: 0 }, heading.textContent);
    heading.replaceChildren(button);
    button.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        button.click();
      }
    });
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      for (const other of heading.parentNode.children) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
      const order = (a, b) => {
        const [x, y] = [key(a), key(b)];
        if (x === "" || y === "") return (x === "") - (y === "");
        const numbers = Number(x) - Number(y);
        const order = Number.isNaN(numbers) ? x.localeCompare(y, "en", { numeric: true }) : numbers;
        return down ? -order : order;
      };
      body.append(...[...body.rows].sort(order));
    });
  });
  if (body.rows.length < 4) return;
  const input = make("input", { type: "search", placeholder: "only rows with …", ariaLabel: "Filter" });
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/);
    for (const row of body.rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
  table.parentNode.before(make("label", { className: "filter" }, input));
}

// The panel of a sweep: what came out for the values that are chosen, and where it is in the pictures.
function whatIf({ confidence, axes, metrics, points }) {
  const section = document.getElementById("what-if");
  const selects = axes.map(({ path, values }, axis) => {
    const options = values.map((value, index) => new Option(value || "as it stands", index));
    const select = make("select", { name: path }, ...options);
    select.addEventListener("change", () => {
      show(nearest(selects.map((other) => Number(other.value)), axis));
      location.replace(link.href);
    });
    return select;
  });
  // The point that has the value of the axis `fixed`, and of the others as many as there are.
  function nearest(wanted, fixed) {
    const miss = (index, axis) =>
      wanted[axis] < 0 || wanted[axis] === index ? 0
        : (axis === fixed ? 1e9 : 1e4) + Math.abs(wanted[axis] - index);
    const distance = (point) => point.at.reduce((sum, index, axis) => sum + miss(index, axis), 0);
    return points.reduce((best, point) => (distance(point) < distance(best) ? point : best));
  }
  const link = make("a", {}, "link to this choice");
  const toggle = make("button", { type: "button" }, "table of all");
  toggle.addEventListener("click", () => section.classList.toggle("table"));
  const labels = selects.map((select) => make("label", {}, select.name, select));
  const figures = make("div", { className: "metrics", role: "status" });
  const panel = section.querySelector(".panel");
  panel.append(make("div", { className: "choices" }, ...labels, link, toggle), figures);

  // Pictures are marked only with what somebody chose.
  function show(point, chosen = true) {
    selects.forEach((select, axis) => { select.value = point.at[axis]; });
    const pairs = axes.map(({ path, values }, axis) => [path, values[point.at[axis]]]);
    link.href = "#" + new URLSearchParams(pairs);
    figures.replaceChildren(...metrics.map((metric, index) => article(metric, point.figures[index])));
    figures.append(make("p", { className: "muted" },
      `${point.replications} replications, ${point.not_converged} did not converge`));
    for (const figure of chosen ? document.querySelectorAll("figure[data-plot]") : []) {
      mark(figure, point.marks.filter(({ plot }) => plot === Number(figure.dataset.plot)));
    }
  }
  function article({ title, summary, unit, parts }, { mean, interval, p50, p95, p99, shares }) {
    const range = interval.startsWith("±") ? "in every replication" : `${confidence} % interval ${interval}`;
    const list = parts.map((part, index) => [part, ...shares[index]]).filter(([, share]) => share >= 0.005);
    list.sort((a, b) => b[1] - a[1]);
    const item = ([part, share, text]) => {
      const bar = make("b");
      bar.style.width = `${Math.min(100, share * 100)}%`;
      return make("li", {}, make("span", {}, part), make("span", {}, text), bar);
    };
    return make("article", {},
      make("h3", { title: summary }, title),
      make("div", {}, make("span", { className: "mean" }, `${mean} ${unit}`), interval && ` ${range}`),
      make("div", { className: "muted" }, `p50 ${p50} · p95 ${p95} · p99 ${p99}`),
      make("ul", {}, ...list.map(item)));
  }
  function mark(figure, spots) {
    const svg = figure.querySelector("svg");
    for (const old of figure.querySelectorAll(".chosen, figcaption")) old.remove();
    const scale = svg.viewBox.baseVal.width / svg.width.baseVal.value;
    for (const { area, round } of spots) {
      const box = document.createElementNS(svg.namespaceURI, "rect");
      const [x, y, width, height] = area.map((side) => side * scale);
      const sides = { class: "chosen", x, y, width, height, rx: round ? width / 2 : 0 };
      for (const [name, value] of Object.entries(sides)) box.setAttribute(name, value);
      svg.append(box);
    }
    const where = spots.length ? "Outlined: what is chosen above." : "The choice is not in this picture.";
    figure.append(make("figcaption", {}, where));
  }
  function restore() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const wanted = axes.map(({ path, values }) => values.indexOf(asked.get(path)));
    show(nearest(wanted, -1), location.hash.length > 1);
  }
  addEventListener("hashchange", restore);
  restore();
  panel.hidden = false;
  section.classList.add("live");
}

document.querySelectorAll("table.sortable").forEach(sortable);
const data = document.getElementById("what-if-data");
if (data) whatIf(JSON.parse(data.textContent));

// What is printed has all assumptions, whatever is open on the screen.
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details.assumptions:not([open])")];
  for (const details of opened) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of opened) details.open = false;
});
