// A story with a bar of lost nats under every word; at the chosen word the model's odds beside the true ones.
import { element } from "./element.js";

const STYLE = `
  .course-figure .tale { display: flex; flex-wrap: wrap; gap: 0.25rem 0.15rem; margin: 0 0 0.8rem; padding: 0; }
  .course-figure .token { display: flex; flex-direction: column; padding: 0 0.2rem; border: 1px solid transparent; border-radius: 4px; cursor: pointer; }
  .course-figure .token.now { border-color: var(--ink); font-weight: 600; }
  .course-figure .token.later { color: var(--muted); }
  .course-figure .lost { height: 1.1rem; display: flex; align-items: flex-start; }
  .course-figure .lost div { width: 100%; background: rgb(var(--alarm)); border-radius: 0 0 2px 2px; min-height: 1px; }
  .course-figure .candidates { display: grid; grid-template-columns: max-content minmax(7rem, 18rem) 4.2em; gap: 0.15rem 0.6rem; align-items: center; font-variant-numeric: tabular-nums; }
  .course-figure .candidates .came { font-weight: 600; }
  .course-figure .pair { display: grid; gap: 2px; padding: 0.15rem 0; }
  .course-figure .pair div { height: 0.5em; border-radius: 2px; min-width: 1px; box-sizing: border-box; }
  .course-figure .grammar { border: 1px solid var(--ink); background: repeating-linear-gradient(45deg, var(--muted) 0 2px, transparent 2px 5px); }
  .course-figure .model { background: rgb(var(--heat)); }
  .course-figure .key { display: inline-block; width: 1.4em; height: 0.6em; margin: 0 0.3em 0 0.8em; border-radius: 2px; }
  .course-figure .odds { text-align: right; font-size: 0.82em; line-height: 1.15; }
  .course-figure select { font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 4px; padding: 0.2rem; max-width: 100%; }
  .course-figure select option { color: black; background: white; }
  .course-figure select:focus-visible { outline: 2px solid rgb(var(--heat)); outline-offset: 2px; }
  .course-figure .place { flex: 1 1 14rem; max-width: 28rem; }
  .course-figure .place input { flex: 1; min-width: 6rem; }`;
const TALL = 1; // nats for a bar of full height

const nats = (x) => (x < 0.001 ? "less than 0.001" : x.toFixed(3));
const plain = (word) => (word === "</s>" ? "the end" : word);

function render({ model: widget, el }) {
  const data = widget.get("data");
  const group = "next-word-" + Math.random().toString(36).slice(2);
  let chosen = 0;
  let story = data.stories[0];
  let place = Math.max(0, story.words.indexOf("felt") + 1);

  const choices = data.models.map((name, i) => {
    const radio = element("input", { type: "radio", name: group, checked: i === chosen });
    radio.addEventListener("change", () => ((chosen = i), update()));
    return element("label", {}, radio, name);
  });
  const picker = element("select", {}, ...data.stories.map((one, i) =>
    element("option", { value: i }, `${i + 1}: ${one.words.slice(1, 4).join(" ")}`)));
  picker.addEventListener("change", () => {
    story = data.stories[Number(picker.value)];
    place = Math.min(place, story.words.length - 1);
    update();
  });
  const slider = element("input", { type: "range", min: 0, step: 1 });
  slider.addEventListener("input", () => ((place = Number(slider.value)), update()));

  const tale = element("div", { className: "tale" });
  const bars = element("div", { className: "candidates" });
  const message = element("p", { className: "message" });
  message.setAttribute("role", "status");

  function token(word, i) {
    const bar = element("div");
    bar.style.height = `${100 * Math.min(1, story.places[i].kl[chosen] / TALL)}%`;
    const lost = element("span", { className: "lost" }, bar);
    lost.setAttribute("aria-hidden", "true"); // the sentence below says it for the chosen word
    const when = i === place ? " now" : i > place ? " later" : "";
    const shown = element("span", { className: "token" + when }, element("span", {}, plain(word)), lost);
    shown.addEventListener("click", () => ((place = i), update())); // the slider does it by keyboard
    return shown;
  }

  function candidate([word, exact, ...guesses]) {
    const came = word === story.words[place];
    const pair = element("div", { className: "pair" });
    for (const [name, share] of [["grammar", exact], ["model", guesses[chosen]]]) {
      const bar = element("div", { className: name });
      bar.style.width = `${100 * share}%`;
      pair.append(bar);
    }
    pair.setAttribute("aria-hidden", "true");
    return [
      element("span", { className: came ? "came" : "" }, plain(word) + (came ? " ✓" : "")),
      pair,
      element("span", { className: "odds" }, exact.toFixed(3), element("br"), guesses[chosen].toFixed(3)),
    ];
  }

  function update() {
    slider.max = story.words.length - 1;
    slider.value = place;
    const here = story.places[place];
    slider.setAttribute("aria-valuetext", `word ${place + 1}, ${plain(story.words[place])}`);
    tale.replaceChildren(...story.words.map(token));
    bars.replaceChildren(...here.candidates.flatMap(candidate));
    const total = story.places.reduce((sum, one) => sum + one.kl[chosen], 0);
    const shown = here.candidates.filter((one) => one[1] > 0).length;
    const more = here.choices > shown ? ` The grammar has ${here.choices} candidates here; the likeliest ${shown} are shown.` : "";
    message.textContent =
      `Word ${place + 1}, “${plain(story.words[place])}”: the model loses ${nats(here.kl[chosen])} nats here, ` +
      `and ${total.toFixed(2)} in the whole story.${more}`;
  }

  el.append(
    element("style", {}, STYLE),
    element("div", { className: "controls" }, element("fieldset", {}, element("legend", {}, "model"), ...choices)),
    element("div", { className: "controls" },
      element("label", {}, "story", picker),
      element("label", { className: "place" }, "place", slider)),
    tale,
    element("p", {}, "odds of this word:",
      element("span", { className: "key grammar" }), "grammar",
      element("span", { className: "key model" }), "model"),
    bars,
    message,
  );
  update();
}

export default { render };
