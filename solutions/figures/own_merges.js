// Byte pairs learned in the page from any text: tokens, merges, ties and the rule that breaks them.
import { element } from "./element.js";

const STYLE = `
  .course-figure textarea { font: inherit; width: 100%; box-sizing: border-box; min-height: 4.2em; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 4px; padding: 0.4rem; }
  .course-figure .wide { display: block; width: 100%; }
  .course-figure select { font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 4px; padding: 0.2rem; max-width: 100%; min-width: 0; }
  .course-figure select option { color: black; background: white; }
  .course-figure textarea:focus-visible, .course-figure select:focus-visible { outline: 2px solid rgb(var(--heat)); outline-offset: 2px; }
  .course-figure .tokens { display: flex; flex-wrap: wrap; gap: 0.25rem 0.15rem; margin: 0.5rem 0; padding: 0; max-height: 13em; overflow-y: auto; }
  .course-figure .token { border: 1px solid var(--line); border-radius: 4px; padding: 0 0.25em; font-family: monospace; white-space: pre; }
  .course-figure .token.long { border-color: var(--ink); background: rgba(var(--heat), 0.15); }
  .course-figure .token.newest { border: 2px solid rgb(var(--heat)); font-weight: 700; }
  .course-figure .steps { max-height: 19em; overflow: auto; }
  .course-figure .steps table { border-collapse: collapse; width: 100%; margin: 0; font-size: 0.9em; }
  .course-figure .steps th, .course-figure .steps td { text-align: left; padding: 0.15rem 0.5rem 0.15rem 0; vertical-align: top; border-bottom: 1px solid var(--line); }
  .course-figure .steps code { white-space: pre-wrap; color: inherit; background: transparent; border: 0; padding: 0; }
  .course-figure .title { margin: 0.7rem 0 0.2rem; font-weight: 600; }`;

// GPT-2's rule for words; the browser's regular expressions know all letters and numbers
const WORD = /'(?:[stmd]|re|ve|ll)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;
const smaller = (p, q) => p[0] - q[0] || p[1] - q[1];
const RULES = {
  "smallest pair of ids": (pairs) => pairs.reduce((best, p) => (smaller(p, best) < 0 ? p : best)),
  "largest pair of ids": (pairs) => pairs.reduce((best, p) => (smaller(p, best) > 0 ? p : best)),
  "the pair seen first": (pairs) => pairs[0],
};

function countPairs(words) {
  const counts = new Map();
  for (const { ids, n } of words) {
    for (let i = 0; i + 1 < ids.length; i += 1) {
      const key = `${ids[i]},${ids[i + 1]}`;
      counts.set(key, (counts.get(key) || 0) + n);
    }
  }
  return counts;
}

function mergePair(ids, pair, newId) {
  const merged = [];
  for (const id of ids) {
    const last = merged.length - 1;
    if (last >= 0 && merged[last] === pair[0] && id === pair[1]) merged[last] = newId;
    else merged.push(id);
  }
  return merged;
}

// All merges of a text, with what tied at each step, and the words as they stand at the end.
function train(text, nMerges, rule, idOf) {
  const spelled = text.match(WORD) || [];
  const words = new Map();
  for (const word of spelled) {
    if (!words.has(word)) words.set(word, { ids: [...new TextEncoder().encode(word)].map((b) => idOf[b]), n: 0 });
    words.get(word).n += 1;
  }
  const steps = [];
  for (let newId = 256; newId < 256 + nMerges; newId += 1) {
    const counts = countPairs(words.values());
    if (counts.size === 0) break;
    const most = Math.max(...counts.values());
    const tied = [...counts].filter(([, n]) => n === most).map(([key]) => key.split(",").map(Number));
    const pair = RULES[rule](tied);
    for (const word of words.values()) word.ids = mergePair(word.ids, pair, newId);
    steps.push({ pair, newId, most, tied });
  }
  return { steps, tokens: spelled.flatMap((word) => words.get(word).ids) };
}

