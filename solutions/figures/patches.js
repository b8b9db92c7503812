// A digit whose patches can be laid out in other orders; the answers of two models below.
import { element } from "./element.js";

const SIDE = 4; // patches along a side of the image
const SIZE = 2; // pixels along a side of a patch
const STYLE = `
  .course-figure .tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: 4px; width: 13.5rem; max-width: 80vw; aspect-ratio: 1; margin: 0; }
  .course-figure .tile { display: grid; grid-template-columns: repeat(2, 1fr); border: 1px solid var(--muted); position: relative; background: white; }
  .course-figure .tile.moved { outline: 2px solid rgb(var(--alarm)); }
  .course-figure .tile .home { position: absolute; right: 1px; bottom: 0; padding: 0 0.2em; font-size: 0.65rem; line-height: 1.3; color: black; background: rgba(255, 255, 255, 0.8); }
  .course-figure .answers { flex: 1 1 15rem; min-width: 0; max-width: 26rem; }
  .course-figure .answers .title { margin: 0 0 0.3rem; font-weight: 600; }
  .course-figure .classes { display: grid; grid-template-columns: repeat(10, 1fr); gap: 0.15rem; align-items: end; height: 4.6rem; margin: 0 0 0.15rem; }
  .course-figure .class { display: flex; flex-direction: column; justify-content: flex-end; align-items: center; height: 100%; font-size: 0.8rem; font-variant-numeric: tabular-nums; }
  .course-figure .class .stick { width: 70%; background: rgb(var(--heat)); border-radius: 2px 2px 0 0; min-height: 1px; }
  .course-figure .class.said { font-weight: 700; }
  .course-figure .class.wrong .stick { background: repeating-linear-gradient(45deg, rgb(var(--alarm)) 0 4px, transparent 4px 7px); }
  .course-figure .answers p { margin: 0 0 0.9rem; font-size: 0.9em; }
  .course-figure select { font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 4px; padding: 0.2rem; max-width: 100%; min-width: 0; }
  .course-figure select option { color: black; background: white; }
  .course-figure select:focus-visible { outline: 2px solid rgb(var(--heat)); outline-offset: 2px; }`;

const percent = (x) => `${(100 * x).toFixed(0)}\u00a0%`;

// The pixels of one patch of an image, as one reads.
function cut(pixels, patch) {
  const top = SIZE * Math.floor(patch / SIDE);
  const left = SIZE * (patch % SIDE);
  return pixels.slice(top, top + SIZE).flatMap((row) => row.slice(left, left + SIZE));
}

function tile(pixels, patch, place) {
  const node = element("div", { className: patch === place ? "tile" : "tile moved" });
  for (const ink of cut(pixels, patch)) {
    const pixel = element("div");
    const grey = Math.round(255 * (1 - ink));
    pixel.style.backgroundColor = `rgb(${grey}, ${grey}, ${grey})`;
    node.append(pixel);
  }
  node.append(element("span", { className: "home" }, patch));
  return node;
}

function answer(shares) {
  return shares.indexOf(Math.max(...shares));
}

function chart(name, shares, label, right, nTest) {
  const said = answer(shares);
  const bars = shares.map((share, digit) => {
    const stick = element("div", { className: "stick" });
    stick.style.height = `${75 * share}%`;
    const classes = ["class", ...(digit === said ? ["said"] : []), ...(digit !== label ? ["wrong"] : [])];
    return element("div", { className: classes.join(" ") }, stick, String(digit));
  });
  const picture = element("div", { className: "classes" }, ...bars);
  picture.setAttribute("aria-hidden", "true"); // the sentence below says the same
  const verdict = said === label ? "right" : `wrong, it is a ${label}`;
  return element("div", {},
    element("p", { className: "title" }, name), picture,
    element("p", {}, `says ${said} (${percent(shares[said])}): ${verdict}. Of all ${nTest} test images in this order: ${percent(right)} right.`));
}

function explain(data, digit, order) {
  const [tidy, now] = [data.orders[0], data.orders[order]].map((made) => made.answers[digit].map(answer));
  const without = "To the model without positions every order is the same bag of patches: its bars do not move.";
  if (order === 0) return "Choose another order for the patches. The small numbers say where a patch was.";
  if (tidy[0] === now[0]) return `The model with positions still gives the same answer here, but its bars have moved. ${without}`;
  return `The model with positions now sees another image, and answers ${now[0]} instead of ${tidy[0]}. ${without}`;
}

function render({ model, el }) {
  const data = model.get("data");
  const digits = element("select", {}, ...data.digits.map(({ label }, i) => element("option", { value: i }, `a ${label}`)));
  const orders = element("select", {}, ...data.orders.map(({ name }, i) => element("option", { value: i }, name)));
  const next = element("button", { type: "button" }, "next order");
  const image = element("div", { className: "tiles" });
  image.setAttribute("role", "img");
  const answers = element("div", { className: "answers" });
  const message = element("p", { className: "message" });
  message.setAttribute("role", "status");

  function update() {
    const [digit, order] = [Number(digits.value), Number(orders.value)];
    const { label, pixels } = data.digits[digit];
    const made = data.orders[order];
    image.replaceChildren(...made.order.map((patch, place) => tile(pixels, patch, place)));
    image.setAttribute("aria-label", `a handwritten ${label}, its patches ${made.name}`);
    answers.replaceChildren(...data.models.map((name, i) => chart(name, made.answers[digit][i], label, made.right[i], data.n_test)));
    message.textContent = explain(data, digit, order);
  }
  digits.addEventListener("change", update);
  orders.addEventListener("change", update);
  next.addEventListener("click", () => {
    orders.value = (Number(orders.value) + 1) % data.orders.length;
    update();
  });

  el.append(
    element("style", {}, STYLE),
    element("div", { className: "controls" },
      element("label", {}, "digit", digits),
      element("label", {}, "patches", orders), next),
    element("div", { className: "panels" }, image, answers),
    message,
  );
  update();
}

export default { render };
