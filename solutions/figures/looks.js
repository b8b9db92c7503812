// One sentence, several encoders: which French word has the largest weight for each English word?
import { element } from "./element.js";

const STYLE = `
  .course-figure .pick { max-width: 100%; }
  .course-figure select { font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 4px; padding: 0.2rem; max-width: 100%; min-width: 0; }
  .course-figure select option { color: black; background: white; }
  .course-figure select:focus-visible { outline: 2px solid rgb(var(--heat)); outline-offset: 2px; }
  .course-figure .looks th, .course-figure .looks td { padding: 0; }
  .course-figure .looks thead th { vertical-align: bottom; text-align: center; }
  .course-figure .looks thead th span { writing-mode: vertical-rl; transform: rotate(180deg); padding: 0.3rem 0; }
  .course-figure .looks tbody th { text-align: right; padding-right: 0.4rem; white-space: nowrap; }
  .course-figure .looks tbody th button { border-color: transparent; padding: 0 0.3rem; }
  .course-figure .looks tbody th button[aria-pressed="true"] { border-color: var(--ink); }
  .course-figure .looks td { min-width: 1.7em; width: 2.1em; height: 1.7em; text-align: center; border: 1px solid var(--line); font-weight: 700; }
  .course-figure .looks td.true { outline: 2px dashed rgb(var(--alarm)); outline-offset: -3px; }
  .course-figure .looks td.sign { padding-left: 0.4rem; border: 0; min-width: 0; width: auto; }
  .course-figure .wide { overflow-x: auto; }
  @media (max-width: 480px) {
    .course-figure .looks { font-size: 0.85em; }
    .course-figure .looks td { min-width: 1.35em; width: 1.6em; }
    .course-figure .looks tbody th { padding-right: 0.1rem; }
  }
  .course-figure .key { color: var(--muted); font-size: 0.9em; margin: 0.5rem 0 0; }`;

const place = (row) => row.indexOf(Math.max(...row));

function render({ model: widget, el }) {
  const data = widget.get("data");
  const group = "looks-" + Math.random().toString(36).slice(2); // radio buttons need a name of their own
  const views = [...data.models, "the true alignment"];
  let view = 0;
  let shown = data.sentences[0];
  let chosen = null;

  const rows = () => (view < data.models.length ? shown.weights[view]
    : shown.truth.map((at) => shown.french.map((_, j) => Number(j === at))));

  const choices = views.map((name, i) => {
    const radio = element("input", { type: "radio", name: group, checked: i === view });
    radio.addEventListener("change", () => ((view = i), update()));
    return element("label", {}, radio, name);
  });
  const picker = element("select", {}, ...data.sentences.map((one, i) =>
    element("option", { value: i }, one.french.join(" "))));
  picker.addEventListener("change", () => {
    shown = data.sentences[Number(picker.value)];
    chosen = null;
    update();
  });

  const table = element("table", { className: "looks" });
  const message = element("p", { className: "message" });
  message.setAttribute("role", "status");

  function line(weights, i) {
    const best = place(weights);
    const right = best === shown.truth[i];
    const button = element("button", { type: "button" }, shown.english[i]);
    button.setAttribute("aria-pressed", String(chosen === i));
    button.addEventListener("click", () => {
      chosen = chosen === i ? null : i;
      update();
      table.querySelectorAll("button")[i].focus();
    });
    const head = element("th", { scope: "row" }, button);
    const cells = weights.map((weight, j) => {
      const cell = element("td", { className: j === shown.truth[i] ? "true" : "" }, j === best ? "×" : "");
      cell.style.background = `rgba(var(--heat), ${(0.9 * weight).toFixed(3)})`;
      cell.title = `${shown.english[i]}, ${shown.french[j]}: ${weight.toFixed(2)}`;
      return cell;
    });
    return element("tr", {}, head, ...cells, element("td", { className: "sign" }, right ? "✓" : "✗"));
  }

  function describe(weights) {
    if (chosen !== null) {
      const row = weights[chosen];
      const best = place(row), truth = shown.truth[chosen];
      const found = `“${shown.english[chosen]}” takes ${row[best].toFixed(2)} of its weight from “${shown.french[best]}”`;
      if (best === truth) return `${found}, the word it comes from.`;
      const side = best > truth ? "A later word: its state may have read the right one."
        : "An earlier word: read from left to right, its state cannot know the right one.";
      return `${found} and ${row[truth].toFixed(2)} from “${shown.french[truth]}”, the word it comes from. ${side}`;
    }
    const wrong = weights.flatMap((row, i) => (place(row) === shown.truth[i] ? [] : [place(row) - shown.truth[i]]));
    const later = wrong.filter((step) => step > 0).length;
    const count = `${weights.length - wrong.length} of ${weights.length} words have their largest weight on the word they come from.`;
    return wrong.length === 0 ? count
      : `${count} Of the other ${wrong.length}, ${later} look at a later word and ${wrong.length - later} at an earlier one. Choose a word to read its numbers.`;
  }

  function update() {
    const weights = rows();
    const heads = shown.french.map((word) => element("th", { scope: "col" }, element("span", {}, word)));
    table.replaceChildren(
      element("thead", {}, element("tr", {}, element("td", { className: "sign" }), ...heads)),
      element("tbody", {}, ...weights.map(line)));
    message.textContent = describe(weights);
  }

  el.append(
    element("style", {}, STYLE),
    element("div", { className: "controls" },
      element("fieldset", {}, element("legend", {}, "weights of"), ...choices)),
    element("div", { className: "controls" }, element("label", { className: "pick" }, "sentence", picker)),
    element("div", { className: "wide" }, table),
    element("p", { className: "key" }, "× largest weight of the row; dashed frame: the true word; ✓ or ✗: do they agree?"),
    message,
  );
  update();
}

export default { render };
