// SPDX-License-Identifier: Apache-2.0
// The page is whole without this: it sorts and filters tables, filters and opens fused operators, and opens everything for print.
"use strict";
const groups = Array.from(document.querySelectorAll("details.group"));

for (const table of document.querySelectorAll("table.sortable")) {
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    if (head.classList.contains("unsorted")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      // Numbers largest first, names in their order; once more turns it round.
      const numeric = head.classList.contains("number");
      const was = head.getAttribute("aria-sort");
      const descending = was ? was === "ascending" : numeric;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const body = table.tBodies[0];
      const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
      const rows = Array.from(body.rows);
      rows.sort((a, b) => numeric ? Number(key(a)) - Number(key(b)) : key(a).localeCompare(key(b)));
      if (descending) rows.reverse();
      body.append(...rows);
    });
  });
}

const filterLine = document.getElementById("filter-rows");
if (filterLine) {
  filterLine.parentElement.hidden = false;
  const rows = Array.from(document.querySelector("table.filtered").tBodies[0].rows);
  const texts = rows.map((row) => Array.from(row.cells, (cell) => cell.textContent).join("\n").toLowerCase());
  const filter = () => {
    const words = filterLine.value.toLowerCase().split(/\s+/).filter((word) => !["", "-"].includes(word));
    let shown = 0;
    rows.forEach((row, i) => {
      const fits = words.every((word) => word.startsWith("-") ? !texts[i].includes(word.slice(1)) : texts[i].includes(word));
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    });
    document.getElementById("rows-shown").textContent = `${shown} of ${rows.length}`;
  };
  filterLine.addEventListener("input", filter);
  filter();
}

const setAll = (open) => { for (const group of groups) group.open = open; };
document.getElementById("open-all")?.addEventListener("click", () => setAll(true));
document.getElementById("close-all")?.addEventListener("click", () => setAll(false));
document.getElementById("filter")?.addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  for (const group of groups) group.hidden = !group.dataset.words.toLowerCase().includes(wanted);
});

const openTarget = () => {
  const target = location.hash ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  if (!target) return;
  for (let at = target; at; at = at.parentElement) {
    if (at.tagName === "DETAILS") at.open = true;
  }
  target.scrollIntoView();
};
window.addEventListener("hashchange", openTarget);
openTarget();

window.addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
