// Reads the rows of the CSV in the page, as objects.

const NUMBERS = new Set(["threads", "filter_bytes", "num_keys", "hit_percent", "call_keys",
  "bits_per_key", "fpr", "ns_per_key", "ns_q1", "ns_q3", "share_of_limit", "limit_per_second"]);

// Returns lists of texts. The format is RFC 4180 with line feeds.
function parseCsv(text) {
  const lines = [];
  let line = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/g)) {
    line.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "\n") {
      lines.push(line);
      line = [];
    }
  }
  return lines;
}

function readRows(text) {
  const [head, ...lines] = parseCsv(text);
  return lines.map((cells) => Object.fromEntries(head.map((name, i) => [
    name, !NUMBERS.has(name) ? cells[i] : cells[i] === "" ? null : Number(cells[i]),
  ])));
}

const unique = (values) => Array.from(new Set(values));

// Format numbers for readers: 64 MiB, 45 M, 3.88 ns.
function bytesText(count) {
  for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) {
    if (count >= size) return `${round(count / size)} ${unit}`;
  }
  return `${count} B`;
}
function countText(count) {
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (count >= size) return `${round(count / size)} ${unit}`;
  }
  return round(count);
}
// Formats with three significant digits and without an exponent.
const round = (number) => number >= 100 ? number.toFixed(0) : String(Number(number.toPrecision(3)));
const percent = (share) => `${round(100 * share)}%`;
const wholePercent = (share) => share >= 0.1 ? `${(100 * share).toFixed(0)}%` : percent(share);
// Unlike Math.min, these accept any number of values.
const least = (numbers) => numbers.reduce((one, other) => Math.min(one, other), Infinity);
const most = (numbers) => numbers.reduce((one, other) => Math.max(one, other), -Infinity);
// Returns "64 MiB" or "16 MiB to 64 MiB".
function rangeText(numbers, text) {
  const texts = [least(numbers), most(numbers)].map(text);
  return texts[0] === texts[1] ? texts[0] : texts.join(" to ");
}
