// A storyteller that runs in the page: type, see the next word's odds, let it write, see where it looks.
import { element } from "./element.js";

const STYLE = `
  .course-figure .tale-box { width: 100%; box-sizing: border-box; font: inherit; color: inherit; background: transparent; border: 1px solid var(--muted); border-radius: 4px; padding: 0.4rem 0.6rem; resize: vertical; display: block; }
  .course-figure .tale-label { display: block; margin: 0 0 0.3rem; }
  .course-figure :is(.tale-box, .tale-pick):focus-visible { outline: 2px solid rgb(var(--heat)); outline-offset: 2px; }
  .course-figure .tale-pick { font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 4px; padding: 0.2rem; max-width: 100%; min-width: 0; min-height: 28px; }
  .course-figure .tale-pick option { color: black; background: white; }
  .course-figure .tale-buttons { display: flex; flex-wrap: wrap; gap: 0.5rem; margin: 0.6rem 0; }
  .course-figure .tale-buttons button { min-height: 30px; }
  .course-figure .tale-write { min-width: 8.2em; }
  .course-figure .tale-knobs { display: grid; gap: 0.2rem 0.8rem; grid-template-columns: max-content minmax(6rem, 20rem) 3em; align-items: center; margin: 0 0 0.6rem; }
  .course-figure .tale-knobs input { width: 100%; min-width: 0; height: 24px; margin: 0; }
  .course-figure .tale-knobs output { font-variant-numeric: tabular-nums; text-align: right; }
  .course-figure .tale-bars { display: grid; grid-template-columns: 7.2em minmax(4rem, 24rem) 3.6em 3.6em; gap: 0.1rem 0.6rem; align-items: center; font-variant-numeric: tabular-nums; }
  .course-figure .tale-bars .head { color: var(--muted); font-size: 0.88em; }
  .course-figure .tale-bars .right { text-align: right; }
  .course-figure .tale-word { min-height: 26px; padding: 0 0.5rem; text-align: left; width: 100%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  .course-figure .tale-word.cut { text-decoration: line-through; color: var(--muted); }
  .course-figure .tale-others { padding: 0 0.5rem; min-height: 26px; line-height: 26px; color: var(--muted); white-space: nowrap; }
  .course-figure .tale-pair { display: grid; gap: 2px; }
  .course-figure .tale-pair div { height: 8px; border-radius: 2px; box-sizing: border-box; }
  .course-figure .by-model { background: rgb(var(--heat)); }
  .course-figure .by-grammar { border: 1px solid var(--ink); background: repeating-linear-gradient(45deg, var(--muted) 0 2px, transparent 2px 5px); }
  .course-figure .tale-key { display: inline-block; width: 1.4em; height: 0.6em; margin: 0 0.3em 0 0; border-radius: 2px; }
  .course-figure .tale-key.by-grammar { margin-left: 0.8em; }
  .course-figure .tale-message { font-family: inherit; margin: 0.6rem 0; height: 4.3em; overflow-y: auto; max-width: 44rem; }
  .course-figure .tale-title { font-weight: 600; margin: 0.6rem 0 0.3rem; font-family: inherit; }
  .course-figure .tale-heads { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 0.5rem; max-width: 34rem; }
  .course-figure .tale-head { display: block; border: 1px solid var(--line); border-radius: 4px; padding: 3px; font-size: 0.85em; }
  .course-figure .tale-head:has(:checked) { outline: 2px solid var(--ink); }
  .course-figure .tale-head:has(:focus-visible) { outline: 3px solid rgb(var(--heat)); }
  .course-figure .tale-head input { margin: 0 0.3em 0 0; width: 16px; height: 16px; vertical-align: -3px; }
  .course-figure .tale-head canvas { display: block; width: 100%; aspect-ratio: 1; margin-top: 3px; image-rendering: pixelated; background: color-mix(in srgb, var(--ink) 5%, transparent); }
  .course-figure .tale-looks { font-family: inherit; margin: 0.6rem 0 0; height: 11em; overflow-y: auto; line-height: 2; }
  .course-figure .tale-token { padding: 0.15rem 0.25rem; border-radius: 3px; border: 1px solid transparent; cursor: pointer; }
  .course-figure .tale-token.asks { border-color: var(--ink); }
  .course-figure .tale-token.later { color: var(--muted); }
  @media (max-width: 600px) {
    .course-figure .tale-bars { grid-template-columns: 5.6em minmax(2rem, 1fr) 3.6em 3.9em; gap: 0.1rem 0.3rem; font-size: 0.85rem; }
    .course-figure .tale-word { padding: 0 0.3rem; }
    .course-figure .tale-message { height: 7em; }
    .course-figure .tale-looks { height: 20em; }
  }`;
