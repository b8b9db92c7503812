// A batch of tokens that can be edited; LayerNorm and BatchNorm of it, side by side.
import { element } from "./element.js";

const EPS = 1e-5;
const STYLE = `
  .course-figure .batch input[type="number"] { width: 3.9em; box-sizing: border-box; }
  .course-figure .batch td { padding: 0.2rem; }
  .course-figure .norms td.cell { min-width: 3.4em; padding: 0.3rem 0.4rem; }
  .course-figure .norms th, .course-figure .batch th { padding: 0.3rem 0.4rem 0.3rem 0; text-align: left; white-space: nowrap; }
  .course-figure .norms tr.watched th, .course-figure .batch tr.watched th { font-weight: 600; }
  .course-figure .norms tr.watched td.cell { border: 2px solid var(--ink); }
  .course-figure tr.out { opacity: 0.45; }
  .course-figure .norms .stat { font-size: 0.85em; color: var(--muted); min-width: 0; }
  .course-figure .slide { flex-wrap: wrap; }`;

const mean = (numbers) => numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
const deviation = (numbers) => Math.sqrt(mean(numbers.map((x) => (x - mean(numbers)) ** 2)));
const transposed = (table) => table[0].map((_, j) => table.map((row) => row[j]));

function normalised(numbers) {
  const centre = mean(numbers);
  const spread = Math.sqrt(deviation(numbers) ** 2 + EPS);
  return numbers.map((x) => (x - centre) / spread);
}

const layerNorm = (rows) => rows.map(normalised); // every row by itself
const batchNorm = (rows) => transposed(transposed(rows).map(normalised)); // every column by itself

const show = (x) => (Math.abs(x) < 0.005 ? "0.00" : x.toFixed(2).replace("-", "\u2212"));

function farthest(now, before) {
  return Math.max(...now.map((x, j) => Math.abs(x - before[j])));
}

function explain(rows, before) {
  const layer = layerNorm(rows)[0];
  const batch = batchNorm(rows)[0];
  const moved = { layer: farthest(layer, before.layer), batch: farthest(batch, before.batch) };
  const edited = moved.layer >= 0.005 ? " (its own numbers were edited)" : "";
  const first = `Token 1, compared with the start: LayerNorm has moved it by up to ${show(moved.layer)}${edited},
    BatchNorm by up to ${show(moved.batch)}.`;
  if (rows.length === 1)
    return `${first} In a batch of one every feature is its own mean: BatchNorm makes zeros of whatever comes in.`;
  const columns = transposed(batchNorm(rows).slice(0, -1));
  const crowded = rows.length > 2 && columns.every((column) => Math.max(...column) - Math.min(...column) < 0.6);
  if (crowded)
    return `${first} The last token is an outlier: it fills the variance of every feature, and BatchNorm squeezes the
      others together until they can hardly be told apart. LayerNorm asks nobody else.`;
  return first;
}

function render({ model, el }) {
  const start = model.get("data").rows;
  const before = { layer: layerNorm(start)[0], batch: batchNorm(start)[0] };
  let rows, size, factor;
  reset();

  function reset() {
    rows = structuredClone(start);
    size = start.length;
    factor = 1;
  }

  // The tokens in the batch; the last one is multiplied by the factor.
  const batch = () => rows.slice(0, size).map((row, i) => (i === rows.length - 1 ? row.map((x) => x * factor) : row));

  const editors = start.map((row, i) => row.map((_, j) => {
    const label = `token ${i + 1}, feature ${j + 1}`;
    const input = element("input", { type: "number", step: 10, label });
    input.addEventListener("input", () => {
      if (input.value === "" || !Number.isFinite(Number(input.value))) return; // still being typed
      rows[i][j] = Number(input.value);
      update(input);
    });
    return input;
  }));
  const lines = editors.map((line, i) => element("tr", { className: i === 0 ? "watched" : "" },
    element("th", { scope: "row" }, `token ${i + 1}`), ...line.map((input) => element("td", {}, input))));
  const table = element("table", { className: "batch" },
    element("caption", {}, "the batch (edit any number)"), ...lines);

  const sizes = element("input", { type: "range", min: 1, max: start.length, step: 1 });
  const sizeText = element("output");
  sizes.addEventListener("input", () => ((size = Number(sizes.value)), update()));
  const factors = element("input", { type: "range", min: 0, max: 2, step: 0.1 });
  const factorText = element("output");
  factors.addEventListener("input", () => ((factor = 10 ** Number(factors.value)), update()));

  const preset = (text, change) => {
    const button = element("button", { type: "button" }, text);
    button.addEventListener("click", () => (change(), update()));
    return button;
  };
  const layer = element("table", { className: "norms layer" });
  const columns = element("table", { className: "norms columns" });
  const message = element("p", { className: "message" });
  message.setAttribute("role", "status");

  function cell(x) {
    const node = element("td", { className: "cell" }, show(x));
    const colour = x < 0 ? "--alarm" : "--heat";
    node.style.backgroundColor = `rgba(var(${colour}), ${Math.min(0.55, 0.3 * Math.abs(x))})`;
    return node;
  }
  const stat = (...lines_) => {
    const node = element("td", { className: "stat" });
    lines_.forEach((text, i) => node.append(...(i ? [element("br")] : []), text));
    return node;
  };
  const line = (row, i, ...more) => element("tr", { className: i === 0 ? "watched" : "" },
    element("th", { scope: "row" }, `token ${i + 1}`), ...row.map(cell), ...more);

  function update(typing) {
    editors.forEach((row, i) => row.forEach((input, j) => {
      if (input !== typing) input.value = rows[i][j];
      input.disabled = i >= size;
    }));
    lines.forEach((node, i) => node.classList.toggle("out", i >= size));
    sizes.value = size;
    sizeText.textContent = size;
    factors.value = Math.log10(factor);
    factors.disabled = size < rows.length;
    factorText.textContent = factor < 10 ? factor.toFixed(1) : factor.toFixed(0);
    const now = batch();
    layer.replaceChildren(element("caption", {}, "LayerNorm: each row by its own mean and deviation"),
      ...layerNorm(now).map((row, i) => line(row, i, stat(`mean ${mean(now[i]).toFixed(0)}`, `dev. ${deviation(now[i]).toFixed(0)}`))));
    const feature = transposed(now);
    columns.replaceChildren(element("caption", {}, "BatchNorm: each column by its own mean and deviation"),
      ...batchNorm(now).map((row, i) => line(row, i)),
      element("tr", {}, element("th", { className: "stat", scope: "row" }, "mean"), ...feature.map((c) => stat(mean(c).toFixed(0)))),
      element("tr", {}, element("th", { className: "stat", scope: "row" }, "dev."), ...feature.map((c) => stat(deviation(c).toFixed(0)))));
    message.textContent = explain(now, before);
  }

  el.append(
    element("style", {}, STYLE),
    element("div", { className: "controls" },
      element("label", { className: "slide" }, "tokens in the batch", sizes, sizeText),
      element("label", { className: "slide" }, `token ${start.length} times`, factors, factorText)),
    element("div", { className: "controls" },
      preset("one outlier", () => (reset(), (factor = 100))),
      preset("batch of one", () => (reset(), (size = 1))),
      preset("start again", reset)),
    element("div", { className: "panels" }, table, layer, columns),
    message,
  );
  update();
}

export default { render };
