// The overview: controls, and the view that they select. It is redrawn at each change.

function startOverview() {
  const place = (name) => document.getElementById(name);
  const csv = place("csv").textContent;
  const looks = JSON.parse(place("overview").dataset.looks);
  const facts = new Map(JSON.parse(place("overview").dataset.machines));
  const rows = readRows(csv);
  const axes = makeAxes(rows);
  const machines = Array.from(facts.keys());
  const kinds = Object.keys(looks).filter((name) => rows.some((row) => row.kind === name))
    .map((name) => ({ name, library: rows.find((row) => row.kind === name).library }));
  const usual = usualState(axes, rows, kinds, machines);
  const offered = choices(axes, rows, kinds, machines);
  // On a phone the controls start closed, so that the bars come first.
  place("controls").open = matchMedia("(min-width: 48rem)").matches;
  let state = stateFrom(location.hash, usual, offered);

  const isShown = (row) => state.kind.includes(row.kind) && state.machine.includes(row.machine);
  const ofMachines = (row) => state.machine.includes(row.machine);

  // Changes other choices if the point has no rows, and reports these changes.
  function follow(kept) {
    const before = state.point;
    const said = [];
    state.point = nearestPoint(axes, rows.filter(ofMachines), before, kept);
    for (const axis of axes) {
      if (state.point[axis.name] === before[axis.name]) continue;
      said.push(`${axis.label.toLowerCase()}: ${axis.text(state.point[axis.name])}`);
    }
    const there = rowsAt(axes, rows, state.point).filter(ofMachines);
    if (there.length > 0 && !there.some(isShown)) {
      state.kind = offered.kind.filter((name) => there.some((row) => row.kind === name));
      said.push(`filters: ${state.kind.join(", ")}`);
    }
    place("followed").textContent = said.length === 0 ? ""
      : `Nothing was measured at that point, so these were also changed: ${said.join("; ")}.`;
  }

  function change(changes, axis) {
    state = { ...state, ...changes };
    if (axis) follow(axis);
    else place("followed").textContent = "";
    // A page in a frame may have no address.
    try {
      history.replaceState(null, "", `#${hashOf(state, usual)}`);
    } catch { /* The page works without it. */ }
    draw();
  }

  const several = axes.filter((axis) => offered[axis.name].length > 1);
  place("axes").append(...several.map((axis) =>
    selectOf(`axis-${axis.name}`, axis.label, offered[axis.name], axis.text, (value) =>
      change({ point: { ...state.point, [axis.name]: value } }, axis))));
  const simple = (name, label, texts) => selectOf(`choice-${name}`, label, Object.keys(texts),
    (value) => texts[value], (value) => change({ [name]: value }));
  place("axes").append(simple("measure", "Bars show", MEASURES),
    simple("group", "Group by", GROUPS));
  place("sets").append(
    boxesOf("kind", "Filters", offered.kind, (name) => [swatch(looks[name]), name],
      (kind) => change({ kind })),
    boxesOf("machine", "Machines", machines,
      (name) => [name, element("small", {}, rows.find((row) => row.machine === name).processor)],
      (machine) => change({ machine })));
  place("scatter-bits").append(simple("bits", "Bits per key", BITS));
  place("theme").append(simple("theme", "Colours", THEMES));
  place("download").href = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));

  function showControls() {
    for (const axis of several) place(`axis-${axis.name}`).value = state.point[axis.name];
    for (const name of ["measure", "group", "bits", "theme"]) {
      place(`choice-${name}`).value = state[name];
    }
    for (const name of ["kind", "machine"]) {
      for (const box of document.getElementsByName(name)) {
        box.checked = state[name].includes(box.value);
      }
    }
  }

  // Warns if filters differ in size, such as halves of two caches, and if runs have different
  // modes.
  function notes(shown) {
    const said = [];
    for (const kind of state.measure === "share" ? [] : state.kind) {
      const bytes = shown.filter((row) => row.kind === kind).map((row) => row.filter_bytes);
      if (most(bytes) > 1.01 * least(bytes)) {
        said.push("Filters of this class differ in size between machines " +
          `(${kind}: ${rangeText(bytes, bytesText)}), so their times cannot be compared: ` +
          "use the share of each machine's own limit, or measure with --keys, which has the " +
          "same sizes everywhere.");
        break;
      }
    }
    const absent = state.machine.filter((name) => !shown.some((row) => row.machine === name));
    if (shown.length > 0 && absent.length > 0) {
      said.push(`Of the selection, nothing was measured at this point on ${absent.join(", ")}.`);
    }
    const modes = unique(shown.map((row) => row.mode));
    if (modes.length > 1) {
      said.push(`The runs have different lengths (${modes.join(", ")}): shorter runs have fewer ` +
        "samples.");
    }
    return said;
  }

  // Describes the sizes. Machines and kinds may have different sizes under one name.
  function sizeOf(shown) {
    if (shown.length === 0) return state.point.size;
    const of = (name, numberText) => rangeText(shown.map((row) => row[name]), numberText);
    return `filters of ${of("filter_bytes", bytesText)} ` +
      `(${state.point.size.replace("_keys", " keys")}) for ${of("num_keys", countText)} keys`;
  }

  function draw() {
    showControls();
    applyTheme(state.theme);
    const there = rowsAt(axes, rows, state.point).filter(ofMachines);
    const shown = there.filter(isShown);
    const text = (name) => axes.find((axis) => axis.name === name).text(state.point[name]);
    const applies = (name) => there.some((row) => axes.find((axis) => axis.name === name).of(row));
    place("point").textContent = [
      OPERATIONS[state.point.operation], sizeOf(shown.length > 0 ? shown : there), text("keys"),
      ...(applies("hits") ? [`${text("hits")} of the queries hit`] : []),
      state.point.threads === "1" ? "one thread" : `threads: ${text("threads")}`,
      ...(state.point.backend === "default" ? [] : [`backend ${state.point.backend}`]),
      ...(state.point.call === "all" ? [] : [`${state.point.call} keys a call`]),
      ...(state.point.pages === "on" ? [] : ["no huge pages"]),
    ].join(", ");
    place("better").textContent = `${SHOWN[state.measure].better}${state.measure === "share" ? ""
      : " The thin line spans the quartiles."}`;
    place("notes").replaceChildren(...notes(shown).map((said) =>
      element("p", { class: "warning" }, said)));
    drawBars(place("bars"), shown, state, looks, facts);
    drawScatter(place("scatter"), there, state, looks);
    const sizes = axes.filter((axis) => axis.name !== "size");
    drawShares(place("shares"), rowsAt(sizes, rows, state.point).filter(isShown), state, looks,
      offered.size);
  }

  addEventListener("hashchange", () => {
    // Other addresses are headings of the page.
    if (location.hash !== "" && !location.hash.includes("=")) return;
    state = stateFrom(location.hash, usual, offered);
    draw();
  });
  new ResizeObserver(() => {
    drawScatter(place("scatter"), rowsAt(axes, rows, state.point).filter(ofMachines), state, looks);
  }).observe(place("overview"));
  draw();
}

startOverview();
