// Drag the length past the training length: every scheme's accuracy, and where its head looks.
import { element } from "./element.js";

const STYLE = `
  .course-figure .schemes { font-family: inherit; font-size: inherit; list-style: none; margin: 0; padding: 0; }
  .course-figure .scheme { display: grid; font-family: inherit; font-size: inherit; grid-template-columns: 5.6rem minmax(5rem, 1fr) minmax(8rem, 2fr); gap: 0 0.9rem; align-items: center; margin: 0; padding: 0.4rem 0; border-top: 1px solid var(--line); }
  .course-figure .scheme.heads { color: var(--muted); font-size: 0.85em; padding: 0.2rem 0; border-top: 0; }
  .course-figure .share { font-variant-numeric: tabular-nums; }
  .course-figure .share small { color: var(--muted); }
  .course-figure .track { position: relative; height: 0.7em; border: 1px solid var(--line); border-radius: 3px; }
  .course-figure .fill { height: 100%; border-radius: 2px; background: rgb(var(--heat)); }
  .course-figure .fill.lost { background: repeating-linear-gradient(45deg, rgb(var(--alarm)) 0 3px, transparent 3px 6px); }
  .course-figure .tick { position: absolute; top: -0.25em; bottom: -0.25em; border-left: 2px dotted var(--ink); }
  .course-figure .strip { display: block; width: 100%; height: 44px; }
  .course-figure .strip .bar { fill: rgb(var(--heat)); }
  .course-figure .strip .base { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
  .course-figure .strip .found { fill: var(--ink); }
  .course-figure .strip .asks { fill: none; stroke: var(--ink); stroke-width: 1.2; vector-effect: non-scaling-stroke; }
  .course-figure .length { flex: 1 1 16rem; }
  .course-figure .length input { flex: 1; min-width: 6rem; }
  .course-figure output { font-weight: 600; min-width: 5.5em; font-variant-numeric: tabular-nums; }
  @media (max-width: 520px) {
    .course-figure .scheme { grid-template-columns: 5.6rem 1fr; }
    .course-figure .scheme .look { grid-column: 1 / -1; }
  }`;

const SVG = "http://www.w3.org/2000/svg";
const percent = (x) => `${Math.round(100 * x)}\u00a0%`;

function shape(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

// One bar per token, a triangle under the token to be found, a ring under the one that asks.
function strip(row, asks, found, label) {
  const width = 320, height = 44, floor = 32, step = width / row.length;
  const svg = shape("svg", { class: "strip", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img" });
  svg.setAttribute("aria-label", label);
  svg.append(shape("line", { class: "base", x1: 0, x2: width, y1: floor, y2: floor }));
  row.forEach((weight, s) => svg.append(shape("rect", {
    class: "bar", x: s * step + 0.1 * step, width: 0.8 * step, y: floor - weight * (floor - 2), height: weight * (floor - 2),
  })));
  const middle = (s) => (s + 0.5) * step;
  const at = middle(found);
  svg.append(shape("path", { class: "found", d: `M ${at - 5} ${height - 1} L ${at + 5} ${height - 1} L ${at} ${floor + 2} Z` }));
  svg.append(shape("ellipse", { class: "asks", cx: middle(asks), cy: floor + 6, rx: 4, ry: 4 }));
  return svg;
}

function render({ model: widget, el }) {
  const data = widget.get("data");
  const group = "lengths-" + Math.random().toString(36).slice(2); // radio buttons need a name of their own
  let task = data.tasks[0];
  let at = data.lengths.indexOf(data.trained);

  const choices = data.tasks.map((choice) => {
    const radio = element("input", { type: "radio", name: group, checked: choice === task });
    radio.addEventListener("change", () => ((task = choice), update()));
    return element("label", {}, radio, choice.name);
  });
  const slider = element("input", { type: "range", min: 0, max: data.lengths.length - 1, step: 1, value: at });
  slider.addEventListener("input", () => ((at = Number(slider.value)), update()));
  const shown = element("output");
  const schemes = element("ul", { className: "schemes" });
  const message = element("p", { className: "message" });
  message.setAttribute("role", "status");

  function line(scheme) {
    const [asks, found] = task.places[at];
    const mean = scheme.mean[at], row = scheme.rows[at];
    const lost = mean < (1 + task.chance) / 2;
    const fill = element("div", { className: lost ? "fill lost" : "fill" });
    fill.style.width = `${100 * mean}%`;
    const tick = element("div", { className: "tick" });
    tick.style.left = `${100 * task.chance}%`;
    const track = element("div", { className: "track" }, fill, tick);
    track.setAttribute("aria-hidden", "true"); // the number above says the same
    const best = row.indexOf(Math.max(...row));
    const label = `${scheme.name}: weight ${row[found].toFixed(2)} on the token to be found, most on token ${best} of ${row.length}`;
    return element("li", { className: "scheme" },
      element("span", { className: "name" }, scheme.name),
      element("div", { className: "share" },
        `${percent(mean)} `, element("small", {}, `(${percent(scheme.low[at])} to ${percent(scheme.high[at])})`), track),
      element("div", { className: "look" }, strip(row, asks, found, label)));
  }

  function update() {
    const length = data.lengths[at], times = length / data.trained;
    shown.textContent = `${length} tokens`;
    slider.setAttribute("aria-valuetext", shown.textContent);
    schemes.replaceChildren(
      element("li", { className: "scheme heads" }, element("span", {}, "scheme"),
        element("span", {}, "right (three seeds)"),
        element("span", { className: "look" }, `${task.asks} (○) looks for ▲`)),
      ...task.schemes.map(line));
    const holding = task.schemes.filter((s) => s.mean[at] >= 0.95).map((s) => s.name);
    const where = times <= 1 ? "within the lengths of the training" : `${times.toFixed(2).replace(/\.?0+$/, "")} times the longest of the training`;
    message.textContent = `${length} tokens, ${where}: ${holding.length ? holding.join(", ") : "no scheme"}
      ${holding.length === 1 || !holding.length ? "answers" : "answer"} 95\u00a0% or more; dotted: guessing, ${percent(task.chance)}.`;
  }

  el.append(
    element("style", {}, STYLE),
    element("div", { className: "controls" }, element("fieldset", {}, element("legend", {}, "task"), ...choices)),
    element("div", { className: "controls" }, element("label", { className: "length" }, "length", slider, shown)),
    schemes, message,
  );
  update();
}

export default { render };
