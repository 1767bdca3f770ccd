// Draws the look of a kind: the colour and mark of the plots, from looks.py. Other libraries are
// striped or hollow, so that colours are not needed.

function swatch(look) {
  const made = element("span", { class: "swatch", "aria-hidden": "true" });
  paint(made, look);
  return made;
}

function paint(box, look) {
  box.style.setProperty("--colour", look.color);
  box.classList.toggle("peer", look.hollow);
}

// The corners of each mark around (0, 0), for a radius of 1.
const turned = (corners, turn, inner = 1) => Array.from({ length: corners }, (_, i) => {
  const angle = 2 * Math.PI * (i / corners + turn), radius = i % 2 ? inner : 1;
  return [radius * Math.sin(angle), -radius * Math.cos(angle)];
});
const MARKS = {
  s: turned(4, 1 / 8), D: turned(4, 0), d: turned(4, 0).map(([x, y]) => [0.6 * x, y]),
  "^": turned(3, 0), v: turned(3, 1 / 2), "<": turned(3, 3 / 4), ">": turned(3, 1 / 4),
  P: turned(8, 1 / 16, 0.35), X: turned(8, 0, 0.35), "*": turned(10, 0, 0.45),
  p: turned(5, 0), x: turned(8, 1 / 8, 0.2), "+": turned(8, 0, 0.2),
  1: turned(6, 1 / 2, 0.2), 2: turned(6, 0, 0.2),
};

function mark(look, x, y, radius) {
  const style = { stroke: look.color, "stroke-width": 2, fill: look.hollow ? "none" : look.color };
  const corners = MARKS[look.marker];
  if (!corners) return drawing("circle", { cx: x, cy: y, r: radius, ...style });
  return drawing("polygon", { ...style, points: corners.map(([dx, dy]) =>
    `${(x + radius * dx).toFixed(1)},${(y + radius * dy).toFixed(1)}`).join(" ") });
}
