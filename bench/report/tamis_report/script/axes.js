// The axes, and the choice of a point on them. A row is a point on all axes.

const OPERATIONS = {
  contains: "queries in batches, answers as a bitmap",
  contains_bytes: "queries in batches, answers as bytes",
  select: "queries in batches, answers as indices",
  one_key: "queries, one key per call",
  engine_contains: "queries through an Engine",
  contains_beside_writer: "queries while another thread writes",
  insert: "inserts into a nearly full filter",
  build: "builds from nothing, in batches",
  build_one_key: "builds, one key per call",
  build_if_absent: "builds that return which keys are new",
  erase: "erasures from a full filter",
};
const KEYS = {
  u64: "integers",
  string16: "strings of 16 bytes",
  url: "URLs, 40 to 120 bytes",
  column16: "a column of strings, about 16 bytes",
  column40: "a column of strings, about 40 bytes",
  column80: "a column of strings, about 80 bytes",
  column200: "a column of strings, about 200 bytes",
};
const SIZES = ["10000000_keys", "LLC", "L2", "memory", "L1"];  // which to show first

// name: the name in the address. of(row): the values that show the row, its own value last; null:
// any value. usual: the first values to try, if they have rows.
function makeAxes(rows) {
  const threads = new Map();  // the largest number of each machine
  for (const row of rows) {
    threads.set(row.machine, Math.max(row.threads, threads.get(row.machine) ?? 1));
  }
  const bytes = (name) => rangeText(
    rows.filter((row) => row.size_class === name).map((row) => row.filter_bytes), bytesText);
  // Sizes that most machines have come first. Among these, sizes at which the filters of the first
  // kind have the same size on all machines come first, because their times can be compared.
  const rank = new Map(SIZES.map((name) => {
    const found = rows.filter((row) => row.size_class === name && row.kind === rows[0].kind);
    const all = found.map((row) => row.filter_bytes);
    return [name, unique(found.map((row) => row.machine)).length +
      (most(all) <= 1.01 * least(all) ? 0.5 : 0)];
  }));
  const sizes = [...SIZES].sort((a, b) => rank.get(b) - rank.get(a));
  return [
    { name: "operation", label: "Operation", usual: ["contains"], of: (row) => [row.operation],
      text: (value) => `${value}: ${OPERATIONS[value]}`, order: Object.keys(OPERATIONS) },
    { name: "size", label: "Size of the filter", usual: sizes, of: (row) => [row.size_class],
      text: (value) => `${value.replace("_keys", " keys")} (${bytes(value)})`,
      order: ["L1", "L2", "LLC", "memory"] },
    { name: "keys", label: "Keys", usual: ["u64"], of: (row) => [row.keys],
      text: (value) => KEYS[value], order: Object.keys(KEYS) },
    { name: "hits", label: "Queries that hit", usual: ["50"],
      of: (row) => row.hit_percent === null ? null : [String(row.hit_percent)],
      text: (value) => `${value}%`, order: [] },
    { name: "threads", label: "Threads", usual: ["1"],
      of: (row) => row.threads === threads.get(row.machine)
        ? ["all", String(row.threads)] : [String(row.threads)],
      text: (value) => value === "all" ? "all of each machine" : value, order: [] },
    { name: "backend", label: "Backend", usual: ["default"],
      of: (row) => row.library !== "tamis" ? null
        : row.default_backend === "yes" ? [row.backend, "default"] : [row.backend],
      text: (value) => value === "default" ? "the default of each machine" : value,
      order: ["default"] },
    { name: "call", label: "Keys in a call", usual: ["all"],
      of: (row) => [row.call_keys === null ? "all" : String(row.call_keys)],
      text: (value) => value === "all" ? "the whole batch" : value, order: [] },
    { name: "pages", label: "Huge pages", usual: ["on"], of: (row) => [row.huge_pages],
      text: (value) => value, order: ["on", "off"] },
  ];
}

const fits = (axis, row, point) => {
  const values = axis.of(row);
  return values === null || values.includes(point[axis.name]);
};
const rowsAt = (axes, rows, point) =>
  rows.filter((row) => axes.every((axis) => fits(axis, row, point)));

// Returns all values of an axis: in its order, then by number, then by name.
function valuesOf(axis, rows) {
  const place = (value) => {
    const at = axis.order.indexOf(value);
    return at < 0 ? axis.order.length : at;
  };
  return unique(rows.flatMap((row) => axis.of(row) ?? [])).sort((a, b) =>
    place(a) - place(b) || a.localeCompare(b, "en", { numeric: true }));
}

function usualPoint(axes, rows) {
  const point = {};
  for (const axis of axes) {
    const values = valuesOf(axis, rows);
    point[axis.name] = axis.usual.find((value) => values.includes(value)) ?? values[0] ?? "";
  }
  return nearestPoint(axes, rows, point, null);
}

// Returns a point with rows that keeps the value of the axis `kept` and changes as few other values
// as possible.
function nearestPoint(axes, rows, point, kept) {
  let best = null, closest = -1;
  for (const row of rows) {
    if (kept && !fits(kept, row, point)) continue;
    const alike = axes.filter((axis) => fits(axis, row, point)).length;
    if (alike > closest) [best, closest] = [row, alike];
  }
  if (best === null || closest === axes.length) return point;
  const changed = { ...point };
  for (const axis of axes) {
    if (!fits(axis, best, point)) changed[axis.name] = axis.of(best).at(-1);
  }
  return changed;
}
