// Facts as cards with every head's attention; switch heads off and watch one answer fail.
import { element } from "./element.js";

const RELATIONS = ["colour", "owner"];
const STYLE = `
  .course-figure .cards { display: grid; gap: 0.6rem; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); list-style: none; margin: 0; padding: 0; }
  .course-figure .fact { border: 1px solid var(--line); border-radius: 6px; padding: 0.5rem 0.6rem; margin: 0; display: flex; flex-direction: column; }
  .course-figure .fact.asked { border-color: var(--ink); }
  .course-figure .asks { min-height: 1.4em; margin-bottom: auto; font-size: 0.85em; color: var(--muted); }
  .course-figure .swatch { display: inline-block; width: 0.9em; height: 0.9em; margin-right: 0.4em; vertical-align: -0.1em; border: 1px solid var(--muted); border-radius: 2px; }
  .course-figure .meter { display: grid; align-items: center; gap: 0.4rem; font-size: 0.85em; font-variant-numeric: tabular-nums; }
  .course-figure .fact .meter { grid-template-columns: max-content 1fr 2.2em; }
  .course-figure .meter span { white-space: nowrap; }
  .course-figure .rate { grid-template-columns: 3.8em minmax(6rem, 16rem) 4.6em; font-size: 1em; }
  .course-figure .track { position: relative; height: 0.7em; border: 1px solid var(--line); border-radius: 3px; }
  .course-figure .fill { height: 100%; border-radius: 2px; background: rgb(var(--heat)); }
  .course-figure .tick { position: absolute; top: -0.25em; bottom: -0.25em; border-left: 2px dotted var(--ink); }
  .course-figure .meter.off .name { text-decoration: line-through; color: var(--muted); }
  .course-figure .meter.off .fill { background: var(--line); }
  .course-figure .number { text-align: right; }
  .course-figure .pick { max-width: 100%; }
  .course-figure select { font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 4px; padding: 0.2rem; max-width: 100%; min-width: 0; }
  .course-figure select option { color: black; background: white; }
  .course-figure select:focus-visible { outline: 2px solid rgb(var(--heat)); outline-offset: 2px; }
  .course-figure .question { margin: 0 0 0.6rem; font-weight: 600; }
  .course-figure .panels .title { margin: 0.9rem 0 0.3rem; font-weight: 600; }
  .course-figure .panels p { margin: 0.15rem 0; }
  .course-figure .wrong { background: rgba(var(--alarm), 0.25); padding: 0 0.25em; border-radius: 3px; }`;

const percent = (x) => `${(100 * x).toFixed(1)}\u00a0%`;
const plural = (n) => (n === 1 ? "1 head" : `${n} heads`);

function bar(share, ...marks) {
  const fill = element("div", { className: "fill" });
  fill.style.width = `${100 * share}%`;
  const track = element("div", { className: "track" }, fill, ...marks);
  track.setAttribute("aria-hidden", "true"); // the number beside it says the same
  return track;
}

// The scores are a start plus one part from every head that is on.
function scoresOf(model, scene, on) {
  return model.base.map((start, i) =>
    model.parts[scene].reduce((sum, part, head) => sum + (on[head] ? part[i] : 0), start));
}

// The best scored name and its probability, by softmax.
function answerOf(scores, names) {
  const best = scores.indexOf(Math.max(...scores));
  const sum = scores.reduce((total, s) => total + Math.exp(s - scores[best]), 0);
  return { name: names[best], probability: 1 / sum };
}

function describe(on, rates, chance) {
  const used = on.flatMap((isOn, head) => (isOn ? [head + 1] : []));
  const guessing = `guessing: ${percent(chance.colour)} and ${percent(chance.owner)}`;
  const who =
    used.length === 0 ? "With no head on, every scene gets the same answer:" :
    used.length === on.length ? `With ${on.length === 1 ? "its one head" : "all heads on"},` :
    `With only ${used.length === 1 ? "head" : "heads"} ${used.join(", ").replace(/, (\d+)$/, " and $1")} on,`;
  return `${who} the colour is right in ${percent(rates.colour)} of the test scenes and the owner
    in ${percent(rates.owner)} (${guessing}).`;
}