function render({ model: widget, el }) {
  const data = widget.get("data");
  const idOf = [];
  data.bytes.forEach((byte, id) => (idOf[byte] = id));
  const name = "merges-" + Math.random().toString(36).slice(2);

  const area = element("textarea", { value: data.text, id: `${name}-text`, maxLength: 4000, spellcheck: false });
  const slider = element("input", { type: "range", min: 0, max: data.most, value: data.n_merges, step: 1 });
  const shown = element("span", {}, String(data.n_merges));
  const picker = element("select", {}, ...Object.keys(RULES).map((rule) => element("option", { value: rule }, rule)));
  const summary = element("p", { className: "message" });
  summary.setAttribute("role", "status");
  const tokens = element("div", { className: "tokens", tabIndex: 0 });
  tokens.setAttribute("role", "group");
  tokens.setAttribute("aria-label", "the tokens of the text");
  const body = element("tbody");
  const steps = element("div", { className: "steps", tabIndex: 0 },
    element("table", {}, element("thead", {}, element("tr", {},
      ...["step", "merged", "times", "ties and the rule"].map((head) => element("th", { scope: "col" }, head)))), body));
  steps.setAttribute("role", "group");
  steps.setAttribute("aria-label", "the merges in order");

  function update() {
    const nMerges = Number(slider.value);
    const found = train(area.value, nMerges, picker.value, idOf);
    const bytes = data.bytes.map((byte) => [byte]);
    for (const { pair } of found.steps) bytes.push([...bytes[pair[0]], ...bytes[pair[1]]]);
    const spell = (id) => {
      const text = new TextDecoder("utf-8", { fatal: false }).decode(new Uint8Array(bytes[id]));
      if (text.includes("\ufffd")) return bytes[id].map((b) => `<${b.toString(16).padStart(2, "0")}>`).join("");
      return text.replaceAll(" ", "␣").replaceAll("\n", "⏎").replaceAll("\t", "⇥");
    };
    shown.textContent = slider.value;
    const newest = 255 + found.steps.length;
    tokens.replaceChildren(...found.tokens.map((id) => {
      const kind = id < 256 ? "token" : id === newest ? "token newest" : "token long";
      return element("span", { className: kind, title: `id ${id}` }, spell(id));
    }));
    body.replaceChildren(...found.steps.map(({ pair, newId, most, tied }) => {
      const others = tied.filter((p) => p[0] !== pair[0] || p[1] !== pair[1]);
      const some = others.slice(0, 4).map((p) => `${spell(p[0])} + ${spell(p[1])}`).join(",  ");
      const more = others.length > 4 ? ` and ${others.length - 4} more` : "";
      const why = others.length ? element("td", {}, `tied with ${others.length}: `, element("code", {}, some), more) :
        element("td", {}, "alone at the top");
      return element("tr", {}, element("td", {}, String(newId - 255)),
        element("td", {}, element("code", {}, `${spell(pair[0])} + ${spell(pair[1])} → ${spell(newId)}`), ` (${pair.join(", ")} → ${newId})`),
        element("td", {}, String(most)), why);
    }));
    const size = new TextEncoder().encode(area.value).length;
    const ties = found.steps.filter(({ tied }) => tied.length > 1).length;
    const early = found.steps.length < nMerges ? " No pair is left to merge." : "";
    summary.textContent = `${size} bytes are ${found.tokens.length} tokens after ${found.steps.length} merges; ` +
      `${ties} of these merges were decided by the rule, the ${picker.value}.${early}`;
  }

  for (const control of [area, slider]) control.addEventListener("input", update);
  picker.addEventListener("change", update);
  el.append(
    element("style", {}, STYLE),
    element("div", { className: "controls" }, element("label", { className: "wide" }, "your text", area)),
    element("div", { className: "controls" },
      element("label", {}, "merges", slider, shown), element("label", {}, "a tie goes to", picker)),
    summary,
    element("p", { className: "title" }, "The text as tokens (bold frame: the newest)"), tokens,
    element("p", { className: "title" }, "The merges, in order"), steps,
  );
  update();
}

export default { render };
