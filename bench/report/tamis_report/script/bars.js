// Draws bars from zero, with their values beside them.

// How each measure shows a row. `better` explains a longer bar.
const SHOWN = {
  speed: {
    value: (row) => 1e3 / row.ns_per_key,
    range: (row) => [1e3 / row.ns_q3, 1e3 / row.ns_q1],
    text: (row) => `${round(1e3 / row.ns_per_key)} M keys/s`,
    detail: (row, best) => `${round(row.ns_per_key)} ns, ${best === row ? "the fastest"
      : `${wholePercent(best.ns_per_key / row.ns_per_key)} of the fastest`}`,
    better: "A bar shows keys per second: longer is faster. Nanoseconds per key are beside it.",
  },
  time: {
    value: (row) => row.ns_per_key,
    range: (row) => [row.ns_q1, row.ns_q3],
    text: (row) => `${round(row.ns_per_key)} ns`,
    detail: (row, best) => best === row ? "the fastest"
      : `${round(row.ns_per_key / best.ns_per_key)} times the fastest`,
    better: "A bar shows nanoseconds per key: shorter is faster.",
  },
  share: {
    value: (row) => row.share_of_limit,
    range: () => null,
    text: (row) => wholePercent(row.share_of_limit),
    detail: (row) => `of ${row.limit_per_second === null ? "its limit"
      : `${countText(row.limit_per_second)} random reads/s`}; ` +
      `${round(1e3 / row.ns_per_key)} M keys/s`,
    better: "A bar shows keys per second, divided by the random memory reads per second of the " +
      "same machine in the same run. The line is this limit. A longer bar is nearer to the limit. " +
      "Builds that order their keys first can exceed it.",
  },
};

function barsOf(rows, label, shown, looks, longest, best) {
  return element("ul", { class: "bars" }, ...rows.map((row) => {
    const bar = element("span", { class: "bar" });
    paint(bar, looks[row.kind]);
    bar.style.width = `${100 * shown.value(row) / longest}%`;
    const track = element("span", { class: "track", "aria-hidden": "true" }, bar);
    const range = shown.range(row);
    if (range) {
      const whisker = element("span", { class: "whisker" });
      whisker.style.left = `${100 * range[0] / longest}%`;
      whisker.style.width = `${100 * (Math.min(range[1], longest) - range[0]) / longest}%`;
      track.append(whisker);
    } else {
      const limit = element("span", { class: "limit" });
      limit.style.left = `${100 / longest}%`;
      track.append(limit);
    }
    return element("li", {}, element("span", { class: "name" }, ...label(row)), track,
      element("span", { class: "value" }, element("strong", {}, shown.text(row)), " ",
        element("small", {}, shown.detail(row, best))));
  }));
}

// Returns the length of the longest bar, and for shares at least the limit.
const longestOf = (rows, shown, atLeast) => rows.reduce((longest, row) =>
  Math.max(longest, shown.value(row), ...(shown.range(row) ?? [])), atLeast);

function drawBars(place, rows, state, looks, facts) {
  const shown = SHOWN[state.measure];
  const drawn = rows.filter((row) => shown.value(row) !== null);
  if (drawn.length === 0) {
    place.replaceChildren(element("p", { class: "none" }, rows.length === 0
      ? "Nothing selected was measured at this point." : "No limit was measured for this."));
    return;
  }
  const longest = longestOf(drawn, shown, state.measure === "share" ? 1 : 0);
  const best = drawn.reduce((one, row) => row.ns_per_key < one.ns_per_key ? row : one);
  const byFilter = state.group === "filter";
  const parts = (byFilter ? state.kind : state.machine).flatMap((name) => {
    const group = drawn.filter((row) => name === (byFilter ? row.kind : row.machine));
    if (group.length === 0) return [];
    // Machines are sorted by speed. Filters have the same order under every machine.
    if (byFilter) group.sort((a, b) => a.ns_per_key - b.ns_per_key);
    else group.sort((a, b) => state.kind.indexOf(a.kind) - state.kind.indexOf(b.kind));
    const heading = byFilter ? [swatch(looks[name]), name, element("small", {}, group[0].library)]
      : [name, element("small", {}, facts.get(name))];
    const label = (row) => [...(byFilter ? [row.machine] : [swatch(looks[row.kind]), row.kind]),
      element("small", {}, bytesText(row.filter_bytes))];
    return [element("h4", {}, ...heading), barsOf(group, label, shown, looks, longest, best)];
  });
  place.replaceChildren(...parts);
}
