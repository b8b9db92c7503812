// One sentence through a whole block: a stage at a time, every number with the sum that makes it.
import { element } from "./element.js";

const STYLE = `
  .course-figure .walk { outline-offset: 4px; }
  .course-figure .walk:focus-visible { outline: 2px solid rgb(var(--heat)); }
  .course-figure .walk-bar { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; margin: 0 0 0.6rem; }
  .course-figure .walk button { min-height: 30px; }
  .course-figure .walk select { font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 4px; padding: 0.2rem; min-height: 30px; min-width: 0; max-width: 100%; }
  .course-figure .walk-stage { flex: 1 1 6rem; }
  .course-figure .walk select option { color: black; background: white; }
  .course-figure .walk select:focus-visible { outline: 2px solid rgb(var(--heat)); outline-offset: 2px; }
  .course-figure .walk input[type="range"] { width: 9rem; height: 24px; margin: 0; }
  .course-figure .walk input[type="radio"] { width: 16px; height: 16px; }
  .course-figure .walk label { min-height: 26px; }
  .course-figure .walk p { font-family: inherit; margin: 0 0 0.3rem; }
  .course-figure .walk .step { border-left: 3px solid var(--line); padding: 0.1rem 0 0.1rem 0.8rem; margin: 0 0 0.7rem; }
  .course-figure .walk .step > .name { color: var(--muted); font-size: 0.88em; margin: 0; }
  .course-figure .walk .step.happens { border-color: rgb(var(--heat)); }
  .course-figure .walk .sum { font-variant-numeric: tabular-nums; }
  .course-figure .walk .numbers { font-variant-numeric: tabular-nums; white-space: normal; }
  .course-figure .walk .scroll { overflow-x: auto; position: relative; }
  .course-figure .walk table { font-size: 0.82rem; }
  .course-figure .walk :is(td, th) { padding: 0.1rem 0.35rem; line-height: 1.5; white-space: nowrap; }
  .course-figure .walk tbody :is(td, th) { cursor: pointer; }
  .course-figure .walk th[scope="row"] { text-align: right; }
  .course-figure .walk thead th { color: var(--muted); vertical-align: bottom; }
  .course-figure .walk thead th.upright { writing-mode: vertical-rl; transform: rotate(180deg); text-align: left; padding: 0.3rem 0.1rem; height: 4.6em; margin: 0 auto; }
  .course-figure .walk tr.now th { font-weight: 700; }
  .course-figure .walk tr.now td { border-top: 1px solid var(--ink); border-bottom: 1px solid var(--ink); }
  .course-figure .walk .chosen { outline: 2px solid var(--ink); outline-offset: -2px; font-weight: 700; }
  .course-figure .walk td.masked { color: var(--muted); text-align: center; }
  .course-figure .walk .cells { display: grid; grid-template-columns: repeat(auto-fill, minmax(7em, 1fr)); gap: 2px; font-size: 0.82rem; font-variant-numeric: tabular-nums; }
  .course-figure .walk .cells > span { display: flex; justify-content: space-between; gap: 0.3em; padding: 0.05rem 0.3rem; cursor: pointer; line-height: 1.5; }
  .course-figure .walk .everywhere { margin-top: 0.6rem; font-variant-numeric: tabular-nums; }
  .course-figure .walk .everywhere span { white-space: nowrap; }
  .course-figure .walk .keys { color: var(--muted); font-size: 0.88em; margin: 0.2rem 0 0; }
  @media (max-width: 600px) {
    .course-figure .walk table { font-size: 0.7rem; }
    .course-figure .walk :is(td, th) { padding: 0.1rem 0.14rem; line-height: 1.7; }
    .course-figure .walk .step { padding-left: 0.5rem; }
    .course-figure .walk .step.out { padding-left: 0; border-left: 0; }
    .course-figure .walk .numbers { font-size: 0.75rem; }
    .course-figure .walk .cells { font-size: 0.75rem; }
  }`;
