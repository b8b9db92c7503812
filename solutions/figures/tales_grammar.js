// The grammar of tiny tales, as solutions/data/tiny_tales.py tells it; the word lists come from there.
// A test holds the two equal at every place of thousands of stories.
const even = (words) => Object.fromEntries(words.map((word) => [word, 1 / words.length]));

function falling(words) {
  const total = words.reduce((sum, _, n) => sum + 1 / (n + 1), 0);
  return Object.fromEntries(words.map((word, n) => [word, 1 / (n + 1) / total]));
}

function tinted(words, glad, preference) {
  const half = words.length / 2;
  const total = half * (preference + 1);
  return Object.fromEntries(words.map((word, n) => [word, (n < half === glad ? preference : 1) / total]));
}

// Tell one story: yield the odds of the next word, be sent the word that came.
function* tell(lists, glad) {
  const names = [...lists.HE, ...lists.SHE];
  function* say(text) {
    for (const word of text.split(" ")) yield { [word]: 1 };
  }
  yield* say("once");
  const hero = yield even(names);
  const pronoun = lists.HE.includes(hero) ? "he" : "she";
  yield* say("the");
  yield falling(lists.ANIMALS);
  yield* say("lived by the");
  const place = yield even(lists.PLACES);
  yield* say(".");

  const others = even(names.filter((name) => name !== hero));
  const rarer = Object.entries(others).map(([name, p]) => [name, 0.4 * p]);
  let friend = yield { [pronoun]: 0.6, ...Object.fromEntries(rarer) };
  if (friend === pronoun) {
    yield* say("had a friend called");
    friend = yield others;
    yield* say(".");
  } else {
    yield* say("the");
    yield falling(lists.ANIMALS);
    yield* say("lived there too .");
  }

  yield* say("one");
  yield lists.TIMES;
  yield* say(`${hero} found a`);
  const colour = yield falling(lists.COLOURS);
  const thing = yield even(lists.THINGS);
  yield* say("and felt");
  yield tinted(lists.FEELINGS, glad, lists.PREFERENCE);
  yield* say(".");

  const how = yield { [pronoun]: 0.5, [friend]: 0.3, a: 0.2 };
  const owner = how === pronoun ? friend : hero;
  if (how === pronoun) yield* say(`gave the ${colour} ${thing} to ${friend} .`);
  else if (how === friend) yield* say(`wanted the ${thing} but ${hero} kept it .`);
  else {
    yield even(lists.THIEVES);
    yield* say(`took the ${colour} ${thing} but ${friend} brought it back .`);
  }

  yield* say("then");
  yield { [hero]: 0.5, [friend]: 0.5 };
  yield tinted(lists.DEEDS, glad, lists.PREFERENCE);
  yield* say(`by the ${place} . so the ${colour} ${thing} belongs to ${owner} .`);
  yield* say("it all ended with a");
  yield tinted(lists.ENDINGS, glad, lists.PREFERENCE);
  yield* say(".");
}

// The exact odds of what follows the words, the mood unknown: { table }, or { wrong: n } where word n
// is one that the grammar never says there. Each mood counts by how well it explains the words so far.
function oddsAfter(words, lists, end) {
  const moods = [true, false].map((glad) => {
    const teller = tell(lists, glad);
    return { teller, belief: 0.5, said: teller.next().value };
  });
  for (const [n, word] of words.entries()) {
    for (const mood of moods) mood.belief *= Object.hasOwn(mood.said, word) ? mood.said[word] : 0;
    const total = moods.reduce((sum, mood) => sum + mood.belief, 0);
    if (total === 0) return { wrong: n };
    for (const mood of moods) {
      mood.belief /= total;
      const { value, done } = mood.teller.next(word);
      mood.said = done ? { [end]: 1 } : value;
    }
  }
  const table = {};
  for (const { belief, said } of moods)
    for (const [word, p] of Object.entries(said)) table[word] = (table[word] ?? 0) + belief * p;
  return { table };
}
