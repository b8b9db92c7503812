"""The stages of the walk: what goes in, what happens, what comes out, which lesson explains it.

"in" and "out" name tables of solutions/studies/sentence_trace.py. "by" says how one number of the
output is made, so that the page can show the sum; the parameters have the name of the table that
comes out, or the one given as "with".
"""

NAMES = {
    "ids": "ids",
    "token": "token rows",
    "position": "position rows",
    "start": "the stream",
    "norm": "the stream, normalised",
    "query": "queries",
    "key": "keys",
    "value": "values",
    "scores": "scores",
    "weights": "weights",
    "heads": "both heads' answers",
    "out": "what attention says",
    "middle": "the stream after attention",
    "norm_2": "the stream after attention, normalised",
    "up": "widened",
    "active": "widened, after the ReLU",
    "down": "what the feed-forward layer says",
    "end": "the stream after the block",
    "norm_3": "the stream after the block, normalised",
    "word_scores": "word scores",
    "odds": "odds of the next word",
}

STAGES = [
    {
        "title": "Words become ids",
        "lesson": "byte_pairs",
        "does": "Every word has a number, its place in a list of the {V} words the model knows. A "
        "full stop stands in front: it says where a sentence begins. A large model has "
        "pieces of words in its list; this one has whole words.",
        "in": [],
        "out": [{"label": "", "table": "ids"}],
        "by": "id",
    },
    {
        "title": "Each id fetches a row of the table",
        "lesson": "recurrence",
        "does": "The token table has one row of {C} numbers for every word; they were learned. "
        "Both occurrences of “the” fetch the same row: so far no token knows where it "
        "stands.",
        "in": ["ids"],
        "out": [{"label": "", "table": "token"}],
        "by": "look",
    },
    {
        "title": "Add where it stands",
        "lesson": "position",
        "does": "A second learned table has a row for every position. It is added. Now the two "
        "rows of “the” differ.",
        "in": ["token", "position"],
        "out": [{"label": "", "table": "start"}],
        "by": "add",
    },
    {
        "title": "Normalise each token",
        "lesson": "layer_norm",
        "does": "The block begins. Its first branch reads a normalised copy: from the token's {C} "
        "numbers subtract their mean, divide by their standard deviation, then apply a "
        "learned gain and bias.",
        "in": ["start"],
        "out": [{"label": "", "table": "norm"}],
        "by": "norm",
    },
    {
        "title": "Ask, offer, hand over",
        "lesson": "queries_keys_values",
        "does": "Three matrices make a query, a key and a value from each token. The first {D} "
        "numbers of each belong to head 1, the others to head 2.",
        "in": ["norm"],
        "out": [
            {"label": "queries", "table": "query"},
            {"label": "keys", "table": "key"},
            {"label": "values", "table": "value"},
        ],
        "by": "linear",
    },
    {
        "title": "Compare every query with every key",
        "lesson": "queries_keys_values",
        "does": "A score is the dot product of a query (row) and a key (column), divided by the "
        "root of {D}. Later words are masked: the model is asked for them and must not see "
        "them.",
        "in": ["query", "key"],
        "out": [
            {"label": "head 1", "table": "scores", "head": 0},
            {"label": "head 2", "table": "scores", "head": 1},
        ],
        "by": "score",
    },
    {
        "title": "Scores become weights",
        "lesson": "self_attention",
        "does": "The softmax makes each row positive and lets it sum to 1: how much of its "
        "attention a token (row) spends on each word (column).",
        "in": ["scores"],
        "out": [
            {"label": "head 1", "table": "weights", "head": 0},
            {"label": "head 2", "table": "weights", "head": 1},
        ],
        "by": "softmax",
    },
    {
        "title": "Mix the values",
        "lesson": "multi_head",
        "does": "Each head adds up the values of all words by its weights. The two heads' answers "
        "are put side by side: numbers 1 to {D} from head 1, the others from head 2.",
        "in": ["weights", "value"],
        "out": [{"label": "", "table": "heads"}],
        "by": "mix",
    },
    {
        "title": "Bring the heads together",
        "lesson": "multi_head",
        "does": "One more matrix lets every number of the result depend on both heads.",
        "in": ["heads"],
        "out": [{"label": "", "table": "out"}],
        "by": "linear",
    },
    {
        "title": "Add it to the stream",
        "lesson": "residual",
        "does": "What attention found is added to what the token was before the norm. Nothing is "
        "overwritten.",
        "in": ["start", "out"],
        "out": [{"label": "", "table": "middle"}],
        "by": "add",
    },
    {
        "title": "Normalise again",
        "lesson": "layer_norm",
        "does": "The second branch has a norm of its own, with its own gain and bias.",
        "in": ["middle"],
        "out": [{"label": "", "table": "norm_2"}],
        "by": "norm",
    },
    {
        "title": "Widen",
        "lesson": "residual",
        "does": "The feed-forward layer looks at each token alone. A matrix makes {F} numbers of "
        "{C}.",
        "in": ["norm_2"],
        "out": [{"label": "", "table": "up"}],
        "by": "linear",
    },
    {
        "title": "Keep what is positive",
        "lesson": "residual",
        "does": "The ReLU, the layer's only nonlinearity: negative numbers become 0.",
        "in": ["up"],
        "out": [{"label": "", "table": "active"}],
        "by": "relu",
    },
    {
        "title": "Narrow",
        "lesson": "residual",
        "does": "A second matrix goes back from {F} numbers to {C}.",
        "in": ["active"],
        "out": [{"label": "", "table": "down"}],
        "by": "linear",
    },
    {
        "title": "Add it to the stream: the block's output",
        "lesson": "layer_norm",
        "does": "The same shape as what went in, {T} tokens of {C} numbers: another block could "
        "follow. This model has one.",
        "in": ["middle", "down"],
        "out": [{"label": "", "table": "end"}],
        "by": "add",
    },
    {
        "title": "A last norm",
        "lesson": "gpt",
        "does": "After the last block, the stream is normalised once more.",
        "in": ["end"],
        "out": [{"label": "", "table": "norm_3"}],
        "by": "norm",
    },
    {
        "title": "Score every word as the next one",
        "lesson": "gpt",
        "does": "A matrix with a row for each of the {V} words: the dot product says how well the "
        "word fits as the next one.",
        "in": ["norm_3"],
        "out": [{"label": "", "table": "word_scores"}],
        "by": "linear",
        "with": "head",
    },
    {
        "title": "The odds of the next word",
        "lesson": "gpt",
        "does": "A softmax over the {V} scores. At every place the model says what should come "
        "next; in training it is judged at all of them at once.",
        "in": ["word_scores"],
        "out": [{"label": "", "table": "odds"}],
        "by": "softmax",
    },
]
