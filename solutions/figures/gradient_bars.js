// 65 gradient bars on a logarithmic axis; switches for the initialisation, the skip and the norm.
import { element } from "./element.js";

const STYLE = `
  .course-figure .plot { position: relative; height: 15rem; margin: 0.4rem 0 0 3.4rem; border-left: 1px solid var(--line); }
  .course-figure .plot .grid { position: absolute; left: 0; right: 0; border-top: 1px dotted var(--line); }
  .course-figure .plot .grid.one { border-top: 2px solid var(--ink); }
  .course-figure .plot .grid.floor { border-top: 2px dashed rgb(var(--alarm)); }
  .course-figure .plot .grid span { position: absolute; right: calc(100% + 0.4rem); top: -0.7em; white-space: nowrap; font-size: 0.85em; font-variant-numeric: tabular-nums; }
  .course-figure .plot .grid.floor span { right: 0.3rem; top: -1.5em; }
  .course-figure .plot .depth { position: absolute; background: rgb(var(--heat)); min-height: 2px; }
  .course-figure .plot .depth.off { background: repeating-linear-gradient(45deg, rgb(var(--alarm)) 0 2px, transparent 2px 4px); }
  .course-figure .ends { display: flex; justify-content: space-between; margin: 0.2rem 0 0 3.4rem; font-size: 0.85em; color: var(--muted); }`;
const WIDE = { low: -48, high: 18, marks: [-40, -30, -20, -10, 0, 10] };
const NEAR = { low: -2, high: 2, marks: [-2, -1, 0, 1, 2] };
const SMALLEST = -44.85; // what float32 can just tell from zero

const superscript = (n) => String(n).replace("-", "⁻").replace(/\d/g, (d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]);
const tens = (n) => (n === 0 ? "1" : n === 1 ? "10" : `10${superscript(n)}`);

// A ratio from its power of ten: plain digits in the middle, a power outside.
function number(power) {
  if (power > -3 && power < 4) return String(Number((10 ** power).toPrecision(2)));
  const whole = Math.floor(power);
  return `${(10 ** (power - whole)).toFixed(1)} · ${tens(whole)}`;
}

function describe(powers) {
  const [bottom] = powers;
  const arrived = `Of a gradient of size 1 at the output, ${number(bottom)} arrives at the input`;
  if (bottom < SMALLEST) return `${arrived}: in float32 that is exactly 0. It has vanished.`;
  if (bottom < -6) return `${arrived}. It has vanished: the lower layers learn next to nothing.`;
  if (bottom > 3) return `${arrived}. It has exploded: any step is too large for the lower layers.`;
  if (bottom < -1) return `${arrived}. It has shrunk, but it is not lost.`;
  if (bottom > 1.5) return `${arrived}. It has grown, though not out of hand.`;
  return `${arrived}. It has kept its order of magnitude.`;
}

function render({ model, el }) {
  const data = model.get("data");
  const group = "bars-" + Math.random().toString(36).slice(2); // radio buttons need names of their own
  let how = data.initialisations[0].key;
  let norm = "none";

  function radios(name, legend, options, chosen, choose) {
    return element("fieldset", {}, element("legend", {}, legend), ...options.map(([key, text]) => {
      const radio = element("input", { type: "radio", name: group + name, checked: key === chosen });
      radio.addEventListener("change", () => (choose(key), update()));
      return element("label", {}, radio, text);
    }));
  }

  function checkbox(text, checked) {
    const box = element("input", { type: "checkbox", checked });
    box.addEventListener("change", () => update());
    return [box, element("label", {}, box, text)];
  }

  const [skip, skipLabel] = checkbox("skip around every layer", false);
  const [near, nearLabel] = checkbox("look closer: 0.01 to 100", false);
  const plot = element("div", { className: "plot" });
  plot.setAttribute("role", "img");
  const message = element("p", { className: "message" });
  message.setAttribute("role", "status");

  function update() {
    const powers = data.runs[how][`${skip.checked ? "skip" : "plain"} ${norm}`];
    const axis = near.checked ? NEAR : WIDE;
    const height = (power) => (100 * (axis.high - power)) / (axis.high - axis.low); // % from the top
    const line = (power, className, text) => {
      const grid = element("div", { className: `grid ${className}` }, element("span", {}, text));
      grid.style.top = `${height(power)}%`;
      return grid;
    };
    const lines = axis.marks.map((power) => line(power, power === 0 ? "one" : "", tens(power)));
    if (!near.checked) lines.push(line(SMALLEST, "floor", "below: 0 in float32"));
    const bars = powers.map((power, state) => {
      const end = Math.min(axis.high, Math.max(axis.low, power));
      const bar = element("div", { className: end === power ? "depth" : "depth off" });
      bar.title = `state ${state}: ${number(power)}`;
      bar.style.left = `${(100 * (state + 0.12)) / powers.length}%`;
      bar.style.width = `${76 / powers.length}%`;
      bar.style.top = `${height(Math.max(end, 0))}%`;
      bar.style.height = `${Math.abs(height(end) - height(0))}%`;
      return bar;
    });
    plot.replaceChildren(...lines, ...bars);
    const outside = powers.some((p) => p < axis.low || p > axis.high);
    message.textContent = describe(powers) + (outside ? " Striped bars go on beyond the axis." : "");
    plot.setAttribute("aria-label", message.textContent);
  }

  const starts = data.initialisations.map(({ key, name }) => [key, name]);
  const norms = [["none", "none"], ["before", "before the layer"], ["after", "after it (and the skip)"]];
  el.append(
    element("style", {}, STYLE),
    element("div", { className: "controls" }, radios("start", "weights start as", starts, how, (k) => (how = k))),
    element("div", { className: "controls" }, skipLabel),
    element("div", { className: "controls" }, radios("norm", "norm", norms, norm, (k) => (norm = k))),
    element("div", { className: "controls" }, nearLabel),
    plot,
    element("div", { className: "ends" }, element("span", {}, "input, state 0"), element("span", {}, "output, state 64")),
    message,
  );
  update();
}

export default { render };
