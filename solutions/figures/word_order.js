// Move words about: attention's outputs go along unchanged, a recurrence's do not.
import { element } from "./element.js";

const LAYERS = ["self-attention", "a recurrence"];
const STYLE = `
  .course-figure .words { list-style: none; margin: 0 0 0.8rem; padding: 0; max-width: 40rem; }
  .course-figure .words li { display: grid; grid-template-columns: 1.2em auto 3.2em 1fr 7.5em; gap: 0.5rem; align-items: center; margin: 0 0 0.35rem; padding: 0.25rem 0.5rem; border: 1px solid var(--line); border-radius: 6px; cursor: grab; font-family: inherit; font-variant-numeric: tabular-nums; }
  .course-figure .words li.over { border-color: rgb(var(--heat)); border-style: dashed; }
  .course-figure .words li.lifted { opacity: 0.5; }
  .course-figure .words .place { color: var(--muted); }
  .course-figure .words button { padding: 0 0.45rem; min-width: 2em; min-height: 2em; }
  .course-figure .words button:disabled { opacity: 0.35; cursor: default; }
  .course-figure .words .word { font-weight: 600; }
  .course-figure .words .changed { background: rgba(var(--alarm), 0.25); border-radius: 3px; padding: 0 0.25em; }
  .course-figure .buttons { display: flex; gap: 0.2rem; }
  .course-figure .words li * { font-family: inherit; }
  .course-figure .weights tbody td { min-width: 3.4em; border: 1px solid var(--line); }
  @media (max-width: 520px) {
    .course-figure .words li { grid-template-columns: 1em auto 1fr; }
    .course-figure .words .numbers, .course-figure .words .verdict { grid-column: 1 / -1; }
    .course-figure .weights :is(td, th) { padding: 0.2rem 0.3rem; min-width: 0; }
  }`;

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

function softmax(scores) {
  const top = Math.max(...scores);
  const powers = scores.map((s) => Math.exp(s - top));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((p) => p / sum);
}

const weightsOf = (x) => x.map((word) => softmax(x.map((other) => dot(word, other))));
const average = (weights, x) => x[0].map((_, c) => dot(weights, x.map((row) => row[c])));
const times = (row, matrix) => matrix[0].map((_, c) => dot(row, matrix.map((r) => r[c])));

function recur(x, { read, carry }) {
  let state = x[0].map(() => 0);
  return x.map((word) => {
    const [now, before] = [times(word, read), times(state, carry)];
    state = now.map((value, c) => Math.tanh(value + before[c]));
    return state;
  });
}

function render({ model, el }) {
  const data = model.get("data");
  const start = data.words.map((_, i) => i);
  const group = "order-" + Math.random().toString(36).slice(2); // radio buttons need a name of their own
  let order = [...start], layer = LAYERS[0], lifted = null;

  // The outputs by word, whatever place it stands at.
  function outputsOf(places) {
    const x = places.map((i) => data.vectors[i]);
    const outputs = layer === LAYERS[0] ? weightsOf(x).map((w) => average(w, x)) : recur(x, data);
    return new Map(places.map((word, place) => [word, outputs[place]]));
  }

  const choices = LAYERS.map((name) => {
    const radio = element("input", { type: "radio", name: group, checked: name === layer });
    radio.addEventListener("change", () => ((layer = name), update()));
    return element("label", {}, radio, name);
  });
  const button = (text, action) => {
    const made = element("button", { type: "button" }, text);
    made.addEventListener("click", action);
    return made;
  };
  const list = element("ol", { className: "words" });
  list.setAttribute("aria-label", "the words in their order, each with its output");
  const table = element("div");
  const message = element("p", { className: "message" });
  message.setAttribute("role", "status");

  function move(from, to, focus) {
    const [word] = order.splice(from, 1);
    order.splice(to, 0, word);
    update();
    if (!focus) return;
    const found = [...list.children[to].querySelectorAll("button")];
    const wanted = found.find((b) => b.dataset.way === focus);
    (wanted.disabled ? found.find((b) => !b.disabled) : wanted).focus();
  }

  function mover(place, by, sign, way) {
    const made = button(sign, () => move(place, place + by, way));
    made.dataset.way = way;
    made.disabled = place + by < 0 || place + by >= order.length;
    made.setAttribute("aria-label", `move ${data.words[order[place]]} ${way}`);
    return made;
  }

  function item(word, place, output, change) {
    const changed = change > 5e-4;
    const made = element("li", { draggable: true },
      element("span", { className: "place" }, `${place + 1}`),
      element("span", { className: "buttons" }, mover(place, -1, "↑", "up"), mover(place, 1, "↓", "down")),
      element("span", { className: "word" }, data.words[word]),
      element("span", { className: "numbers" }, `[${output.map((v) => v.toFixed(3)).join(", ")}]`),
      element("span", { className: changed ? "verdict changed" : "verdict" },
        changed ? `✗ moved ${change.toFixed(3)}` : "✓ unchanged"));
    made.addEventListener("dragstart", (event) => {
      lifted = place;
      made.classList.add("lifted");
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", data.words[word]);
    });
    made.addEventListener("dragend", () => ((lifted = null), update()));
    made.addEventListener("dragover", (event) => {
      if (lifted === null) return;
      event.preventDefault();
      made.classList.add("over");
    });
    made.addEventListener("dragleave", () => made.classList.remove("over"));
    made.addEventListener("drop", (event) => {
      event.preventDefault();
      if (lifted !== null && lifted !== place) move(lifted, place);
    });
    return made;
  }

  function weightTable() {
    if (layer !== LAYERS[0]) return [];
    const names = order.map((i) => data.words[i]);
    const weights = weightsOf(order.map((i) => data.vectors[i]));
    const head = element("tr", {}, element("td"), ...names.map((name) => element("th", { scope: "col" }, name)));
    const rows = weights.map((row, place) => element("tr", {}, element("th", { scope: "row" }, names[place]),
      ...row.map((weight) => {
        const cell = element("td", {}, weight.toFixed(2));
        cell.style.background = `rgba(var(--heat), ${(0.75 * weight).toFixed(3)})`;
        return cell;
      })));
    return [element("table", { className: "weights" },
      element("caption", {}, "weights: rows look, columns are looked at"),
      element("thead", {}, head), element("tbody", {}, ...rows))];
  }

  function update() {
    const before = outputsOf(start), now = outputsOf(order);
    const change = (word) => Math.max(...now.get(word).map((v, c) => Math.abs(v - before.get(word)[c])));
    const most = Math.max(...order.map(change));
    const same = order.every((word, place) => word === place);
    list.replaceChildren(...order.map((word, place) => item(word, place, now.get(word), change(word))));
    table.replaceChildren(...weightTable());
    const sentence = `“${order.map((i) => data.words[i]).join(" ")}”, ${layer}: `;
    message.textContent = sentence + (
      same ? "the original order. Move a word." :
      most < 5e-4 ? "every word kept its output and took it along; the table holds the same numbers, its rows and columns reordered. The layer cannot tell the two sentences apart." :
      `outputs moved by up to ${most.toFixed(3)}: what a word gets depends on what was read before it.`);
  }

  el.append(
    element("style", {}, STYLE),
    element("div", { className: "controls" },
      element("fieldset", {}, element("legend", {}, "layer"), ...choices),
      button("reverse", () => ((order = order.reverse()), update())),
      button("original order", () => ((order = [...start]), update()))),
    list, table, message,
  );
  update();
}

export default { render };
