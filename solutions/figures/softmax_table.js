// A table of scores that can be edited, its softmax in float32, and every sum.
import { element } from "./element.js";

const f32 = Math.fround;
const AXES = { row: "each row", column: "each column", table: "the whole table" };

// float32's exponential: round the argument and the result, as a tensor would hold them.
const exp = (x) => f32(Math.exp(f32(x)));
const total = (numbers) => numbers.reduce((sum, x) => f32(sum + x), 0);

// Softmax over one group of cells; returns also the exponentials, to explain what broke.
function softmax(numbers, subtractMax) {
  const shift = subtractMax ? Math.max(...numbers) : 0;
  const exponentials = numbers.map((x) => exp(f32(x - shift)));
  const sum = total(exponentials);
  return { exponentials, sum, weights: exponentials.map((e) => f32(e / sum)) };
}

// The cells [i, j] that share one softmax.
function groups(rows, columns, axis) {
  const all = rows.flatMap((i) => columns.map((j) => [i, j]));
  if (axis === "row") return rows.map((i) => all.filter((cell) => cell[0] === i));
  if (axis === "column") return columns.map((j) => all.filter((cell) => cell[1] === j));
  return [all];
}

function tableSoftmax(scores, axis, subtractMax) {
  const result = scores.map((row) => row.map(() => 0));
  const broken = [];
  for (const cells of groups([...scores.keys()], [...scores[0].keys()], axis)) {
    const numbers = cells.map(([i, j]) => f32(scores[i][j]));
    const { exponentials, sum, weights } = softmax(numbers, subtractMax);
    cells.forEach(([i, j], n) => (result[i][j] = weights[n]));
    if (!Number.isFinite(sum) || sum === 0) broken.push({ numbers, exponentials, sum });
  }
  return { result, broken };
}

function show(x, digits = 3) {
  if (Number.isNaN(x)) return "NaN";
  return Number.isFinite(x) ? x.toFixed(digits) : x < 0 ? "-inf" : "inf";
}

function explain(broken, result, subtractMax) {
  if (broken.length) {
    const { numbers, exponentials, sum } = broken[0];
    const large = exponentials.findIndex((e) => e === Infinity);
    if (large >= 0)
      return `exp(${numbers[large]}) is larger than any float32 number (about 3.4e38, reached near
        exp(88.7)), so it becomes inf; the sum is inf, and inf / inf is NaN. Its neighbours are
        divided by inf and become 0.`;
    if (sum === Infinity)
      return "Each exponential still fits into float32, but their sum does not: it is inf, and every weight becomes 0.";
    return `Every exponential is too small for float32 and becomes 0 (exp(${numbers[0]}) = 0), so the
      sum is 0, and 0 / 0 is NaN.`;
  }
  const zero = result.flat().some((x) => x === 0);
  if (subtractMax)
    return (
      "The largest score becomes 0 before the exponential, so nothing can overflow" +
      (zero ? "; weights too small for float32 become exactly 0." : ".")
    );
  return "All exponentials fit into float32: with or without the subtraction the weights are the same, up to rounding.";
}

function render({ model, el }) {
  const start = model.get("data").scores;
  let scores = structuredClone(start);
  let axis = "row";
  const group = "axis-" + Math.random().toString(36).slice(2); // radio buttons need a name of their own

  const choices = Object.entries(AXES).map(([value, text]) => {
    const radio = element("input", { type: "radio", name: group, value, checked: value === axis });
    radio.addEventListener("change", () => ((axis = value), update()));
    return element("label", {}, radio, text);
  });
  const subtract = element("input", { type: "checkbox", checked: true });
  subtract.addEventListener("change", update);
  const preset = (text, change) => {
    const button = element("button", { type: "button" }, text);
    button.addEventListener("click", () => (change(), update()));
    return button;
  };

  const editors = start.map((row, i) =>
    row.map((_, j) => {
      const place = `score in row ${i + 1}, column ${j + 1}`;
      const number = element("input", { type: "number", step: 0.5, label: place, className: "score" });
      const slider = element("input", { type: "range", min: -10, max: 120, step: 0.5, label: place });
      for (const input of [number, slider])
        input.addEventListener("input", () => {
          if (input.value === "" || !Number.isFinite(Number(input.value))) return; // still being typed
          scores[i][j] = Number(input.value);
          update(input);
        });
      return { number, slider };
    }),
  );
  const input = element("table", { className: "scores" }, element("caption", {}, "scores"));
  for (const row of editors)
    input.append(element("tr", {}, ...row.map(({ number, slider }) =>
      element("td", { className: "cell edit" }, number, slider))));

  const output = element("table", { className: "weights" });
  const message = element("p", { className: "message" });
  message.setAttribute("role", "status");

  function update(typing) {
    editors.forEach((row, i) => row.forEach(({ number, slider }, j) => {
      if (number !== typing) number.value = scores[i][j];
      if (slider !== typing) slider.value = scores[i][j];
    }));
    const { result, broken } = tableSoftmax(scores, axis, subtract.checked);
    output.replaceChildren(element("caption", {}, `softmax over ${AXES[axis]}`));
    for (const row of result)
      output.append(element("tr", {}, ...row.map(weightCell), sumCell(total(row))));
    const columns = result[0].map((_, j) => total(result.map((row) => row[j])));
    output.append(element("tr", {}, ...columns.map(sumCell), element("td")));
    message.textContent = explain(broken, result, subtract.checked);
  }

  function weightCell(weight) {
    const cell = element("td", { className: "cell" }, show(weight));
    if (Number.isNaN(weight)) cell.classList.add("broken");
    else cell.style.backgroundColor = `rgba(var(--heat), ${0.6 * weight})`;
    return cell;
  }

  function sumCell(sum) {
    const cell = element("td", { className: "sum" }, "Σ " + show(sum, 2));
    if (Number.isNaN(sum)) cell.classList.add("broken");
    return cell;
  }

  el.append(
    element("style", {}, `.course-figure .edit { min-width: 0; padding: 0.35rem; }
      .course-figure .edit input { display: block; width: 5.2em; box-sizing: border-box; margin: 0.1rem 0; }`),
    element("div", { className: "controls" },
      element("fieldset", {}, element("legend", {}, "softmax over"), ...choices),
      element("label", {}, subtract, "subtract the maximum first")),
    element("div", { className: "controls" },
      preset("one cell to 1000", () => (scores[0][0] = 1000)),
      preset("all cells + 100", () => (scores = scores.map((row) => row.map((x) => x + 100)))),
      preset("start again", () => (scores = structuredClone(start)))),
    element("div", { className: "panels" }, input, output),
    message,
  );
  update();
}

export default { render };
