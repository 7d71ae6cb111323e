"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.className = "sort";
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (row) => row.cells[column].dataset.key ?? row.cells[column].textContent;
      const numeric = head.classList.contains("number");
      const order = (a, b) => numeric ? Number(key(a)) - Number(key(b)) : key(a).localeCompare(key(b));
      const rows = [...body.rows].sort((a, b) => (up ? order(a, b) : order(b, a)));
      body.append(...rows);
    });
  });
}
