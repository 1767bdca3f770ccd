// The address contains the current view, so that it can be linked:
// #operation=build&machine=a&machine=b. Usual values are left out. Only values that the page offers
// are read from the address.

const MEASURES = { speed: "keys per second", time: "nanoseconds per key",
  share: "share of the machine's own limit" };
const GROUPS = { filter: "filter", machine: "machine" };
const THEMES = { system: "as the system", light: "light", dark: "dark" };

function usualState(axes, rows, kinds, machines) {
  return {
    point: usualPoint(axes, rows),
    kind: kinds.filter(({ library }, i) => i === 0 || library !== "tamis").map(({ name }) => name),
    machine: machines,
    bits: "12",
    measure: "speed",
    group: machines.length > 1 ? "filter" : "machine",
    theme: "system",
  };
}

function choices(axes, rows, kinds, machines) {
  return {
    ...Object.fromEntries(axes.map((axis) => [axis.name, valuesOf(axis, rows)])),
    kind: kinds.map(({ name }) => name),
    machine: machines,
    bits: Object.keys(BITS),
    measure: Object.keys(MEASURES),
    group: Object.keys(GROUPS),
    theme: Object.keys(THEMES),
  };
}

function stateFrom(hash, usual, offered) {
  const parameters = new URLSearchParams(hash.replace(/^#/, ""));
  const state = { ...usual, point: { ...usual.point } };
  for (const name of Object.keys(offered)) {
    const values = parameters.getAll(name).filter((value) => offered[name].includes(value));
    if (!parameters.has(name)) continue;
    if (Array.isArray(usual[name])) {
      state[name] = offered[name].filter((value) => values.includes(value));
    } else if (values.length > 0) {
      (name in state.point ? state.point : state)[name] = values[0];
    }
  }
  return state;
}

function hashOf(state, usual) {
  const parameters = new URLSearchParams();
  const flat = { ...state.point, ...state, point: undefined };
  const before = { ...usual.point, ...usual, point: undefined };
  for (const [name, value] of Object.entries(flat)) {
    if (value === undefined || String(value) === String(before[name])) continue;
    // An empty list differs from a missing one.
    const list = Array.isArray(value) ? value.length > 0 ? value : [""] : [value];
    for (const one of list) parameters.append(name, one);
  }
  return String(parameters);
}