function render({ model: widget, el }) {
  const data = widget.get("data");
  const group = "heads-" + Math.random().toString(36).slice(2); // radio buttons need a name of their own
  let model = data.models[Math.min(1, data.models.length - 1)];
  let on = Array(model.n_head).fill(true);
  let scene = 0;

  const choices = data.models.map((choice) => {
    const radio = element("input", { type: "radio", name: group, checked: choice === model });
    radio.addEventListener("change", () => {
      model = choice;
      on = Array(model.n_head).fill(true);
      switches();
      update();
    });
    return element("label", {}, radio, plural(choice.n_head));
  });
  const ask = ({ facts, colour, owner }) =>
    `What colour is the ${facts[colour].object}, and who owns the ${facts[owner].object}?`;
  const picker = element("select", {}, ...data.scenes.map((one, i) =>
    element("option", { value: i }, `${i + 1}: colour of the ${one.facts[one.colour].object}, owner of the ${one.facts[one.owner].object}`)));
  picker.addEventListener("change", () => ((scene = Number(picker.value)), update()));

  const headSwitches = element("fieldset");
  const question = element("p", { className: "question" });
  const cards = element("ul", { className: "cards" });
  const answers = element("div");
  const rates = element("div");
  const message = element("p", { className: "message" });
  message.setAttribute("role", "status");

  function switches() {
    headSwitches.replaceChildren(element("legend", {}, "switched on"), ...on.map((isOn, head) => {
      const box = element("input", { type: "checkbox", checked: isOn });
      box.addEventListener("change", () => ((on[head] = box.checked), update()));
      return element("label", {}, box, `head ${head + 1}`);
    }));
  }

  function card(fact, place, { colour, owner }) {
    const swatch = element("span", { className: "swatch" });
    swatch.style.background = fact.colour;
    const asks = place === colour ? "its colour is asked" : place === owner ? "its owner is asked" : "";
    const looks = on.map((isOn, head) => {
      const weight = model.weights[scene][head][place];
      return element("div", { className: isOn ? "meter" : "meter off" },
        element("span", { className: "name" }, `head ${head + 1}`),
        bar(weight),
        element("span", { className: "number" }, isOn ? weight.toFixed(2) : "off"));
    });
    return element("li", { className: asks ? "fact asked" : "fact" },
      element("div", {}, swatch, `${fact.owner}'s ${fact.colour} ${fact.object}`),
      element("div", { className: "asks" }, asks), ...looks);
  }

  function answerLine(relation, scores, names, truth) {
    const { name, probability } = answerOf(scores, names);
    const right = name === truth;
    return element("p", {}, `${relation}: `,
      element("span", { className: right ? "right" : "wrong" }, `${right ? "✓" : "✗"} ${name}`),
      ` (probability ${percent(probability)}${right ? "" : `; the truth is ${truth}`})`);
  }

  function rateLine(name, rate, chance) {
    const tick = element("div", { className: "tick" });
    tick.style.left = `${100 * chance}%`;
    return element("div", { className: "meter rate" }, element("span", {}, name), bar(rate, tick),
      element("span", { className: "number" }, percent(rate)));
  }

  function update() {
    const shown = data.scenes[scene];
    question.textContent = ask(shown);
    cards.replaceChildren(...shown.facts.map((fact, place) => card(fact, place, shown)));
    const scores = scoresOf(model, scene, on);
    const split = data.colours.length;
    answers.replaceChildren(element("p", { className: "title" }, "The answer"),
      answerLine("colour", scores.slice(0, split), data.colours, shown.facts[shown.colour].colour),
      answerLine("owner", scores.slice(split), data.owners, shown.facts[shown.owner].owner));
    const found = model.accuracy[on.map(Number).join("")];
    rates.replaceChildren(
      element("p", { className: "title" }, `Right in ${data.n_test} test scenes (dotted: guessing)`),
      ...[...RELATIONS, "both"].map((name) => rateLine(name, found[name], data.chance[name])));
    message.textContent = describe(on, found, data.chance);
  }

  el.append(
    element("style", {}, STYLE),
    element("div", { className: "controls" },
      element("fieldset", {}, element("legend", {}, "model with"), ...choices), headSwitches),
    element("div", { className: "controls" }, element("label", { className: "pick" }, "question", picker)),
    question, cards,
    element("div", { className: "panels" }, answers, rates),
    message,
  );
  switches();
  update();
}

export default { render };
