// One query and eight keys at any width: scores, weights, and the gradient that reaches the scores.
import { element } from "./element.js";

const WAYS = [
  { name: "nothing", power: 0 },
  { name: "the root of D", power: 0.5 },
  { name: "D", power: 1 },
];
const STYLE = `
  .course-figure .keys { display: grid; gap: 0.25rem 0.8rem; grid-template-columns: max-content repeat(3, minmax(4.5rem, 1fr)); align-items: center; max-width: 44rem; font-variant-numeric: tabular-nums; }
  .course-figure .keys .title { color: var(--muted); font-size: 0.85em; align-self: end; line-height: 1.2; }
  .course-figure .amount { display: grid; grid-template-columns: 3.6em minmax(0, 1fr); gap: 0.4rem; align-items: center; }
  .course-figure .amount .number { text-align: right; font-size: 0.9em; white-space: nowrap; }
  .course-figure .track { position: relative; height: 0.8em; border: 1px solid var(--line); border-radius: 3px; }
  .course-figure .fill { position: absolute; top: 0; bottom: 0; background: rgb(var(--heat)); border-radius: 2px; }
  .course-figure .fill.negative { background: repeating-linear-gradient(45deg, rgb(var(--alarm)) 0 3px, transparent 3px 5px); }
  .course-figure .middle { position: absolute; top: -0.15em; bottom: -0.15em; left: 50%; border-left: 1px solid var(--muted); }
  .course-figure .width { flex-wrap: wrap; }
  .course-figure .width output { min-width: 4.6em; font-weight: 600; }
  .course-figure input[type="range"] { width: min(16rem, 60vw); }
  @media (max-width: 520px) { .course-figure .amount { grid-template-columns: 1fr; gap: 0.1rem; } .course-figure .amount .number { text-align: left; } }`;

function softmax(scores) {
  const top = Math.max(...scores);
  const powers = scores.map((s) => Math.exp(s - top));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((p) => p / sum);
}

// p * (a - sum of p a): what arrives at the scores when key s pulls with a.
function gradientOf(weights, pull) {
  const mean = weights.reduce((sum, p, s) => sum + p * pull[s], 0);
  return weights.map((p, s) => p * (pull[s] - mean));
}

const norm = (numbers) => Math.sqrt(numbers.reduce((sum, x) => sum + x * x, 0));
const entropyOf = (weights) => -weights.reduce((sum, p) => sum + (p > 0 ? p * Math.log(p) : 0), 0);

function short(x) {
  const size = Math.abs(x);
  if (size !== 0 && size < 0.0005) return x.toExponential(0).replace("e-", "e\u2212");
  return size < 10 ? x.toFixed(3) : x.toFixed(1);
}

// A bar from the middle for numbers of either sign, from the left for shares.
function amount(value, text, full, signed) {
  const share = Math.min(1, Math.abs(value) / full);
  const fill = element("div", { className: value < 0 ? "fill negative" : "fill" });
  fill.style.width = `${(signed ? 50 : 100) * share}%`;
  fill.style.left = signed ? `${value < 0 ? 50 - 50 * share : 50}%` : "0";
  const track = element("div", { className: "track" }, fill);
  if (signed) track.append(element("div", { className: "middle" }));
  track.setAttribute("aria-hidden", "true"); // the number beside it says the same
  return element("div", { className: "amount" }, element("span", { className: "number" }, text), track);
}

function render({ model, el }) {
  const { widths, samples } = model.get("data");
  const group = "scale-" + Math.random().toString(36).slice(2); // radio buttons need a name of their own
  let at = 6, way = WAYS[0], sample = 0;

  const slider = element("input", { type: "range", min: 0, max: widths.length - 1, step: 1, value: at });
  const shown = element("output");
  slider.addEventListener("input", () => ((at = Number(slider.value)), update()));
  const choices = WAYS.map((choice) => {
    const radio = element("input", { type: "radio", name: group, checked: choice === way });
    radio.addEventListener("change", () => ((way = choice), update()));
    return element("label", {}, radio, choice.name);
  });
  const again = element("button", { type: "button" }, "other vectors");
  again.addEventListener("click", () => ((sample = (sample + 1) % samples.length), update()));
  const keys = element("div", { className: "keys" });
  const message = element("p", { className: "message" });
  message.setAttribute("role", "status");

  function measure(index, power) {
    const scores = samples[sample].dots[index].map((d) => d / widths[index] ** power);
    const weights = softmax(scores);
    return { scores, weights, gradient: gradientOf(weights, samples[sample].pull) };
  }

  function update() {
    const width = widths[at];
    shown.textContent = `D = ${width}`;
    slider.setAttribute("aria-valuetext", `D = ${width}`);
    const { scores, weights, gradient } = measure(at, way.power);
    const full = Math.max(6, ...scores.map(Math.abs));
    keys.replaceChildren(
      ...["", `score (bar to ±${full.toFixed(0)})`, "weight (bar to 1)", "gradient (bar to ±0.4)"].map((text) =>
        element("div", { className: "title" }, text)),
      ...scores.flatMap((score, s) => [
        element("span", {}, `key ${s + 1}`),
        amount(score, score.toFixed(2), full, true),
        amount(weights[s], weights[s] < 0.0005 ? short(weights[s]) : weights[s].toFixed(3), 1, false),
        amount(gradient[s], short(gradient[s]), 0.4, true),
      ]));
    const best = weights.indexOf(Math.max(...weights));
    const length = norm(gradient), divided = norm(measure(at, 0.5).gradient);
    const beside = way.power === 0.5 ? "" : ` Divided by the root of D it would be ${short(divided)}.`;
    message.textContent = `Vectors ${sample + 1} of ${samples.length}, D = ${width}, divided by ${way.name}: key ${best + 1} takes
      ${(100 * weights[best]).toFixed(1)}\u00a0% of the weight, the entropy is ${Math.abs(entropyOf(weights)).toFixed(2)} of at most
      ${Math.log(weights.length).toFixed(2)} nats, and a gradient of length ${short(length)} reaches the scores.${beside}`;
  }

  el.append(
    element("style", {}, STYLE),
    element("div", { className: "controls" },
      element("label", { className: "width" }, "width", slider, shown),
      element("fieldset", {}, element("legend", {}, "dot products divided by"), ...choices),
      again),
    keys, message,
  );
  update();
}

export default { render };
