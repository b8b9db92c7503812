// Keep the top rows of a digit, draw the rest pixel by pixel; beside it the bits of every pixel.
import { element } from "./element.js";

const SIDE = 8;
const STYLE = `
  .course-figure .raster { display: grid; grid-template-columns: repeat(8, 1fr); width: 16rem; max-width: 84vw; aspect-ratio: 1; border: 1px solid var(--muted); }
  .course-figure .raster > div { display: flex; align-items: center; justify-content: center; font-size: 0.68rem; font-variant-numeric: tabular-nums; min-width: 0; }
  .course-figure .raster .hidden { background: repeating-linear-gradient(45deg, transparent 0 4px, var(--line) 4px 5px); }
  .course-figure .raster .edge { border-bottom: 2px solid rgb(var(--alarm)); }
  .course-figure .raster .newest { outline: 2px solid rgb(var(--alarm)); outline-offset: -2px; }
  .course-figure .panel-title { margin: 0 0 0.3rem; }
  .course-figure select { font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 4px; padding: 0.2rem; max-width: 100%; }
  .course-figure select option { color: black; background: white; }
  .course-figure select:focus-visible { outline: 2px solid rgb(var(--heat)); outline-offset: 2px; }
  .course-figure input[type="range"] { width: 12rem; max-width: 50vw; }`;

function picture() {
  const node = element("div", { className: "raster" });
  node.setAttribute("role", "img");
  return node;
}

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

function render({ model, el }) {
  const data = model.get("data");
  const digits = element("select", {}, ...data.digits.map(({ label }, i) => element("option", { value: i }, `a ${label}`)));
  const rows = element("select", {}, ...data.rows.map((n, i) => element("option", { value: i, selected: n === 4 }, `${n} of ${SIDE}`)));
  const nSamples = data.digits[0].made[0].length;
  const samples = element("select", {}, element("option", { value: -1 }, "the true image"),
    ...Array.from({ length: nSamples }, (_, i) => element("option", { value: i, selected: i === 0 }, `completion ${i + 1}`)));
  const next = element("button", { type: "button" }, "next completion");
  const shown = element("input", { type: "range", min: 0, max: SIDE * SIDE, step: 1, value: SIDE * SIDE });
  const step = element("button", { type: "button" }, "one pixel more");
  const image = picture();
  const heat = picture();
  const message = element("p", { className: "message" });
  message.setAttribute("role", "status");

  function update() {
    const digit = data.digits[Number(digits.value)];
    const kept = data.rows[Number(rows.value)] * SIDE;
    const made = Number(samples.value) < 0 ? digit.truth : digit.made[Number(rows.value)][Number(samples.value)];
    shown.min = kept;
    const n = Number(shown.value);
    const cells = [];
    const costs = [];
    for (let place = 0; place < SIDE * SIDE; place += 1) {
      const classes = [];
      if (place >= kept - SIDE && place < kept) classes.push("edge");
      if (place === n - 1 && n > kept && n < SIDE * SIDE) classes.push("newest");
      const cell = element("div");
      const cost = element("div");
      if (place < n) {
        const grey = Math.round(255 * (1 - data.greys[Number(made.pixels[place])]));
        cell.style.backgroundColor = `rgb(${grey}, ${grey}, ${grey})`;
        const bits = made.bits[place];
        cost.style.backgroundColor = `rgba(var(--alarm), ${Math.min(0.75, bits / 6).toFixed(2)})`;
        cost.textContent = bits.toFixed(1);
      } else {
        classes.push("hidden");
        cost.classList.add("hidden");
      }
      cell.classList.add(...classes);
      cost.classList.add(...classes.filter((c) => c !== "hidden"));
      cells.push(cell);
      costs.push(cost);
    }
    image.replaceChildren(...cells);
    heat.replaceChildren(...costs);
    const truth = Number(samples.value) < 0;
    const name = truth ? "the true image" : `completion ${Number(samples.value) + 1}`;
    image.setAttribute("aria-label", `a handwritten ${digit.label}, ${name}, ${n} of 64 pixels shown`);
    const above = sum(made.bits.slice(0, kept));
    const below = sum(made.bits.slice(kept, n));
    heat.setAttribute("aria-label", `bits per pixel: ${above.toFixed(0)} in the kept rows, ${below.toFixed(0)} in the shown pixels below`);
    const trueBelow = sum(digit.truth.bits.slice(kept));
    message.textContent = `The ${kept} kept pixels of this ${digit.label} cost ${above.toFixed(0)} bits. `
      + `Below the line, ${n - kept} of ${SIDE * SIDE - kept} pixels are shown; they cost ${below.toFixed(0)} bits. `
      + (truth ? "This is what the hand wrote." : `What the hand wrote there costs ${trueBelow.toFixed(0)}.`);
  }
  for (const control of [digits, rows, samples]) {
    control.addEventListener("change", () => {
      shown.min = 0;
      shown.value = SIDE * SIDE;
      update();
    });
  }
  shown.addEventListener("input", update);
  next.addEventListener("click", () => {
    samples.value = (Number(samples.value) + 1) % nSamples;
    update();
  });
  step.addEventListener("click", () => {
    const n = Number(shown.value);
    shown.value = n >= SIDE * SIDE ? shown.min : n + 1;
    update();
  });

  el.append(
    element("style", {}, STYLE),
    element("div", { className: "controls" },
      element("label", {}, "digit", digits),
      element("label", {}, "rows kept", rows),
      element("label", {}, "below it", samples), next),
    element("div", { className: "controls" },
      element("label", {}, "pixels shown", shown), step),
    element("div", { className: "panels" },
      element("div", {}, element("p", { className: "panel-title" }, "the image"), image),
      element("div", {}, element("p", { className: "panel-title" }, "what each pixel cost, in bits"), heat)),
    message,
  );
  update();
}

export default { render };
