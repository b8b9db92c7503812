// Training with and without the causal mask: watch the loss, then read what the model writes.
import { element } from "./element.js";

const STYLE = `
  .course-figure .pick { max-width: 100%; }
  .course-figure select { font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 4px; padding: 0.2rem; max-width: 100%; min-width: 0; }
  .course-figure select option { color: black; background: white; }
  .course-figure select:focus-visible { outline: 2px solid rgb(var(--heat)); outline-offset: 2px; }
  .course-figure .time { flex: 1 1 16rem; min-width: 0; }
  .course-figure .time input { flex: 1 1 8rem; min-width: 0; }
  .course-figure .time output { min-width: 3em; text-align: right; font-variant-numeric: tabular-nums; }
  .course-figure svg { display: block; width: 100%; max-width: 40rem; height: auto; margin-bottom: 0.6rem; }
  .course-figure svg text { fill: var(--muted); font-size: 13px; }
  .course-figure svg .frame { stroke: var(--line); stroke-width: 1; }
  .course-figure svg .curve { fill: none; stroke: var(--muted); stroke-width: 1.5; }
  .course-figure svg .curve.chosen { stroke: rgb(var(--heat)); stroke-width: 3; }
  .course-figure svg .curve.without { stroke-dasharray: 6 4; }
  .course-figure svg circle { fill: rgb(var(--alarm)); stroke: var(--ink); }
  .course-figure .texts { display: grid; grid-template-columns: max-content 1fr; gap: 0.3rem 0.8rem; margin: 0.8rem 0 0; max-width: 40rem; }
  .course-figure .texts dt { color: var(--muted); font-weight: normal; margin: 0; }
  .course-figure .texts dd { margin: 0; overflow-wrap: anywhere; }
  .course-figure .texts .wrong { text-decoration: underline wavy rgb(var(--alarm)); background: rgba(var(--alarm), 0.2); }
  @media (max-width: 500px) { .course-figure svg text { font-size: 20px; } }`;

const WIDTH = 600, HEIGHT = 230, LEFT = 52, RIGHT = 10, TOP = 26, BOTTOM = 42;

function drawn(tag, attributes, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

function render({ model: widget, el }) {
  const data = widget.get("data");
  const group = "mask-" + Math.random().toString(36).slice(2); // radio buttons need a name of their own
  const kinds = Object.keys(data.runs);
  const every = kinds.flatMap((kind) => data.runs[kind].loss);
  const last = Math.max(...every.map(([step]) => step));
  const low = Math.log10(Math.min(...every.map(([, loss]) => loss))), high = Math.log10(Math.max(...every.map(([, loss]) => loss)));
  const x = (step) => LEFT + (step / last) * (WIDTH - LEFT - RIGHT);
  const y = (loss) => TOP + ((high - Math.log10(loss)) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  let kind = kinds[0];
  let at = 0;
  let sentence = 0;

  const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "training loss against steps, on a logarithmic axis" });
  svg.append(drawn("line", { class: "frame", x1: LEFT, x2: LEFT, y1: TOP, y2: HEIGHT - BOTTOM }));
  svg.append(drawn("line", { class: "frame", x1: LEFT, x2: WIDTH - RIGHT, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM }));
  for (let power = Math.ceil(low); power <= high; power += 1) {
    svg.append(drawn("text", { x: LEFT - 6, y: y(10 ** power) + 4, "text-anchor": "end" }, String(10 ** power)));
    svg.append(drawn("line", { class: "frame", x1: LEFT, x2: WIDTH - RIGHT, y1: y(10 ** power), y2: y(10 ** power), "stroke-dasharray": "2 4" }));
  }
  for (let step = 0; step <= last; step += 100) {
    svg.append(drawn("text", { x: x(step), y: HEIGHT - BOTTOM + 18, "text-anchor": step === last ? "end" : "middle" }, String(step)));
  }
  svg.append(drawn("text", { x: WIDTH - RIGHT, y: HEIGHT - 4, "text-anchor": "end" }, "step"), drawn("text", { x: 2, y: 15 }, "training loss"));
  const curves = Object.fromEntries(kinds.map((name) => [name,
    drawn("polyline", { points: data.runs[name].loss.map(([step, loss]) => `${x(step).toFixed(1)},${y(loss).toFixed(1)}`).join(" ") })]));
  const dot = drawn("circle", { r: 6 });
  svg.append(...Object.values(curves), dot);

  const choices = kinds.map((name) => {
    const radio = element("input", { type: "radio", name: group, checked: name === kind });
    radio.addEventListener("change", () => {
      const step = data.runs[kind].notes[at].step;
      kind = name;
      const steps = data.runs[kind].notes.map((note) => Math.abs(note.step - step));
      at = steps.indexOf(Math.min(...steps)); // the moment nearest to the one shown
      update();
    });
    return element("label", {}, radio, `${data.names[name]} (${name === "with" ? "solid" : "dashed"})`);
  });
  const slider = element("input", { type: "range", min: 0, step: 1 });
  slider.addEventListener("input", () => ((at = Number(slider.value)), update()));
  const shownStep = element("output");
  const picker = element("select", {}, ...data.sentences.map((one, i) => element("option", { value: i }, one.french)));
  picker.addEventListener("change", () => ((sentence = Number(picker.value)), update()));
  const texts = element("dl", { className: "texts" });
  const message = element("p", { className: "message" });
  message.setAttribute("role", "status");

  function lossAt(step) {
    const known = data.runs[kind].loss.filter(([s]) => s <= step);
    return known[known.length - 1][1];
  }

  function update() {
    const notes = data.runs[kind].notes;
    const note = notes[at];
    const truth = data.sentences[sentence].english;
    slider.max = notes.length - 1;
    slider.value = at;
    slider.setAttribute("aria-valuetext", `step ${note.step}`);
    shownStep.textContent = note.step;
    for (const name of kinds) curves[name].setAttribute("class", `curve ${name}${name === kind ? " chosen" : ""}`);
    const loss = lossAt(note.step);
    dot.setAttribute("cx", x(note.step));
    dot.setAttribute("cy", y(loss));
    const words = note.written[sentence] === "" ? [] : note.written[sentence].split(" ");
    const right = words.join(" ") === truth.join(" ");
    const spans = words.flatMap((word, i) => [element("span", { className: word === truth[i] ? "" : "wrong" }, word), " "]);
    texts.replaceChildren(
      element("dt", {}, "French"), element("dd", {}, data.sentences[sentence].french),
      element("dt", {}, "right"), element("dd", {}, truth.join(" ")),
      element("dt", {}, "written"), element("dd", {}, `${right ? "✓" : "✗"} `, ...(words.length ? spans : ["(nothing: the first word was the end)"])));
    message.textContent = `After ${note.step} steps ${data.names[kind]}: loss ${loss < 0.01 ? loss.toExponential(0) : loss.toFixed(2)}, `
      + `${(100 * note.right).toFixed(0)} % of new sentences written right.`;
  }

  el.append(
    element("style", {}, STYLE),
    element("div", { className: "controls" }, element("fieldset", {}, element("legend", {}, "trained"), ...choices)),
    element("div", { className: "controls" }, element("label", { className: "time" }, "step", slider, shownStep)),
    svg,
    element("div", { className: "controls" }, element("label", { className: "pick" }, "sentence", picker)),
    texts,
    message,
  );
  update();
}

export default { render };
