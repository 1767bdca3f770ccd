// Draws how near each machine comes to the limit of its own memory, at every size of the filter.

function drawShares(place, rows, state, looks, sizes) {
  const shown = SHOWN.share;
  const drawn = rows.filter((row) => row.share_of_limit !== null);
  if (drawn.length === 0) {
    place.replaceChildren(element("p", { class: "none" }, "No limit was measured for this."));
    return;
  }
  const longest = longestOf(drawn, shown, 1);
  place.replaceChildren(...state.machine.flatMap((machine) => {
    const own = drawn.filter((row) => row.machine === machine);
    if (own.length === 0) return [];
    own.sort((a, b) => sizes.indexOf(a.size_class) - sizes.indexOf(b.size_class) ||
      state.kind.indexOf(a.kind) - state.kind.indexOf(b.kind));
    const label = (row) => {
      const size = `${row.size_class.replace("_keys", " keys")}, ${bytesText(row.filter_bytes)}`;
      return [swatch(looks[row.kind]), row.kind, element("small", {}, size)];
    };
    return [element("h4", {}, machine), barsOf(own, label, shown, looks, longest, own[0])];
  }));
}
