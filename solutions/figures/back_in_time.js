// How much of a gradient at the last state reaches each earlier one; computed here, at every change.
import { element } from "./element.js";

const STYLE = `
  .course-figure .sliders { display: grid; gap: 0.3rem 1.5rem; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); margin: 0 0 0.6rem; max-width: 40rem; }
  .course-figure .slider { display: grid; grid-template-columns: 1fr max-content; gap: 0 0.5rem; }
  .course-figure .slider input { grid-column: 1 / -1; width: 100%; margin: 0.2rem 0; }
  .course-figure .slider output { font-variant-numeric: tabular-nums; }
  .course-figure svg { display: block; width: 100%; max-width: 36rem; height: auto; }
  .course-figure svg.sample { display: inline-block; width: 2.6em; margin-right: 0.4em; vertical-align: middle; }
  .course-figure svg text { fill: var(--ink); font-size: 12px; }
  .course-figure svg .grid { stroke: var(--line); stroke-width: 0.7; }
  .course-figure svg .one { stroke: var(--muted); stroke-width: 1; }
  .course-figure svg polyline { fill: none; stroke-width: 2.5; }
  .course-figure svg .steps { stroke: rgb(var(--heat)); }
  .course-figure svg .back { stroke: rgb(var(--alarm)); stroke-dasharray: 7 4; }`;
const NAMES = { steps: "through the steps alone", back: "with an even look back over all states" };
const SVG = "http://www.w3.org/2000/svg";
const LEFT = 46, RIGHT = 352, TOP = 8, BOTTOM = 226, HIGHEST = 6, LOWEST = -18; // powers of ten

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const norm = (a) => Math.sqrt(dot(a, a));

// Run the steps forward, keep the slopes, then go back: once from the last state alone, once from
// the even average of all states, which adds its own part at every state on the way.
function sharesByLag({ rotation, x, push }, radius, scale, bend) {
  const width = push.length;
  const columns = rotation.map((_, j) => rotation.map((row) => row[j]));
  let h = Array(width).fill(0);
  const slopes = x.map((input) => {
    const total = columns.map((column, j) => scale * input[j] + radius * dot(h, column));
    h = bend ? total.map(Math.tanh) : total;
    return h.map((value) => (bend ? 1 - value * value : 1));
  });
  const before = (g, slope) => {
    const inner = g.map((value, j) => value * slope[j]);
    return rotation.map((row) => radius * dot(row, inner));
  };
  const part = push.map((value) => value / (x.length + 1));
  let [last, average] = [push, part];
  const steps = [1], back = [norm(average) / norm(push)];
  for (let t = x.length - 1; t >= 0; t--) {
    last = before(last, slopes[t]);
    average = before(average, slopes[t]).map((value, j) => value + part[j]);
    steps.push(norm(last) / norm(push));
    back.push(norm(average) / norm(push));
  }
  return { steps, back };
}

function shape(tag, attributes, text = "") {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.textContent = text;
  return node;
}

const across = (lag, n) => LEFT + ((RIGHT - LEFT) * lag) / n;
const down = (power) => TOP + ((BOTTOM - TOP) * (HIGHEST - power)) / (HIGHEST - LOWEST);
const superscript = (n) => String(n).replace(/./g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));

function write(x) {
  if (x >= 0.001 && x < 1000) return String(Number(x.toPrecision(2)));
  const power = Math.floor(Math.log10(x));
  return `${(x / 10 ** power).toFixed(1)}·10${superscript(power)}`;
}

function verdict(share) {
  return share < 1e-3 ? "it vanishes" : share > 1e3 ? "it explodes" : "it stays in reach";
}

function render({ model, el }) {
  const data = model.get("data");
  const n = data.x.length;
  const group = "bend-" + Math.random().toString(36).slice(2); // radio buttons need a name of their own
  let bend = true;

  const slider = (name, min, max, step, value) => {
    const input = element("input", { type: "range", min, max, step, value });
    const output = element("output");
    input.setAttribute("aria-label", name); // the label's first field is the output, not this one
    input.addEventListener("input", update);
    return { input, output, label: element("label", { className: "slider" }, element("span", {}, name), output, input) };
  };
  const radius = slider("radius of the weights", 0.5, 1.5, 0.05, 1.2);
  const scale = slider("standard deviation of the inputs", -4, 1, 0.25, 0);
  const choices = Object.entries({ linear: false, tanh: true }).map(([name, value]) => {
    const radio = element("input", { type: "radio", name: group, checked: value === bend });
    radio.addEventListener("change", () => ((bend = value), update()));
    return element("label", {}, radio, name);
  });

  const plot = shape("svg", { viewBox: "0 0 360 268", role: "img" });
  for (let power = LOWEST; power <= HIGHEST; power += 6) {
    plot.append(shape("line", { class: power ? "grid" : "one", x1: LEFT, x2: RIGHT, y1: down(power), y2: down(power) }),
      shape("text", { x: LEFT - 5, y: down(power) + 4, "text-anchor": "end" }, power ? "10" + superscript(power) : "1"));
  }
  for (let lag = 0; lag <= n; lag += 10)
    plot.append(shape("text", { x: across(lag, n), y: BOTTOM + 16, "text-anchor": "middle" }, lag));
  plot.append(shape("text", { x: RIGHT, y: BOTTOM + 34, "text-anchor": "end" }, "lag: steps back from the last state"));
  const lines = { back: shape("polyline", { class: "back" }), steps: shape("polyline", { class: "steps" }) };
  plot.append(...Object.values(lines));
  const legend = element("div", { className: "controls" }, ...Object.entries(NAMES).map(([name, text]) => {
    const sample = shape("svg", { class: "sample", viewBox: "0 0 40 10", "aria-hidden": "true" });
    sample.append(shape("polyline", { class: name, points: "1,5 39,5" }));
    return element("span", {}, sample, text);
  }));
  const message = element("p", { className: "message" });
  message.setAttribute("role", "status");

  function update() {
    const r = Number(radius.input.value);
    const s = 10 ** Number(scale.input.value);
    radius.output.textContent = r.toFixed(2);
    scale.output.textContent = write(s);
    scale.input.setAttribute("aria-valuetext", write(s));
    const shares = sharesByLag(data, r, s, bend);
    for (const [name, line] of Object.entries(lines)) {
      const powers = shares[name].map((share) => Math.min(HIGHEST, Math.max(LOWEST, Math.log10(share))));
      line.setAttribute("points", powers.map((power, lag) => `${across(lag, n).toFixed(1)},${down(power).toFixed(1)}`).join(" "));
    }
    const [last, back] = [shares.steps[n], shares.back[n]];
    plot.setAttribute("aria-label", `After ${n} steps ${write(last)} arrives through the steps, ${write(back)} with a look back.`);
    message.textContent = `After ${n} steps ${write(last)} of the gradient arrives: ${verdict(last)}. With an even look back over
      all states it is ${write(back)}. ${bend ? "The tanh multiplies by its slope at every step, and large inputs make that slope small."
      : `Linear units multiply by the radius at every step, whatever the inputs are: ${r.toFixed(2)} to the power ${n} is ${write(r ** n)}.`}`;
  }

  el.append(
    element("style", {}, STYLE),
    element("div", { className: "controls" }, element("fieldset", {}, element("legend", {}, "units"), ...choices)),
    element("div", { className: "sliders" }, radius.label, scale.label),
    legend,
    plot,
    message,
  );
  update();
}

export default { render };