const START = "<s>", END = "</s>";
const plain = (word) => (word === END ? "(the end)" : word === START ? "(start)" : word);
const percent = (x) => (x > 0 && x < 0.0005 ? "<0.1\u00a0%" : `${(100 * x).toFixed(1)}\u00a0%`);

// What scrolls must be reachable with the keyboard, what does not scroll need not be.
function reachable(box) {
  if (box.scrollHeight > box.clientHeight) box.tabIndex = 0;
  else box.removeAttribute("tabindex");
}

// Bring the script with the weights, once for all figures of the page.
function fetchTales({ address, text }) {
  window.courseTalesComing ??= new Promise((resolve, reject) => {
    const root = document.documentElement.dataset.content_root ?? "";
    const script = element("script", text ? { textContent: text } : { src: root + address });
    script.onload = () => resolve(window.courseTales);
    script.onerror = () => reject(new Error("no script"));
    document.head.append(script);
    if (text) resolve(window.courseTales);
  });
  return window.courseTalesComing;
}

// What can be drawn, and how likely: temperature, then top-k, then top-p, as sample_next has it.
function sharesOf(scores, temperature, k, p) {
  const order = [...scores.keys()].sort((a, b) => scores[b] - scores[a] || a - b);
  const best = scores[order[0]];
  const shares = Array(scores.length).fill(0);
  if (temperature === 0) return ((shares[order[0]] = 1), shares);
  const kept = order.slice(0, k);
  const power = (i) => Math.exp((scores[i] - best) / temperature);
  const sum = kept.reduce((total, i) => total + power(i), 0);
  let before = 0;
  for (const [rank, i] of kept.entries()) {
    if (p < 1 && rank > 0 && before >= p) break;
    shares[i] = power(i) / sum;
    before += shares[i];
  }
  return shares.map((share) => share / before);
}

// The words of a text; what the model does not know is named, what is still being typed is left out.
function wordsOf(text, known) {
  const all = text.toLowerCase().replace(/\./g, " . ").split(/\s+/).filter(Boolean);
  const last = all.at(-1);
  const typing = /[^\s.]$/.test(text) && !known.has(last) && [...known.keys()].some((w) => w.startsWith(last));
  const tokens = typing ? all.slice(0, -1) : all;
  const spoken = (w) => known.has(w) && w !== END;
  return { words: tokens.filter(spoken), strangers: [...new Set(tokens.filter((w) => !spoken(w)))] };
}

