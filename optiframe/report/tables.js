"use strict";
// Sorts tables by the column whose heading is pressed.
(() => {
  function sort(table, column, heading) {
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const number = heading.classList.contains("number");
    const key = (row) => {
      const cell = row.cells[column];
      if (!number) return cell.textContent.trim();
      return cell.dataset.sort === undefined ? NaN : Number(cell.dataset.sort.replace("inf", "Infinity"));
    };
    const order = (a, b) => {
      if (!number) return a.localeCompare(b, undefined, { numeric: true }) * (down ? -1 : 1);
      // What is not known comes last in either direction.
      if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
      return a === b ? 0 : (a < b ? -1 : 1) * (down ? -1 : 1);
    };
    const rows = [...table.tBodies[0].rows].map((row) => [key(row), row]);
    rows.sort((a, b) => order(a[0], b[0]));
    table.tBodies[0].append(...rows.map(([, row]) => row));
    document.getElementById("said").textContent = `sorted by ${heading.textContent.trim()}, ${down ? "descending" : "ascending"}`;
  }
  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      heading.querySelector("button").addEventListener("click", () => sort(table, column, heading));
    });
  }
})();
