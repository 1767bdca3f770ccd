// The page is complete without this: it adds the search, which needs a script.
"use strict";
(() => {
  document.documentElement.classList.add("scripted");
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
})();
