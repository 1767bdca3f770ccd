// The tables below the overview are complete without this script. It adds the search, and shows the
// hint to scroll only if a table is wider than the screen.

function startSearch() {
  const rows = Array.from(document.querySelectorAll("#rows tbody tr"));
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const search = document.getElementById("search");
  const found = document.getElementById("found");
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter((word) => word);
    let count = 0;
    rows.forEach((row, i) => {
      row.hidden = !words.every((word) => texts[i].includes(word));
      count += row.hidden ? 0 : 1;
    });
    found.textContent = `${count} of ${rows.length}`;
  };
  search.addEventListener("input", show);
  show();
}

function startTables() {
  document.documentElement.classList.add("scripted");
  if (document.getElementById("rows")) startSearch();
  // It also reports tables that get a size because their section is opened.
  const watch = new ResizeObserver((boxes) => {
    for (const { target } of boxes) {
      target.parentNode.classList.toggle("overflows", target.scrollWidth > target.clientWidth);
    }
  });
  document.querySelectorAll(".scroll").forEach((box) => watch.observe(box));
}

startTables();