const WIDE = 13; // wider tables are shown for one token at a time

function show(x, digits = 2) {
  const text = Math.abs(x) >= 1000 ? Math.round(x).toLocaleString("en") : x.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text.replace("-", "\u2212");
}
const factor = (x) => (show(x).startsWith("\u2212") ? `(${show(x)})` : show(x));
const total = (numbers) => numbers.reduce((sum, x) => sum + x, 0);
const quoted = (word) => `\u201c${word}\u201d`;

function tableOf(data, out) {
  if (out.table === "ids") return data.ids.map((id) => [id]);
  return out.head === undefined ? data.tables[out.table] : data.tables[out.table][out.head];
}

function products(pairs) {
  return { text: pairs.map(([a, b]) => `${factor(a)}\u00b7${factor(b)}`).join(" + "), value: total(pairs.map(([a, b]) => a * b)) };
}

// How number c of token t is made at a stage: the sum in figures, and its value worked out here.
function worked(data, stage, out, t, c) {
  const word = (place) => quoted(data.words[data.ids[place]]);
  const first = stage.in.length ? data.tables[stage.in[0]] : null;
  const size = data.tables.query[0].length / data.n_head; // D
  switch (stage.by) {
    case "id":
      return { text: `${word(t)} is word ${data.ids[t]} of the list, counted from 0`, value: data.ids[t] };
    case "look":
      return { text: `number ${c + 1} of row ${data.ids[t]} of the table, the row of ${word(t)}`, value: data.tables.token[t][c] };
    case "add": {
      const [a, b] = stage.in.map((name) => data.tables[name][t][c]);
      return { text: `${show(a)} + ${factor(b)}`, value: a + b };
    }
    case "norm": {
      const row = first[t];
      const mean = total(row) / row.length;
      const variance = total(row.map((x) => (x - mean) ** 2)) / row.length;
      const { gain, bias } = data.norms[out.table];
      return {
        text: `(${show(row[c])} \u2212 ${factor(mean)}) \u00f7 ${show(Math.sqrt(variance + 1e-5))} \u00b7 gain ${factor(gain[c])} + bias ${factor(bias[c])}, where ${show(mean)} is the token\u2019s mean and ${show(Math.sqrt(variance + 1e-5))} its standard deviation`,
        value: ((row[c] - mean) / Math.sqrt(variance + 1e-5)) * gain[c] + bias[c],
      };
    }
    case "linear": {
      const { weight, bias } = data.matrices[stage.with ?? out.table];
      const terms = first[t].map((x, i) => [x, weight[c][i]]);
      const active = terms.filter(([x]) => x !== 0);
      const { text, value } = products(active);
      const left = active.length < terms.length ? ` (${terms.length - active.length} of the ${terms.length} numbers are 0 and add nothing)` : "";
      return { text: (bias ? `${text} + bias ${factor(bias[c])}` : text) + left, value: value + (bias ? bias[c] : 0) };
    }
    case "score": {
      if (c > t) return { text: `masked: ${word(c)} comes after ${word(t)}`, value: null };
      const mine = (name, place) => data.tables[name][place].slice(out.head * size, (out.head + 1) * size);
      const key = mine("key", c);
      const { text, value } = products(mine("query", t).map((x, i) => [x, key[i]]));
      return { text: `query of ${word(t)} \u00b7 key of ${word(c)} = (${text}) \u00f7 \u221a${size}`, value: value / Math.sqrt(size) };
    }
    case "softmax": {
      const row = tableOf(data, { table: stage.in[0], head: out.head })[t];
      if (row[c] === null) return { text: "masked before the softmax: e to the power of \u2212\u221e", value: 0 };
      const powers = row.filter((x) => x !== null).map(Math.exp);
      const all = powers.length > WIDE ? show(total(powers)) : `(${powers.map((x) => show(x)).join(" + ")})`;
      return {
        text: `e^${factor(row[c])} \u00f7 the sum of such powers over ${powers.length === 1 ? "one word" : `${powers.length} words`} = ${show(Math.exp(row[c]))} \u00f7 ${all}`,
        value: Math.exp(row[c]) / total(powers),
      };
    }
    case "mix": {
      const head = Math.floor(c / size);
      const { text, value } = products(data.tables.weights[head][t].slice(0, t + 1).map((w, s) => [w, data.tables.value[s][c]]));
      return { text: `head ${head + 1}, weight \u00b7 value for each word: ${text}`, value };
    }
    case "relu":
      return { text: `the larger of 0 and ${show(first[t][c])}`, value: Math.max(0, first[t][c]) };
  }
}

