// Makes elements of the page. Texts are never treated as markup, whatever their origin.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function drawing(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Returns a select with its label. Calls changed(value).
function selectOf(id, label, values, text, changed) {
  const select = element("select", { id }, ...values.map((value) =>
    element("option", { value }, text(value))));
  select.addEventListener("change", () => changed(select.value));
  return element("p", {}, element("label", { for: id }, label), select);
}

// Returns a group of check boxes. Calls changed(values).
function boxesOf(name, legend, values, label, changed) {
  const boxes = values.map((value, i) => {
    const box = element("input", { type: "checkbox", name, value, id: `${name}-${i}` });
    return [box, element("label", { for: box.id, class: "chip" }, box, ...label(value))];
  });
  const chosen = () => boxes.filter(([box]) => box.checked).map(([box]) => box.value);
  for (const [box] of boxes) box.addEventListener("change", () => changed(chosen()));
  const buttons = [["all", values], ["none", []]].map(([text, all]) => {
    const button = element("button", { type: "button", "aria-label": `${legend}: ${text}` }, text);
    button.addEventListener("click", () => changed(all));
    return button;
  });
  return element("fieldset", {}, element("legend", {}, legend),
    ...(values.length > 2 ? buttons : []), ...boxes.map(([, chip]) => chip));
}
