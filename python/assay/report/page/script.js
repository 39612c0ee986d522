"use strict";
// Sorts a table by the column whose heading is pressed, within each of its blocks.
function valueOf(row, place) {
  const cell = row.cells[place];
  if (!cell) return "";
  const text = cell.dataset.value ?? cell.textContent.trim();
  const number = parseFloat(text);
  return /^-?[\d.]/.test(text) && !Number.isNaN(number) ? number : text;
}
function compared(a, b) {
  const areNumbers = [typeof a === "number", typeof b === "number"];
  if (areNumbers[0] && areNumbers[1]) return a - b;
  if (areNumbers[0] !== areNumbers[1]) return areNumbers[0] ? -1 : 1;
  return a.localeCompare(b, "en", { numeric: true });
}
function sortBy(table, heading, place) {
  const isUp = heading.getAttribute("aria-sort") !== "ascending";
  for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", isUp ? "ascending" : "descending");
  for (const body of table.tBodies) {
    const rows = [...body.rows].filter((row) => !row.classList.contains("block"));
    rows.sort((a, b) => compared(valueOf(a, place), valueOf(b, place)) * (isUp ? 1 : -1));
    body.append(...rows);
  }
}
for (const table of document.querySelectorAll("table.sortable")) {
  if (![...table.tBodies].some((body) => body.rows.length > 1)) continue;
  [...table.tHead.rows[0].cells].forEach((heading, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sortBy(table, heading, place));
    heading.append(button);
  });
}
// Opens the details that a link leads to, and those around them.
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let at = target; at; at = at.parentElement) {
    if (at.tagName === "DETAILS") at.open = true;
  }
  if (target.classList.contains("cell")) {
    for (const run of target.querySelectorAll("details.run")) run.open = true;
  }
  target.scrollIntoView();
}
addEventListener("hashchange", openTarget);
openTarget();
// On paper nothing can be opened.
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details.warnings, details.footnotes")) one.open = true;
});
