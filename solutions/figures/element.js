// Make an element with these properties and children; `label` is its name for screen readers.
export function element(tag, properties = {}, ...children) {
  const { label, ...rest } = properties;
  const node = Object.assign(document.createElement(tag), rest);
  if (label) node.setAttribute("aria-label", label);
  node.append(...children);
  return node;
}
