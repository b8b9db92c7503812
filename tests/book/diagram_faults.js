// What is wrong with the diagrams a page shows: a list of sentences, empty when all is well.
(() => {
  const faults = [];
  const near = 0.6; // pixels: what nobody sees
  const rectOf = (el) => el.getBoundingClientRect();
  const overlap = (a, b, by = near) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > by &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > by;
  const inside = (a, b, by = near) =>
    a.left >= b.left - by && a.right <= b.right + by && a.top >= b.top - by && a.bottom <= b.bottom + by;
  // Where the ink of a text is: a browser's box has the font's full height, used or not.
  const pen = document.createElement("canvas").getContext("2d");
  const inkOf = (el) => {
    const { left, right, top, height } = rectOf(el);
    const style = getComputedStyle(el);
    pen.font = `${style.fontStyle} ${style.fontWeight} 100px ${style.fontFamily}`;
    const m = pen.measureText(el.textContent);
    const unit = height / (m.fontBoundingBoxAscent + m.fontBoundingBoxDescent);
    const baseline = top + unit * m.fontBoundingBoxAscent;
    return { left, right, top: baseline - unit * m.actualBoundingBoxAscent, bottom: baseline + unit * m.actualBoundingBoxDescent };
  };
  const luminance = (colour) => {
    const numbers = colour.match(/-?[\d.]+(e-?\d+)?/g).map(Number);
    const scale = colour.startsWith("color(") ? 1 : 255;
    const linear = numbers.slice(0, 3).map((c) => c / scale).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  for (const svg of document.querySelectorAll(".course-diagram > svg:not(.thumbnail-map)")) {
    const page = rectOf(svg);
    if (!page.width) continue;
    const name = `${svg.ariaLabel} (${svg.classList[0]})`;
    const scale = page.width / svg.viewBox.baseVal.width;
    const texts = [...svg.querySelectorAll("text")].map((el) => ({ el, text: el.textContent, at: inkOf(el) }));
    const boxes = [...svg.querySelectorAll(".box > rect, .box > circle, .cells > rect")];
    for (const { el, text, at } of texts) {
      for (const piece of [el, ...el.querySelectorAll("tspan")]) {
        const size = parseFloat(getComputedStyle(piece).fontSize) * scale;
        if (piece.textContent.trim() && size < 9) faults.push(`${name}: "${text}" is ${size.toFixed(1)} px high`);
      }
      if (!inside(at, page)) faults.push(`${name}: "${text}" leaves the picture`);
      const own = el.closest("g.cell, g.box")?.querySelector("rect, circle");
      if (own && !inside(at, rectOf(own))) faults.push(`${name}: "${text}" leaves its box`);
      if (own) {
        const [a, b] = [luminance(getComputedStyle(el).fill), luminance(getComputedStyle(own).fill)];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (contrast < 4.5) faults.push(`${name}: "${text}" has a contrast of ${contrast.toFixed(1)}`);
      }
      for (const box of boxes)
        if (!own && overlap(at, rectOf(box))) faults.push(`${name}: "${text}" lies on a box`);
    }
    texts.forEach((a, i) => texts.slice(i + 1).forEach((b) => {
      if (overlap(a.at, b.at)) faults.push(`${name}: "${a.text}" lies on "${b.text}"`);
    }));
    const own = boxes.filter((box) => box.closest("g.box"));
    own.forEach((a, i) => own.slice(i + 1).forEach((b) => {
      if (overlap(rectOf(a), rectOf(b))) faults.push(`${name}: two boxes lie on each other`);
    }));
    for (const box of [...boxes, ...svg.querySelectorAll(".ring, .dot, path.head")])
      if (!inside(rectOf(box), page)) faults.push(`${name}: a shape leaves the picture`);
    for (const wire of svg.querySelectorAll(".wire")) {
      const length = wire.getTotalLength();
      const matrix = wire.getScreenCTM();
      for (let s = 0; s <= length; s += 3) {
        const p = wire.getPointAtLength(s).matrixTransform(matrix);
        const spot = { left: p.x, right: p.x, top: p.y, bottom: p.y };
        const hit = texts.find(({ at }) => inside(spot, at, -1));
        if (hit) { faults.push(`${name}: a wire runs through "${hit.text}"`); break; }
        const box = boxes.find((el) => inside(spot, rectOf(el), -3));
        if (box) { faults.push(`${name}: a wire runs through a box, "${box.parentElement.textContent.slice(0, 20)}"`); break; }
      }
    }
  }
  return [...new Set(faults)];
})()
