// The script of HTML pages. A user can point at every shape with a title, focus it with Tab and the
// arrow keys, search and filter. Without the script the page shows the same pictures and titles.
#pragma once

#include <string_view>

namespace stowage {

// The text is written into the page unchanged. The script reads the titles of shapes, and sets only
// classes and texts, so that a name in a plan cannot inject code or markup.
inline constexpr std::string_view kPageScript = R"js(
"use strict";
(() => {
  const shapes = [];
  for (const title of document.querySelectorAll("svg title")) {
    const words = title.textContent;
    const line = words.split("\n")[0];
    const listed = line.replace(/, [0-9][0-9 ]* tokens?.*$/, "").replace(/ and [0-9 ]+ more$/, "");
    const ids = /^sequence ([0-9]+)$|sequences: (.*)$/.exec(listed) || [];
    const name = (/^(?:buffer|tensor|operator) ([^:]*)/.exec(words) || [])[1];
    const ranks = /ranks? ([0-9]+)(?: to ([0-9]+))?/.exec(words) || [];
    const degree = (/degree ([0-9]+)/.exec(words) || [])[1];
    const tokens = (/, ([0-9][0-9 ]*) tokens?/.exec(line) || [])[1];
    shapes.push({
      node: title.parentNode, words, degree, plan: title.closest("[data-plan]")?.dataset.plan,
      fold: title.closest("details"),  // plans in different folds may be of different steps
      keys: name === undefined ? (ids[1] ?? ids[2] ?? "").match(/[0-9]+/g) || [] : [name],
      first: Number(ranks[1] ?? NaN), last: Number(ranks[2] ?? ranks[1] ?? NaN),
      tokens: tokens === undefined ? NaN : Number(tokens.replaceAll(" ", "")),
    });
  }
  // A click on a head of a ranking, or a key on its button, sorts the rows; the next one reverses them.
  const number = (text) => /^[0-9][0-9 .]*%?$/.test(text) ? parseFloat(text.replaceAll(" ", "")) : NaN;
  for (const table of document.querySelectorAll(".ranking")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const text = (body) => body.rows[0].cells[column].textContent;
      const compare = (one, other) => {
        const by = number(text(one)) - number(text(other));
        return Number.isNaN(by) ? Number(text(one) > text(other)) - Number(text(one) < text(other)) : by;
      };
      const button = document.createElement("button");
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
        table.append(...[...table.tBodies].sort((one, other) => sign * compare(one, other)));
      });
    });
    for (const body of table.tBodies) {
      const plan = body.querySelector("details");
      body.rows[0].addEventListener("click", () => { plan.open = !plan.open; });
    }
  }
  if (!shapes.length) return;
  const of = new Map(shapes.map((shape) => [shape.node, shape]));
  const add = (to, name, text, attributes = {}) => {
    const node = document.createElement(name);
    if (text) node.textContent = text;
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    to.append(node);
    return node;
  };

  const form = document.createElement("form");
  document.querySelector("body > figure, body > .pair").before(form);
  const field = (label, name, attributes) => add(add(form, "label", label + " "), name, "", attributes);
  const find = field("find an id, a name or rank 12", "input", {type: "search", size: 12});
  const degrees = [...new Set(shapes.map((shape) => shape.degree).filter(Boolean))];
  const degree = degrees.length > 1 ? field("degree", "select", {}) : null;
  if (degree) for (const each of ["all", ...degrees.sort((a, b) => a - b)]) add(degree, "option", each);
  const long = shapes.some((shape) => shape.tokens > 0)
    ? field("tokens from", "input", {type: "number", min: 0, size: 8}) : null;
  const bar = add(document.body, "output", "", {"aria-live": "polite"});

  const mark = (chosen) => {
    for (const shape of shapes) shape.node.classList.toggle("mark", chosen.includes(shape));
  };
  const show = (shape) => {
    const same = shapes.filter((other) =>
      other.fold === shape.fold && other.keys.some((key) => shape.keys.includes(key)));
    mark(same.length ? same : [shape]);
    const told = (each) => (each.plan ? each.plan + ": " : "") + each.words.replaceAll("\n", " · ");
    const there = same.find((other) => other.plan !== shape.plan);
    bar.textContent = told(shape) + (there ? " | " + told(there) : "");
  };
  const clear = () => {
    mark([]);
    bar.textContent = "";
    for (const svg of document.querySelectorAll("figure svg")) {
      svg.removeAttribute("style");
      svg.parentNode.removeAttribute("style");
    }
  };
  // As large as lets the micro-batch of the shape fill the page, at most six times; the picture scrolls.
  const zoom = (shape) => {
    const svg = shape.node.ownerSVGElement;
    const batch = /micro-batch [0-9]+,/.exec(shape.words);
    const boxes = shapes.filter((other) => svg.contains(other.node) && batch && other.words.includes(batch[0]))
      .map((other) => other.node.getBBox());
    if (!boxes.length) return;
    const from = Math.min(...boxes.map((box) => box.x));
    const to = Math.max(...boxes.map((box) => box.x + box.width));
    const times = Math.min(6, svg.viewBox.baseVal.width / (to - from));
    svg.parentNode.style.overflowX = "auto";
    svg.style.maxWidth = "none";
    svg.style.width = 100 * times + "%";
    svg.parentNode.scrollLeft = from / svg.viewBox.baseVal.width * svg.getBoundingClientRect().width;
  };

  document.addEventListener("pointerover", (event) => {
    const shape = of.get(event.target);
    if (shape) show(shape);
  });
  document.addEventListener("dblclick", (event) => of.has(event.target) && zoom(of.get(event.target)));
  find.addEventListener("input", () => {
    const rank = /^ranks? ([0-9]+)$/.exec(find.value.trim());
    const found = shapes.filter((shape) => (!shape.fold || shape.fold.open) && (rank
      ? shape.first <= Number(rank[1]) && Number(rank[1]) <= shape.last
      : shape.keys.includes(find.value.trim())));
    mark(found);
    bar.textContent = find.value.trim() === "" ? "" : found.length + " marked" +
      (found.length ? ": " + found[0].words.replaceAll("\n", " · ") : "");
    if (found.length) found[0].node.scrollIntoView({block: "nearest", inline: "nearest"});
  });
  const filter = () => {
    for (const shape of shapes) {
      const out = (degree && degree.value !== "all" && shape.degree && shape.degree !== degree.value) ||
        (long && long.value !== "" && shape.tokens < Number(long.value));
      shape.node.classList.toggle("dim", Boolean(out));
    }
  };
  form.addEventListener("change", filter);
  form.addEventListener("submit", (event) => event.preventDefault());

  // One shape of each picture is in the order of Tab; the arrow keys go on from it.
  for (const svg of document.querySelectorAll("figure svg")) {
    const own = shapes.filter((shape) => svg.contains(shape.node));
    if (own.length) own[0].node.setAttribute("tabindex", "0");
    svg.addEventListener("focusin", (event) => of.has(event.target) && show(of.get(event.target)));
    svg.addEventListener("keydown", (event) => {
      const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      const at = own.findIndex((shape) => shape.node === event.target);
      if (event.key === "Enter" && at >= 0) zoom(own[at]);
      if (!step || at < 0) return;
      event.preventDefault();
      own[at].node.setAttribute("tabindex", "-1");
      const next = own[(at + step + own.length) % own.length];
      next.node.setAttribute("tabindex", "0");
      next.node.focus();
    });
  }
  document.addEventListener("keydown", (event) => event.key === "Escape" && clear());
})();
)js";

}  // namespace stowage
