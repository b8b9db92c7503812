// Click words to hide them; every hidden word shows what BERT would put there beside the exact odds.
import { element } from "./element.js";

const STYLE = `
  .course-figure .line { margin: 0 0 0.8rem; line-height: 1.9; columns: 15rem auto; column-gap: 2rem; }
  .course-figure .word { padding: 0 0.4rem; margin: 0 0.1rem; line-height: 1.5; }
  .course-figure .word[aria-pressed="true"] { background: rgba(var(--alarm), 0.2); border: 1px dashed var(--ink); }
  .course-figure .gaps { display: grid; gap: 0.9rem 1.4rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); }
  .course-figure .gap { border: 1px solid var(--line); border-radius: 6px; padding: 0.5rem 0.7rem; min-width: 0; }
  .course-figure .gap .title { margin: 0 0 0.3rem; font-weight: 600; }
  .course-figure .odds { display: grid; grid-template-columns: 5.6em 1fr 3.2em; gap: 0.05rem 0.5rem; align-items: center; font-size: 0.88em; font-variant-numeric: tabular-nums; }
  .course-figure .odds .pair { display: grid; gap: 1px; }
  .course-figure .odds .track { height: 0.5em; }
  .course-figure .odds .fill { height: 100%; border-radius: 2px; min-width: 1px; }
  .course-figure .fill.exact { background: rgb(var(--heat)); }
  .course-figure .fill.guess { background: repeating-linear-gradient(45deg, rgb(var(--alarm)) 0 3px, transparent 3px 5px); border: 1px solid rgb(var(--alarm)); box-sizing: border-box; }
  .course-figure .odds .numbers { text-align: right; line-height: 1.1; font-size: 0.9em; }
  .course-figure .rule { border-top: 1px solid var(--line); margin: 0.35rem 0; }
  .course-figure .key { display: inline-block; width: 1.6em; height: 0.6em; margin: 0 0.35em 0 0.8em; }
  .course-figure .legend { font-size: 0.9em; margin: 0 0 0.6rem; }
  .course-figure select { font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 4px; padding: 0.2rem; max-width: 100%; min-width: 0; }
  .course-figure select option { color: black; background: white; }
  .course-figure select:focus-visible { outline: 2px solid rgb(var(--heat)); outline-offset: 2px; }`;

const NAMES = { sea: "all sea words", farm: "all farm words", glad: "all glad words", sad: "all sad words" };

const percent = (thousandths) => (thousandths / 10).toFixed(1);

function bars(name, exact, guess, scale) {
  const bar = (kind, share) => {
    const fill = element("div", { className: `fill ${kind}` });
    fill.style.width = `${Math.min(100, (100 * share) / scale)}%`;
    const track = element("div", { className: "track" }, fill);
    track.setAttribute("aria-hidden", "true"); // the numbers beside it say the same
    return track;
  };
  return [
    element("span", {}, name),
    element("div", { className: "pair" }, bar("exact", exact), bar("guess", guess)),
    element("span", { className: "numbers" }, element("div", {}, percent(exact)), element("div", {}, percent(guess))),
  ];
}

function describe(hidden, answers) {
  if (hidden.length === 0) return "No word is hidden. Click one of the words with a frame.";
  const worst = Math.max(...answers.map((a) => a.distance)) / 1000;
  const where = hidden.length === 1 ? "One word is hidden" : `${hidden.length} words are hidden`;
  const judged = worst < 0.1 ? "BERT's odds are close to the exact ones" :
    worst < 0.4 ? "BERT's odds differ visibly from the exact ones" : "BERT is far from the exact odds";
  return `${where}. ${judged}: at worst they cost ${worst.toFixed(2)} nats more surprise than the exact ones.`;
}

function render({ model: widget, el }) {
  const data = widget.get("data");
  let text = data.texts[0];
  let hidden = [text.canHide[text.canHide.length - 1]];

  const picker = element("select", {}, ...data.texts.map((t, i) => element("option", { value: i }, t.name)));
  const line = element("p", { className: "line" });
  const panels = element("div", { className: "gaps" });
  const message = element("p", { className: "message" });
  message.setAttribute("role", "status");
  const reset = element("button", { type: "button" }, "show all words");

  picker.addEventListener("change", () => {
    text = data.texts[Number(picker.value)];
    hidden = [text.canHide[text.canHide.length - 1]];
    write();
    update();
  });
  reset.addEventListener("click", () => ((hidden = []), update()));

  function write() {
    line.replaceChildren(...text.words.flatMap((word, i) => {
      if (!text.canHide.includes(i)) return word === "." ? [". ", element("br")] : [`${word} `];
      const button = element("button", { type: "button", className: "word" });
      button.dataset.place = i;
      button.addEventListener("click", () => {
        hidden = hidden.includes(i) ? hidden.filter((h) => h !== i) : [...hidden, i].sort((a, b) => a - b);
        update();
      });
      return [button, " "];
    }));
  }

  function panel(place, answer) {
    const scale = Math.max(120, ...answer.words.flatMap(([, e, g]) => [e, g]));
    const sums = answer.groups.flatMap(([name, e, g]) => bars(NAMES[name], e, g, 1000));
    const words = answer.words.flatMap(([id, e, g]) => bars(data.vocabulary[id], e, g, scale));
    const box = element("div", { className: "gap" },
      element("p", { className: "title" }, `word ${text.canHide.indexOf(place) + 1}, it was “${text.words[place]}”`));
    if (sums.length) box.append(element("div", { className: "odds" }, ...sums), element("div", { className: "rule" }));
    box.append(element("div", { className: "odds" }, ...words));
    return box;
  }

  function update() {
    for (const button of line.querySelectorAll("button")) {
      const place = Number(button.dataset.place);
      const isHidden = hidden.includes(place);
      button.setAttribute("aria-pressed", isHidden);
      button.textContent = isHidden ? "[MASK]" : text.words[place];
      button.setAttribute("aria-label", `${text.words[place]}, ${isHidden ? "hidden" : "visible"}`);
    }
    const answers = hidden.length ? text.answers[hidden.join(",")] : [];
    panels.replaceChildren(...hidden.map((place, i) => panel(place, answers[i])));
    message.textContent = describe(hidden, answers);
  }

  el.append(
    element("style", {}, STYLE),
    element("div", { className: "controls" }, element("label", {}, "hide words of", picker), reset),
    line,
    element("p", { className: "legend" }, "odds in %:",
      element("span", { className: "key fill exact" }), "exact, by the grammar",
      element("span", { className: "key fill guess" }), "BERT"),
    panels,
    message,
  );
  write();
  update();
}

export default { render };
