// A grid of tokens: choose one, and see which others it looks at, in one block or after several.
import { element } from "./element.js";

const STYLE = `
  .course-figure .tokens { display: grid; width: 20rem; max-width: 82vw; aspect-ratio: 1; border: 2px solid var(--ink); flex: none; }
  .course-figure .token { position: relative; display: flex; align-items: center; justify-content: center; cursor: pointer; border: 0 solid var(--line); border-width: 1px 0 0 1px; line-height: 1; }
  .course-figure .token.across { border-left: 2px solid var(--ink); }
  .course-figure .token.below { border-top: 2px solid var(--ink); }
  .course-figure .token.seam-left { border-left: 3px dashed rgb(var(--alarm)); }
  .course-figure .token.seam-top { border-top: 3px dashed rgb(var(--alarm)); }
  .course-figure .token.seen { background: rgba(var(--heat), 0.35); }
  .course-figure .token.stranger { background: repeating-linear-gradient(45deg, rgba(var(--alarm), 0.55) 0 4px, transparent 4px 8px); font-weight: 700; }
  .course-figure .token.chosen { background: rgb(var(--heat)); color: white; }
  .course-figure .token small { position: absolute; left: 2px; top: 1px; font-size: 0.6rem; color: var(--muted); }
  .course-figure .token.chosen small { color: white; }
  .course-figure .side { flex: 1 1 14rem; min-width: 0; max-width: 24rem; }
  .course-figure .side p { margin: 0 0 0.6rem; }
  .course-figure .side .controls { flex-direction: column; align-items: stretch; }
  .course-figure .side label { flex-wrap: wrap; }
  .course-figure input[type="range"] { flex: 1 1 8rem; min-width: 0; }
  .course-figure .stack fieldset { flex-direction: column; gap: 0.1rem; }
  .course-figure .stack legend { float: none; }`;

function render({ model, el }) {
  const { side, size, shift, kinds } = model.get("data");
  const names = Object.fromEntries(kinds);
  const group = "windows-" + Math.random().toString(36).slice(2);
  let kind = "stay";
  let chosen = { row: 1, column: 4 };

  const moves = (k) => k === "shift" || k === "leak";
  const rolled = (place, by) => (place - by + side) % side;

  // Do two places of one axis share a window, and is no seam between them?
  function near(a, b, k) {
    if (k === "whole") return true;
    const [x, y] = [a, b].map((place) => rolled(place, moves(k) ? shift : 0));
    const together = Math.floor(x / size) === Math.floor(y / size);
    const seam = k === "shift" && x >= side - shift !== y >= side - shift;
    return together && !seam;
  }

  // The last block is of the chosen kind; before it, shifting blocks take turns with staying ones.
  function reach(k, blocks) {
    const along = (start) => {
      let seen = [start];
      for (let n = 0; n < blocks; n += 1) {
        const now = moves(k) && n % 2 === 1 ? "stay" : k;
        seen = [...Array(side).keys()].filter((place) => seen.some((s) => near(s, place, now)));
      }
      return new Set(seen);
    };
    return { rows: along(chosen.row), columns: along(chosen.column) };
  }

  const radios = kinds.map(([key, name]) => {
    const radio = element("input", { type: "radio", name: group, checked: key === kind });
    radio.addEventListener("change", () => ((kind = key), update()));
    return element("label", {}, radio, name);
  });
  const slider = (name, min, max, value, change) => {
    const input = element("input", { type: "range", min, max, value, step: 1 });
    const shown = element("span", {}, String(value));
    input.addEventListener("input", () => (change(Number(input.value)), update()));
    return { input, shown, label: element("label", {}, name, input, shown) };
  };
  const row = slider("row", 0, side - 1, chosen.row, (v) => (chosen.row = v));
  const column = slider("column", 0, side - 1, chosen.column, (v) => (chosen.column = v));
  let blocks = 1;
  const depth = slider("blocks", 1, 4, blocks, (v) => (blocks = v));
  const asRolled = element("input", { type: "checkbox" });
  asRolled.addEventListener("change", () => update());

  const grid = element("div", { className: "tokens" });
  grid.style.gridTemplateColumns = `repeat(${side}, 1fr)`;
  grid.setAttribute("role", "img");
  const message = element("p", { className: "message" });
  message.setAttribute("role", "status");

  function cell(r, c, seen, friends) {
    const by = asRolled.checked && moves(kind) ? shift : 0; // rolled up and left: show from `by` on
    const home = { row: (r + by) % side, column: (c + by) % side };
    const inside = (set) => set.rows.has(home.row) && set.columns.has(home.column);
    const isChosen = home.row === chosen.row && home.column === chosen.column;
    const stranger = inside(seen) && !inside(friends);
    const classes = ["token"];
    const window = (place) => Math.floor(rolled(place, moves(kind) ? shift : 0) / size);
    const before = { row: (home.row + side - 1) % side, column: (home.column + side - 1) % side };
    if (kind !== "whole") {
      if (c > 0 && window(home.column) !== window(before.column)) classes.push("across");
      if (r > 0 && window(home.row) !== window(before.row)) classes.push("below");
    }
    if (by && c > 0 && home.column === 0) classes.push("seam-left");
    if (by && r > 0 && home.row === 0) classes.push("seam-top");
    classes.push(isChosen ? "chosen" : stranger ? "stranger" : inside(seen) ? "seen" : "unseen");
    const mark = isChosen ? "●" : stranger ? "×" : inside(seen) ? "•" : "";
    const node = element("div", { className: classes.join(" ") },
      element("small", {}, home.row * side + home.column), mark);
    node.addEventListener("click", () => ((chosen = home), update()));
    return node;
  }

  function describe(count, strangers) {
    const pairs = kind === "whole" ? side ** 4 : side * side * size * size;
    const after = blocks === 1 ? "looks at" : `has heard, after ${blocks} blocks, of`;
    const odd = strangers === 0 ? "" : ` ${strangers} of them (×) are reached only over the opposite edge of the image.`;
    return `${names[kind]}: token ${chosen.row * side + chosen.column} (row ${chosen.row}, column ${chosen.column}) ${after}
      ${count} of ${side * side} tokens.${odd} One block works out ${pairs.toLocaleString("en")} scores${moves(kind) ? ", forbidden ones included" : ""}.`;
  }

  function update() {
    const seen = reach(kind, blocks);
    const friends = kind === "leak" ? reach("shift", blocks) : seen;
    const cells = [];
    for (let r = 0; r < side; r += 1) for (let c = 0; c < side; c += 1) cells.push(cell(r, c, seen, friends));
    grid.replaceChildren(...cells);
    for (const [control, value] of [[row, chosen.row], [column, chosen.column], [depth, blocks]]) {
      control.input.value = value;
      control.shown.textContent = value;
    }
    asRolled.disabled = !moves(kind);
    const count = seen.rows.size * seen.columns.size;
    message.textContent = describe(count, count - friends.rows.size * friends.columns.size);
    grid.setAttribute("aria-label", message.textContent);
  }

  const side_ = element("div", { className: "side" },
    element("div", { className: "controls stack" },
      element("fieldset", {}, element("legend", {}, "one token looks at"), ...radios)),
    element("div", { className: "controls" }, row.label, column.label, depth.label,
      element("label", {}, asRolled, "show the grid as rolled (dashed: the seam)")));
  el.append(element("style", {}, STYLE), element("div", { className: "panels" }, grid, side_), message);
  update();
}

export default { render };