function render({ model: widget, el }) {
  const data = widget.get("data");
  const group = "walk-" + Math.random().toString(36).slice(2);
  const words = data.ids.map((id) => data.words[id]);
  const sizes = { T: words.length, V: data.words.length, C: data.tables.start[0].length, F: data.tables.up[0].length, D: data.tables.query[0].length / data.n_head };
  const filled = (text) => text.replace(/\{(\w)\}/g, (_, name) => sizes[name]);
  let at = 0, token = data.begin.token, part = 0;
  const picked = { word: 0, other: data.begin.number }; // which number is worked out: in lists of words by rank

  const stages = element("select", { className: "walk-stage" }, ...data.stages.map((stage, i) =>
    element("option", { value: i }, `${i + 1}. ${stage.title}`)));
  stages.ariaLabel = "stage";
  const tokens = element("select", {}, ...words.map((word, t) => element("option", { value: t }, `${t}: ${word}`)));
  const slider = element("input", { type: "range", min: 0, step: 1, id: group + "-number" });
  const which = element("output");
  which.setAttribute("for", slider.id);
  const parts = element("fieldset");
  const lesson = element("p");
  const [goesIn, happens, comesOut] = ["in", "happens", "out"].map((name) => element("div", { className: `step ${name}` }));
  const sum = element("p", { className: "sum" });
  sum.setAttribute("role", "status");
  const scroll = element("div", { className: "scroll" });

  // Words are shown best first; every other table in its own order.
  function orderOf(table, t) {
    const ids = [...table[t].keys()];
    return table[t].length === data.words.length ? ids.sort((a, b) => table[t][b] - table[t][a] || a - b) : ids;
  }
  const nameOf = (table, c) =>
    table[0].length === data.words.length ? quoted(data.words[c]) :
    table[0].length === words.length ? `word ${c}, ${quoted(words[c])}` : `number ${c + 1} of ${table[0].length}`;
  const kind = (table) => (table[0].length === data.words.length ? "word" : "other");
  const shape = (name) => {
    const table = name === "ids" ? data.ids : data.tables[name];
    const axes = [];
    for (let x = table; Array.isArray(x); x = x[0]) axes.push(x.length);
    return axes.join(" \u00d7 ");
  };

  function paint(node, x, most) {
    if (x !== null) node.style.background = `rgba(var(${x < 0 ? "--alarm" : "--heat"}), ${((0.5 * Math.abs(x)) / most).toFixed(3)})`;
  }
  function cellOf(tag, x, text, most, t, c, chosen) {
    const node = element(tag, { className: (x === null ? "masked" : "") + (chosen ? " chosen" : "") }, ...text);
    [node.dataset.token, node.dataset.number] = [t, c];
    paint(node, x, most);
    node.addEventListener("click", () => ((token = t), (picked[kind(table())] = orderOf(table(), t).indexOf(c)), draw())); // the controls do it by keyboard
    return node;
  }
  const table = () => tableOf(data, data.stages[at].out[part]);

  function wholeTable(numbers, c, integers) {
    const most = Math.max(...numbers.flat().map((x) => Math.abs(x ?? 0)));
    const square = numbers[0].length === words.length;
    const heads = numbers[0].map((_, i) =>
      element("th", { className: square ? "upright" : "", scope: "col" }, integers ? "id" : square ? words[i] : String(i + 1)));
    const rows = numbers.map((row, t) => {
      const head = element("th", { scope: "row" }, words[t]);
      head.addEventListener("click", () => ((token = t), draw()));
      return element("tr", { className: t === token ? "now" : "" }, head, ...row.map((x, i) =>
        cellOf("td", integers ? null : x, [x === null ? "\u00b7" : integers ? String(x) : show(x)], most, t, i, t === token && i === c)));
    });
    return element("table", {}, element("thead", {}, element("tr", {}, element("td"), ...heads)), element("tbody", {}, ...rows));
  }
  function oneToken(numbers, c, digits) {
    const most = Math.max(...numbers[token].map(Math.abs));
    return element("div", { className: "cells" }, ...orderOf(numbers, token).map((i) =>
      cellOf("span", numbers[token][i], [element("span", {}, numbers[0].length === data.words.length ? data.words[i] : String(i + 1)), element("span", { className: "x" }, show(numbers[token][i], digits))], most, token, i, i === c)));
  }

  // The whole point of the walk: what the model expects after every word of the sentence.
  function everywhere(odds) {
    const line = element("p", { className: "everywhere" }, "Likeliest next word after each word: ");
    words.forEach((word, t) => {
      const best = orderOf(odds, t)[0];
      line.append(element("span", {}, `${word} \u2192 ${data.words[best]} ${show(odds[t][best])}`), t < words.length - 1 ? ", " : ".");
    });
    return line;
  }

  function incoming(name) {
    const line = element("p", {}, `${data.names[name]} (${shape(name)})`);
    const rows = name === "ids" ? [[data.ids[token]]] : Array.isArray(data.tables[name][0][0])
      ? data.tables[name].map((head) => head[token].filter((x) => x !== null)) : [data.tables[name][token]];
    rows.forEach((row, head) => {
      if (row.length <= WIDE) line.append(`; ${quoted(words[token])}${rows.length > 1 ? `, head ${head + 1}` : ""}: `,
        element("span", { className: "numbers" }, row.map((x) => (name === "ids" ? String(x) : show(x))).join("\u2002")));
    });
    return line;
  }

  function draw() {
    const stage = data.stages[at];
    part = Math.min(part, stage.out.length - 1);
    const out = stage.out[part];
    const numbers = table();
    const number = Math.min(picked[kind(numbers)], numbers[0].length - 1);
    const c = orderOf(numbers, token)[number];
    stages.value = at;
    tokens.value = token;
    slider.max = numbers[0].length - 1;
    slider.value = number;
    which.textContent = nameOf(numbers, c);
    slider.setAttribute("aria-valuetext", which.textContent);
    lesson.replaceChildren(`Stage ${at + 1} of ${data.stages.length}, explained in `,
      element("a", { href: `${stage.lesson}.html` }, stage.title_of_lesson));
    goesIn.replaceChildren(element("p", { className: "name" }, "goes in"),
      ...(stage.in.length ? stage.in.map(incoming) : [element("p", {}, words.slice(1).join(" "))]));
    const { text, value } = worked(data, stage, out, token, c);
    const digits = out.table === "odds" ? 3 : 2; // odds differ in the third place
    const result = numbers[token][c] === null || out.table === "ids" ? "" : ` = ${show(value, digits)}`;
    const head = out.head === undefined ? "" : `, ${out.label}`;
    const what = `${quoted(words[token])}, ${data.names[out.table]}${head}, ${nameOf(numbers, c)}: `;
    sum.textContent = `${out.table === "ids" ? "" : what}${text}${result}.`;
    happens.replaceChildren(element("p", { className: "name" }, "what happens"), element("p", {}, filled(stage.does)), sum);
    scroll.replaceChildren(numbers[0].length > WIDE ? oneToken(numbers, c, digits) : wholeTable(numbers, c, out.table === "ids"));
    const one = numbers[0].length > WIDE ? `, shown for ${quoted(words[token])}` : "";
    comesOut.replaceChildren(element("p", { className: "name" }, `comes out: ${data.names[out.table]} (${shape(out.table)})${one}`), parts, scroll);
    if (out.table === "odds") comesOut.append(everywhere(numbers));
    parts.hidden = stage.out.length < 2;
    parts.replaceChildren(...(parts.hidden ? [] : stage.out.map((one, i) => {
      const radio = element("input", { type: "radio", name: group, checked: i === part });
      radio.addEventListener("change", () => {
        part = i;
        draw();
        parts.querySelectorAll("input")[i].focus();
      });
      return element("label", {}, radio, one.label);
    })));
    if (scroll.scrollWidth > scroll.clientWidth) scroll.tabIndex = 0; // what scrolls must be reachable
    else scroll.removeAttribute("tabindex");
  }

  function go(stage, row) {
    at = Math.max(0, Math.min(data.stages.length - 1, stage));
    token = Math.max(0, Math.min(words.length - 1, row));
    draw();
  }
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  function onKey(event) {
    const step = steps[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.matches("input, select, textarea")) return; // they have arrows of their own
    if (event.target === scroll && step[0]) return; // scrolls sideways
    event.preventDefault();
    go(at + step[0], token + step[1]);
  }
  stages.addEventListener("change", () => go(Number(stages.value), token));
  tokens.addEventListener("change", () => go(at, Number(tokens.value)));
  slider.addEventListener("input", () => ((picked[kind(table())] = Number(slider.value)), draw()));
  const button = (text, step) => {
    const node = element("button", { type: "button" }, text);
    node.addEventListener("click", () => go(at + step, token));
    return node;
  };
  const walk = element("div", { className: "walk", tabIndex: 0 },
    element("div", { className: "walk-bar" }, button("\u2190 back", -1), stages, button("next \u2192", 1)),
    lesson,
    element("div", { className: "walk-bar" },
      element("label", {}, "token", tokens), element("label", { htmlFor: slider.id }, "number"), slider, which),
    goesIn, happens, comesOut,
    element("p", { className: "keys" }, "Arrow keys: left and right go through the stages; with the figure in focus, up and down go through the tokens. Click a number to see how it is made."));
  walk.setAttribute("role", "group");
  walk.ariaLabel = "The walk: left and right arrow keys change the stage, up and down the token";
  walk.addEventListener("keydown", onKey);
  // Left and right also work with nothing in focus, while the figure is on the screen.
  document.addEventListener("keydown", (event) => {
    const { top, bottom } = walk.getBoundingClientRect();
    if (document.activeElement === document.body && /Left|Right/.test(event.key) && top < innerHeight && bottom > 0) onKey(event);
  });

  // Reserve the room of the tallest stage, so that walking moves nothing below: where there is width
  // for it by panel, else for the whole, which leaves no gaps on a phone.
  let width = 0;
  function settle() {
    if (walk.clientWidth === width) return;
    width = walk.clientWidth;
    const now = [at, token, part];
    const panels = width < 500 ? [walk] : [lesson, goesIn, happens, comesOut];
    for (const panel of [walk, lesson, goesIn, happens, comesOut]) panel.style.minHeight = "";
    const tallest = panels.map(() => 0);
    const longest = words.indexOf([...words].sort((a, b) => b.length - a.length)[0]);
    for (const [i, stage] of data.stages.entries())
      for (const j of stage.out.keys())
        for (const t of [longest, words.length - 1]) { // the widest name, and the most numbers
          [at, part, token] = [i, j, t];
          draw();
          panels.forEach((panel, n) => (tallest[n] = Math.max(tallest[n], panel.offsetHeight)));
        }
    tallest[Math.min(2, panels.length - 1)] += 44; // the sums differ in length by a line or two
    panels.forEach((panel, n) => (panel.style.minHeight = `${tallest[n]}px`));
    [at, token, part] = now;
    draw();
  }
  el.append(element("style", {}, STYLE), walk);
  draw();
  new ResizeObserver(settle).observe(walk);
}

export default { render };
