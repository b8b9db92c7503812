// The forward pass of a small GPT in plain JavaScript: the same steps as solutions/gpt.py, the
// weights kept in half precision, every sum in double. A table of T tokens is one flat array.

// Half precision: 1 bit for the sign, 5 for the exponent, 10 for the fraction.
function fromHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

// base64 of all numbers one after another, and [name, ...shape] of each tensor -> { name: numbers }
function unpack(base64, tensors) {
  const text = atob(base64);
  const numbers = new Float64Array(text.length / 2);
  for (let i = 0; i < numbers.length; i++)
    numbers[i] = fromHalf(text.charCodeAt(2 * i) | (text.charCodeAt(2 * i + 1) << 8));
  const weights = {};
  let start = 0;
  for (const [name, ...shape] of tensors) {
    const end = start + shape.reduce((a, b) => a * b, 1);
    weights[name] = numbers.subarray(start, end);
    start = end;
  }
  return weights;
}

// x (T, from) times a weight kept as nn.Linear keeps it, (to, from) -> (T, to)
function linear(x, weight, bias, from) {
  const rows = x.length / from;
  const to = weight.length / from;
  const y = new Float64Array(rows * to);
  for (let t = 0; t < rows; t++)
    for (let j = 0; j < to; j++) {
      let sum = bias ? bias[j] : 0;
      for (let i = 0; i < from; i++) sum += x[t * from + i] * weight[j * from + i];
      y[t * to + j] = sum;
    }
  return y;
}

function layerNorm(x, gain, bias, width) {
  const y = new Float64Array(x.length);
  for (let start = 0; start < x.length; start += width) {
    const row = x.subarray(start, start + width);
    const mean = row.reduce((a, b) => a + b, 0) / width;
    const variance = row.reduce((sum, v) => sum + (v - mean) ** 2, 0) / width;
    for (let i = 0; i < width; i++)
      y[start + i] = ((row[i] - mean) / Math.sqrt(variance + 1e-5)) * gain[i] + bias[i];
  }
  return y;
}

// x times the share of a normal distribution below x; the polynomial (Abramowitz and Stegun, 7.1.26)
// is off by less than 2e-7, a thousandth of what half precision has already cost.
function gelu(x) {
  const z = Math.abs(x) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * z);
  const poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const erf = 1 - poly * Math.exp(-z * z);
  return 0.5 * x * (1 + (x < 0 ? -erf : erf));
}

// qkv (T, 3C) -> the heads' outputs side by side (T, C), and each head's weights (T, T)
function attend(qkv, nHead, width) {
  const rows = qkv.length / (3 * width);
  const size = width / nHead;
  const mixed = new Float64Array(rows * width);
  const maps = [];
  for (let head = 0; head < nHead; head++) {
    const map = new Float64Array(rows * rows);
    for (let t = 0; t < rows; t++) {
      const q = t * 3 * width + head * size;
      const weights = map.subarray(t * rows, (t + 1) * rows);
      let best = -Infinity;
      for (let s = 0; s <= t; s++) { // the causal mask: nothing later
        const k = s * 3 * width + width + head * size;
        let score = 0;
        for (let i = 0; i < size; i++) score += qkv[q + i] * qkv[k + i];
        weights[s] = score / Math.sqrt(size);
        best = Math.max(best, weights[s]);
      }
      let sum = 0;
      for (let s = 0; s <= t; s++) sum += weights[s] = Math.exp(weights[s] - best);
      for (let s = 0; s <= t; s++) {
        weights[s] /= sum;
        const v = s * 3 * width + 2 * width + head * size;
        for (let i = 0; i < size; i++) mixed[t * width + head * size + i] += weights[s] * qkv[v + i];
      }
    }
    maps.push(map);
  }
  return { mixed, maps };
}

// ids (T) -> { scores: (T, V) flat, attention: [layer][head] (T, T) flat }
function readIds(ids, { weights: w, n_embd: width, n_head: nHead, n_layer: nLayer }) {
  let x = new Float64Array(ids.length * width);
  ids.forEach((id, t) => {
    for (let i = 0; i < width; i++)
      x[t * width + i] = w["token.weight"][id * width + i] + w["position.table.weight"][t * width + i];
  });
  const add = (branch) => (x = x.map((v, i) => v + branch[i]));
  const attention = [];
  for (let layer = 0; layer < nLayer; layer++) {
    const part = (name) => w[`blocks.${layer}.${name}`];
    const apply = (name, y, from) => linear(y, part(`${name}.weight`), part(`${name}.bias`), from);
    const norm = (name) => layerNorm(x, part(`${name}.weight`), part(`${name}.bias`), width);
    const { mixed, maps } = attend(apply("attention.project", norm("attention_norm"), width), nHead, width);
    add(apply("attention.out", mixed, width));
    const hidden = apply("feed_forward.up", norm("feed_forward_norm"), width).map(gelu);
    add(apply("feed_forward.down", hidden, 4 * width));
    attention.push(maps);
  }
  const final = layerNorm(x, w["norm.weight"], w["norm.bias"], width);
  return { scores: linear(final, w["token.weight"], null, width), attention };
}
