// The next word of a real model: heat the scores, cut the tail, see what is left to draw from.
import { element } from "./element.js";

const STYLE = `
  .course-figure .knobs { display: grid; gap: 0.4rem 0.8rem; grid-template-columns: max-content minmax(7rem, 20rem) 4em; align-items: center; margin: 0 0 0.8rem; }
  .course-figure .knobs input { width: 100%; min-width: 0; }
  .course-figure .knobs output { font-variant-numeric: tabular-nums; text-align: right; }
  .course-figure .beginning { margin: 0 0 0.8rem; max-width: 42rem; }
  .course-figure .beginning b { border-bottom: 2px solid rgb(var(--heat)); }
  .course-figure .tokens { display: grid; grid-template-columns: max-content minmax(6rem, 24rem) max-content; gap: 0.15rem 0.6rem; align-items: center; font-variant-numeric: tabular-nums; }
  .course-figure .lane { position: relative; height: 1em; border-left: 1px solid var(--line); }
  .course-figure .lane .share { position: absolute; inset: 0 auto 0 0; min-width: 1px; border-radius: 0 2px 2px 0; box-sizing: border-box; }
  .course-figure .share.kept { background: rgb(var(--heat)); }
  .course-figure .share.gone { border: 1px solid var(--muted); background: repeating-linear-gradient(45deg, var(--muted) 0 1px, transparent 1px 6px); }
  .course-figure .lane .truth { position: absolute; top: -0.1em; bottom: -0.1em; border-left: 3px dotted var(--ink); }
  .course-figure .word.gone { text-decoration: line-through; color: var(--muted); }
  .course-figure .value { font-size: 0.88em; text-align: right; }
  .course-figure .value.gone { color: var(--muted); }
  .course-figure .wide { max-width: 100%; }
  .course-figure select { font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 4px; padding: 0.2rem; max-width: 100%; min-width: 0; }
  .course-figure select option { color: black; background: white; }
  .course-figure select:focus-visible { outline: 2px solid rgb(var(--heat)); outline-offset: 2px; }`;

const percent = (x) => (x > 0 && x < 0.001 ? "under 0.1\u00a0%" : `${(100 * x).toFixed(1)}\u00a0%`);

// Softmax at a temperature; 0 puts everything on the best token.
function heated(scores, temperature) {
  const best = Math.max(...scores);
  if (temperature === 0) return scores.map((s, i) => (i === scores.indexOf(best) ? 1 : 0));
  const powers = scores.map((s) => Math.exp((s - best) / temperature));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((x) => x / sum);
}

// First top-k, then top-p on what is left, as sample_next does it: the ids kept.
function keptOf(odds, order, k, p) {
  const first = order.slice(0, k);
  if (p >= 1) return new Set(first);
  const sum = first.reduce((total, i) => total + odds[i], 0);
  const kept = new Set();
  let before = 0;
  for (const i of first) {
    if (kept.size > 0 && before >= p) break;
    kept.add(i);
    before += odds[i] / sum;
  }
  return kept;
}

function render({ model: widget, el }) {
  const data = widget.get("data");
  const size = data.words.length;
  let place = data.places[0];

  const picker = element("select", {}, ...data.places.map((one, i) =>
    element("option", { value: i }, `... ${one.text.split(" ").slice(-5).join(" ")}`)));
  picker.addEventListener("change", () => ((place = data.places[Number(picker.value)]), update()));

  const knobs = element("div", { className: "knobs" });
  function knob(name, options, write) {
    const id = "nucleus-" + Math.random().toString(36).slice(2);
    const input = element("input", { type: "range", id, ...options });
    const output = element("output");
    output.setAttribute("for", id);
    input.addEventListener("input", update);
    knobs.append(element("label", { htmlFor: id }, name), input, output);
    return () => {
      const value = Number(input.value);
      output.textContent = write(value);
      input.setAttribute("aria-valuetext", write(value));
      return value;
    };
  }
  const temperatureOf = knob("temperature", { min: 0, max: 2.5, step: 0.1, value: 1 }, (v) => v.toFixed(1));
  const kOf = knob("top-k", { min: 1, max: size, step: 1, value: size }, (v) => (v === size ? "all" : String(v)));
  const pOf = knob("top-p", { min: 0, max: 1, step: 0.01, value: 1 }, (v) => v.toFixed(2));

  const beginning = element("p", { className: "beginning" });
  const bars = element("div", { className: "tokens" });
  const message = element("p", { className: "message" });
  message.setAttribute("role", "status");

  function line(name, before, after, isKept, truth, scale) {
    const mark = isKept ? "" : " gone";
    const share = element("div", { className: "share " + (isKept ? "kept" : "gone") });
    share.style.width = `${(100 * (isKept ? after : before)) / scale}%`;
    const lane = element("div", { className: "lane" }, share);
    lane.setAttribute("aria-hidden", "true"); // the numbers say the same
    if (truth > 0) {
      const tick = element("div", { className: "truth" });
      tick.style.left = `${Math.min(100, (100 * truth) / scale)}%`;
      lane.append(tick);
    }
    return [
      element("span", { className: "word" + mark }, name),
      lane,
      element("span", { className: "value" + mark }, isKept ? percent(after) : `cut (${percent(before)})`),
    ];
  }

  function update() {
    const [temperature, k, p] = [temperatureOf(), kOf(), pOf()];
    const odds = heated(place.scores, temperature);
    const order = [...odds.keys()].sort((a, b) => place.scores[b] - place.scores[a] || a - b);
    const kept = keptOf(odds, order, k, p);
    const mass = [...kept].reduce((sum, i) => sum + odds[i], 0);
    const after = (i) => (kept.has(i) ? odds[i] / mass : 0);
    const shown = order.slice(0, data.shown);
    const rest = order.slice(data.shown);
    const sumOf = (ids, f) => ids.reduce((sum, i) => sum + f(i), 0);
    const restBefore = sumOf(rest, (i) => odds[i]);
    const restAfter = sumOf(rest, after);
    const restKept = rest.filter((i) => kept.has(i)).length;
    const scale = Math.max(...shown.map((i) => Math.max(odds[i], after(i), place.odds[i])), restBefore, restAfter);
    beginning.replaceChildren(place.text + " ", element("b", {}, "?"));
    bars.replaceChildren(
      ...shown.flatMap((i) => line(data.words[i], odds[i], after(i), kept.has(i), place.odds[i], scale)),
      ...line(restKept > 0 ? `${rest.length} others (${restKept} kept)` : `${rest.length} others`,
        restBefore, restAfter, restKept > 0, sumOf(rest, (i) => place.odds[i]), scale),
    );
    const wrong = sumOf([...kept], (i) => (place.odds[i] > 0 ? 0 : after(i)));
    const lost = sumOf(order, (i) => (kept.has(i) ? 0 : place.odds[i]));
    message.textContent = `${kept.size} of ${size} words are left; before the cut they had ${percent(mass)} together.
      A word that the grammar never says here is drawn with ${percent(wrong)};
      words that it says with ${percent(lost)} can no longer come. Dotted marks: the grammar's own odds.`;
  }

  el.append(
    element("style", {}, STYLE),
    element("div", { className: "controls" }, element("label", { className: "wide" }, "after", picker)),
    beginning, knobs, bars, message,
  );
  update();
}

export default { render };
