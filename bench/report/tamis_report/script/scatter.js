// Draws time against the false-positive rate for all filters with about the same number of bits per
// key.

const BITS = { 8: "about 8", 12: "about 12", 16: "about 16", all: "any number" };
const hasBits = (row, bits) => bits === "all" || Math.abs(row.bits_per_key / bits - 1) <= 0.15;
const HEIGHT = 300, LEFT = 46, RIGHT = 14, TOP = 26, BOTTOM = 44, LETTER = 7, LINE = 15;

// Returns about five round numbers from zero to `most`.
function ticksTo(most) {
  const power = 10 ** Math.floor(Math.log10(most / 4));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => most / one <= 5);
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => i * step);
}

// Moves each label up or down to the nearest place where it covers no other label and no mark.
function spread(labels) {
  const marks = labels.map(({ at, y }) => ({ from: at - 8, to: at + 8, y }));
  const placed = [];
  const moves = Array.from({ length: 2 * labels.length + 8 }, (_, i) =>
    LINE * Math.ceil(i / 2) * (i % 2 ? -1 : 1));
  for (const label of labels.sort((a, b) => a.y - b.y)) {
    const isFree = (y) => y > TOP && y < HEIGHT - BOTTOM && ![...placed, ...marks].some((other) =>
      label.from < other.to && label.to > other.from && Math.abs(y - other.y) < LINE - 1);
    label.y += moves.find((move) => isFree(label.y + move)) ?? 0;
    placed.push({ from: label.from, to: label.to, y: label.y });
  }
}

function scatterOf(rows, width, scale, looks, title) {
  const x = (rate) => LEFT + (width - LEFT - RIGHT) *
    (Math.log10(rate) - scale.low) / (scale.high - scale.low);
  const y = (ns) => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * ns / scale.most;
  const svg = drawing("svg", { width, height: HEIGHT, role: "img",
    "aria-label": `${title}: nanoseconds per key against the rate of false positives` });
  for (const ns of ticksTo(scale.most)) {
    svg.append(
      drawing("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(ns), y2: y(ns) }),
      drawing("text", { x: LEFT - 6, y: y(ns) + 4, "text-anchor": "end" }, round(ns)));
  }
  for (let power = scale.low; power <= scale.high; ++power) {
    const at = x(10 ** power);
    svg.append(
      drawing("line", { class: "grid", x1: at, x2: at, y1: TOP, y2: HEIGHT - BOTTOM }),
      drawing("text", { x: at, y: HEIGHT - BOTTOM + 16, "text-anchor":
        power === scale.high ? "end" : "middle" }, percent(10 ** power)));
  }
  svg.append(
    drawing("text", { x: width - RIGHT, y: HEIGHT - 8, "text-anchor": "end" }, "false positives"),
    drawing("text", { x: 4, y: 12 }, "ns per key"));
  const labels = rows.map((row) => {
    const at = x(row.fpr), length = LETTER * row.kind.length, right = at + 12 + length < width;
    return { row, at, y: y(row.ns_per_key), right, from: right ? at + 9 : at - 9 - length,
      to: right ? at + 9 + length : at - 9 };
  });
  spread(labels);
  for (const label of labels) {
    const top = y(label.row.ns_per_key), side = label.right ? 10 : -10;
    svg.append(drawing("g", {}, mark(looks[label.row.kind], label.at, top, 6),
      ...(Math.abs(label.y - top) >= LINE ? [drawing("line", { class: "grid", x1: label.at, y1: top,
        x2: label.at + side, y2: label.y })] : []),
      drawing("text", { x: label.at + side, y: label.y + 4,
        "text-anchor": label.right ? "start" : "end" }, label.row.kind),
      drawing("title", {}, `${label.row.kind}: ${round(label.row.ns_per_key)} ns per key, ` +
        `${percent(label.row.fpr)} false positives, ` +
        `${round(label.row.bits_per_key)} bits per key`)));
  }
  return svg;
}

// Draws one plot for each machine, with the same scales.
function drawScatter(place, rows, state, looks) {
  const drawn = rows.filter((row) => hasBits(row, state.bits) && row.fpr > 0);
  if (drawn.length === 0) {
    place.replaceChildren(element("p", { class: "none" },
      "No filter with this number of bits per key was measured at this point."));
    return;
  }
  const rates = drawn.map((row) => Math.log10(row.fpr));
  const low = Math.floor(least(rates));
  const scale = { low, high: Math.max(low + 1, Math.ceil(most(rates))),
    most: 1.1 * most(drawn.map((row) => row.ns_per_key)) };
  const machines = state.machine.filter((name) => drawn.some((row) => row.machine === name));
  const room = place.clientWidth, columns = machines.length > 1 && room >= 720 ? 2 : 1;
  const width = Math.max(280, Math.floor(room / columns) - (columns > 1 ? 12 : 0));
  place.replaceChildren(...machines.map((name) => element("figure", {},
    element("figcaption", {}, name),
    scatterOf(drawn.filter((row) => row.machine === name), width, scale, looks, name))));
}