function render({ model: widget, el }) {
  const data = widget.get("data");
  const known = new Map(data.words.map((word, id) => [word, id]));
  const group = "live-gpt-" + Math.random().toString(36).slice(2);
  let now = data.start; // { words, scores, attention, odds: { table } or { wrong } }
  let strangers = [];
  let ended = false;
  let writing = false;
  let [layer, head] = data.head;
  let asking = now.words.length; // the place that looks; place 0 is the start mark

  const box = element("textarea", { className: "tale-box", rows: data.small ? 3 : 4, id: group + "-box", spellcheck: false, autocomplete: "off", value: now.words.join(" ") + " " });
  box.setAttribute("autocapitalize", "off");
  box.addEventListener("input", () => {
    writing = ended = false;
    read();
  });
  const knobs = element("div", { className: "tale-knobs" });
  function knob(name, options, write) {
    const input = element("input", { type: "range", id: `${group}-${name}`, ...options });
    const output = element("output");
    output.setAttribute("for", input.id);
    input.addEventListener("input", () => draw());
    knobs.append(element("label", { htmlFor: input.id }, name), input, output);
    return () => {
      output.textContent = write(Number(input.value));
      input.setAttribute("aria-valuetext", output.textContent);
      return Number(input.value);
    };
  }
  const size = data.words.length;
  const temperatureOf = knob("temperature", { min: 0, max: 2, step: 0.1, value: 1 }, (v) => v.toFixed(1));
  const kOf = knob("top-k", { min: 1, max: size, step: 1, value: size }, (v) => (v === size ? "all" : String(v)));
  const pOf = knob("top-p", { min: 0, max: 1, step: 0.01, value: 1 }, (v) => v.toFixed(2));
  const shares = () => sharesOf(now.scores, temperatureOf(), kOf(), pOf());

  const button = (text, action, className = "") => {
    const node = element("button", { type: "button", className }, text);
    node.addEventListener("click", action);
    return node;
  };
  const write = button("write the story", () => (writing ? (writing = false) : story()), "tale-write");
  const picker = element("select", { className: "tale-pick" },
    ...data.beginnings.map((text, i) => element("option", { value: i }, text ? `... ${text.split(" ").slice(-5).join(" ")}` : "nothing")));
  picker.addEventListener("change", () => replace(data.beginnings[Number(picker.value)]));
  const bars = element("div", { className: "tale-bars" });
  const message = element("p", { className: "tale-message" });
  message.setAttribute("role", "status");

  // Read the text anew. The first time, the script with the weights is brought.
  async function read() {
    let tales;
    try {
      tales = await fetchTales(data.script);
    } catch {
      message.textContent = "The file with the model's weights did not load: " + data.script.address.split("?")[0] + " belongs beside this page.";
      return false;
    }
    const parsed = wordsOf(box.value, known);
    const words = parsed.words.slice(0, data.block_size - 1);
    strangers = parsed.strangers;
    const { scores, attention } = tales.read([START, ...words].map((word) => known.get(word)));
    now = { words, attention, scores: [...scores.slice(-size)], odds: tales.odds(words), full: parsed.words.length >= data.block_size };
    asking = words.length;
    draw();
    return true;
  }
  function replace(text) {
    writing = ended = false;
    box.value = text ? text.replace(/\s*$/, " ") : "";
    return read();
  }
  async function append(word) {
    if (ended || !(await read())) return; // what was typed may still be unread
    if (word === END) ended = true;
    else box.value = [...now.words, word].join(" ") + " ";
    box.scrollTop = box.scrollHeight;
    await read();
  }
  function drawn() {
    let left = Math.random();
    const odds = shares();
    const id = odds.findIndex((share) => (left -= share) < 0);
    return data.words[id < 0 ? odds.indexOf(Math.max(...odds)) : id]; // a sum may miss 1 by a hair
  }
  async function story() {
    if (ended) await replace("");
    writing = true;
    write.textContent = "stop";
    const pause = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 90;
    while (writing && !ended && now.words.length < data.block_size - 1) {
      await append(drawn());
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    writing = false;
    write.textContent = "write the story";
    draw();
  }

  function row(id, share, scale) {
    const word = data.words[id];
    const exact = now.odds.table?.[word] ?? 0;
    const pick = button(plain(word), () => append(word), share > 0 ? "tale-word" : "tale-word cut");
    pick.ariaLabel = `${plain(word)}: model ${percent(share)}, grammar ${now.odds.table ? percent(exact) : "unknown"}. Add this word`;
    return [pick, ...numbers(share, exact, scale)];
  }
  function numbers(share, exact, scale) {
    const pair = element("div", { className: "tale-pair" }, element("div", { className: "by-model" }), element("div", { className: "by-grammar" }));
    pair.setAttribute("aria-hidden", "true"); // the numbers say the same
    pair.children[0].style.width = `${(100 * share) / scale}%`;
    pair.children[1].style.width = `${(100 * exact) / scale}%`;
    pair.children[1].hidden = exact === 0;
    return [pair, element("span", { className: "right" }, percent(share)),
      element("span", { className: "right" }, now.odds.table ? percent(exact) : "\u2013")];
  }

  function describe(odds) {
    const said = strangers.length ? `${strangers.map((w) => `\u201c${w}\u201d`).join(", ")}: not among the ${size - 3} words it knows, left out. ` : "";
    const full = now.full ? `It reads ${data.block_size - 1} words; the rest is left out. ` : "";
    if (now.odds.wrong !== undefined) {
      const n = now.odds.wrong;
      const where = n > 0 ? `after \u201c${now.words.slice(Math.max(0, n - 4), n).join(" ")}\u201d` : "at the start";
      return `${said}${full}The grammar never says \u201c${now.words[n]}\u201d ${where}: from there on it has no odds, and the model is on its own.`;
    }
    if (ended) return `${said}The story has ended, and every word of it is one that the grammar could have said.`;
    const allowed = data.words.map((word, id) => [now.odds.table[word] ?? 0, odds[id]]).filter(([exact]) => exact > 0);
    const mass = allowed.reduce((sum, [, share]) => sum + share, 0);
    const lost = allowed.reduce((sum, [exact, share]) => sum + (share === 0 ? exact : 0), 0);
    const cut = lost > 0 ? ` Words that the grammar says with ${percent(lost)} can no longer come.` : "";
    return `${said}${full}The grammar allows ${allowed.length === 1 ? "one word" : `${allowed.length} words`} here. The model draws ${allowed.length === 1 ? "it" : "one of them"} with ${percent(mass)}.${cut}`;
  }

  function draw() {
    const odds = shares();
    const base = sharesOf(now.scores, 1, size, 1);
    const weight = (id) => Math.max(base[id], now.odds.table?.[data.words[id]] ?? 0);
    const order = [...base.keys()].sort((a, b) => weight(b) - weight(a) || a - b);
    const [shown, rest] = [order.slice(0, data.shown), order.slice(data.shown)];
    const sum = (f) => rest.reduce((total, id) => total + f(id), 0);
    const others = [sum((id) => odds[id]), sum((id) => now.odds.table?.[data.words[id]] ?? 0)];
    const scale = Math.max(...others, ...shown.map((id) => Math.max(odds[id], now.odds.table?.[data.words[id]] ?? 0)));
    const focused = [...bars.querySelectorAll("button")].indexOf(document.activeElement);
    bars.replaceChildren(
      element("span", { className: "head" }, "next word"), element("span"),
      element("span", { className: "head right" }, "model"), element("span", { className: "head right" }, "grammar"),
      ...shown.flatMap((id) => row(id, odds[id], scale)),
      element("span", { className: "tale-others" }, `${rest.length} others`),
      ...numbers(...others, scale),
    );
    if (focused >= 0) bars.querySelectorAll("button")[focused].focus(); // the bars are new, the place is not
    if (!writing) message.textContent = describe(odds);
    reachable(message);
    if (!data.small) looks();
  }

  // Where the heads look: a map for each, and the chosen one's weights behind the words.
  const canvases = [];
  const heads = element("div", { className: "tale-heads" });
  const looking = element("p", { className: "tale-looks" });
  const told = element("p", { className: "tale-message" });
  told.setAttribute("role", "status");
  const place = element("input", { type: "range", min: 0, step: 1, id: group + "-place" });
  place.addEventListener("input", () => ((asking = Number(place.value)), looks()));
  const placeName = element("output");
  placeName.setAttribute("for", place.id);
  for (let l = 0; l < data.n_layer; l++)
    for (let h = 0; h < data.n_head; h++) {
      const radio = element("input", { type: "radio", name: group + "-head", checked: l === layer && h === head });
      radio.ariaLabel = `layer ${l + 1}, head ${h + 1}`;
      radio.addEventListener("change", () => (([layer, head] = [l, h]), looks()));
      canvases.push(element("canvas"));
      heads.append(element("label", { className: "tale-head" }, radio, `${l + 1}.${h + 1}`, canvases.at(-1)));
    }
  function looks() {
    const tokens = [START, ...now.words];
    const length = tokens.length;
    const heat = getComputedStyle(el).getPropertyValue("--heat") || "59, 130, 196";
    canvases.forEach((canvas, i) => {
      const map = now.attention[Math.floor(i / data.n_head)][i % data.n_head];
      [canvas.width, canvas.height] = [length, length];
      const pen = canvas.getContext("2d");
      for (let t = 0; t < length; t++)
        for (let s = 0; s <= t; s++) {
          pen.fillStyle = `rgba(${heat}, ${Math.sqrt(map[t * length + s])})`; // the root lets small weights show
          pen.fillRect(s, t, 1, 1);
        }
    });
    const weights = [...now.attention[layer][head].slice(asking * length, (asking + 1) * length)];
    looking.replaceChildren(...tokens.flatMap((word, t) => {
      const when = t === asking ? " asks" : t > asking ? " later" : "";
      const token = element("span", { className: "tale-token" + when }, plain(word));
      token.style.background = `rgba(${heat}, ${0.55 * weights[t]})`;
      token.addEventListener("click", () => ((asking = t), looks())); // the slider does it by keyboard
      return [token, " "];
    }));
    place.max = length - 1;
    place.value = asking;
    placeName.textContent = plain(tokens[asking]);
    place.setAttribute("aria-valuetext", `word ${asking}, ${plain(tokens[asking])}`);
    const most = weights.map((w, t) => [w, t]).sort((a, b) => b[0] - a[0]).slice(0, 3).filter(([w]) => w > 0.005);
    told.textContent = `Layer ${layer + 1}, head ${head + 1}, at \u201c${plain(tokens[asking])}\u201d, looks at ` +
      most.map(([w, t]) => `\u201c${plain(tokens[t])}\u201d (word ${t}) with ${percent(w)}`).join(", ") + ".";
    reachable(looking);
    reachable(told);
  }

  el.addEventListener("focusin", () => fetchTales(data.script).catch(() => {}), { once: true });
  el.append(
    element("style", {}, STYLE),
    ...(data.small ? [] : [element("div", { className: "controls" }, element("label", {}, "begin with", picker))]),
    element("label", { className: "tale-label", htmlFor: box.id }, "The story so far: type on, or choose a word below"),
    box,
    element("div", { className: "tale-buttons" },
      button("next word", () => (ended ? null : append(drawn()))), write,
      button("take one back", () => replace(now.words.slice(0, ended ? undefined : -1).join(" "))),
      button("start again", () => replace(""))),
    ...(data.small ? [] : [knobs]),
    element("p", { className: "tale-title" }, element("span", { className: "tale-key by-model" }), "the model ",
      element("span", { className: "tale-key by-grammar" }), "the grammar\u2019s exact odds"),
    bars, message,
    ...(data.small ? [] : [
      element("p", { className: "tale-title" }, "Where each head looks: a row for every word that asks, a column for every word it may look at"),
      heads,
      element("div", { className: "tale-knobs" }, element("label", { htmlFor: place.id }, "at word"), place, placeName),
      told, looking,
    ]),
  );
  draw();
}

export default { render };
