"""TextClassifier: the cases it is tried in, and the slips that are known."""

from autograder.checks.question import GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.bert.shared import built_head, dropped_head, half_dropped, headed
from solutions.fine_tune import TextClassifier


def _head_values(own, name, config, weights, options, ids, segments):
    """Put the head on a BERT and read texts: the scores only."""
    model = getattr(own, name)(own.BERT(**config), 4, **options)
    model.load_state_dict(weights)
    model.eval()
    return model(ids, segments).detach()


def _a_text_of_padding(d):
    """Padding has vectors too; what they are is open, but a text of padding averages nothing."""
    config, weights, options, ids, kinds = headed(TextClassifier, b=2, t=4, pooling="mean")(d)
    ids[0, 1:], ids[1] = 0, 0
    return config, weights, options, ids, kinds


CLS, AVERAGE = {"pooling": "cls"}, {"pooling": "mean"}


POOLED = """return self.head(self.dropout(x[:, 0]))
        real = (ids != 0).unsqueeze(-1).to(x.dtype)  # (B, T, 1)
        mean = (x * real).sum(1) / real.sum(1).clamp(min=1)
        return self.head(self.dropout(mean))"""


QUESTION = Exercise(
    TextClassifier,
    parts={"first token": 4, "average": 6, GRADIENT: 1, "dropout": 1},
    cases=[
        Case("first token", "a batch of texts", headed(TextClassifier, **CLS), built_head),
        Case(
            "first token",
            "padding and segments",
            headed(TextClassifier, "end", True, **CLS),
            built_head,
        ),
        Case("average", "texts of one length", headed(TextClassifier, **AVERAGE), built_head),
        Case("average", "padding at the end", headed(TextClassifier, "end", **AVERAGE), built_head),
        Case(
            "average",
            "padding inside, segments",
            headed(TextClassifier, "inside", True, b=2, t=5, **AVERAGE),
            built_head,
        ),
        Case("average", "one word, and no word at all", _a_text_of_padding, _head_values),
        Case("dropout", "first token", headed(TextClassifier, dropout=1.0, **CLS), dropped_head),
        Case("dropout", "average", headed(TextClassifier, dropout=1.0, **AVERAGE), dropped_head),
        Case(
            "dropout",
            "half of the average",
            headed(TextClassifier, dropout=0.5, **AVERAGE),
            half_dropped,
        ),
        Case(
            "dropout",
            "half of the first token",
            headed(TextClassifier, dropout=0.5, **CLS),
            half_dropped,
        ),
        Case(
            "dropout",
            "first token, at rest",
            headed(TextClassifier, dropout=1.0, **CLS),
            _head_values,
        ),
        Case(
            "dropout",
            "average, at rest",
            headed(TextClassifier, dropout=1.0, **AVERAGE),
            _head_values,
        ),
    ],
    slips=[
        Slip(
            "padding averaged",
            TextClassifier.forward,
            "(x * real).sum(1) / real.sum(1).clamp(min=1)",
            "x.mean(1)",
            "The average runs over padding too: a text's answer would depend on the longest text "
            "of its batch. Count only tokens whose id is not 0.",
        ),
        Slip(
            "divided by the longest text",
            TextClassifier.forward,
            "real.sum(1).clamp(min=1)",
            "ids.size(1)",
            "The real tokens are added up, but the sum is divided by T, padding included: divide "
            "by the number of real tokens.",
        ),
        Slip(
            "sum for average",
            TextClassifier.forward,
            "(x * real).sum(1) / real.sum(1).clamp(min=1)",
            "(x * real).sum(1)",
            "The tokens are summed: long texts would speak louder. Divide by their number.",
        ),
        Slip(
            "largest for average",
            TextClassifier.forward,
            "(x * real).sum(1) / real.sum(1).clamp(min=1)",
            "(x * real).amax(1)",
            "The largest number of each column is taken: the average is asked for.",
        ),
        Slip(
            "nan for an empty text",
            TextClassifier.forward,
            "real.sum(1).clamp(min=1)",
            "real.sum(1)",
            "A text without any real token is divided by 0: its average is 0.",
        ),
        Slip(
            "last token for the first",
            TextClassifier.forward,
            "x[:, 0]",
            "x[:, -1]",
            "The last token is read: [CLS] stands first, and the last one may be padding.",
        ),
        Slip(
            "always the first token",
            TextClassifier.forward,
            'self.pooling == "cls"',
            "True",
            'The first token is read whatever was asked for: `self.pooling` may be "mean".',
        ),
        Slip(
            "always the average",
            TextClassifier.forward,
            'self.pooling == "cls"',
            "False",
            'The average is taken whatever was asked for: `self.pooling` may be "cls".',
        ),
        Slip(
            "probabilities for scores",
            TextClassifier.forward,
            "return self.head(self.dropout(x[:, 0]))",
            "return self.head(self.dropout(x[:, 0])).softmax(-1)",
            "`forward` returns probabilities: return the scores.",
        ),
        Slip(
            "dropout missing",
            TextClassifier.forward,
            "return self.head(self.dropout(x[:, 0]))",
            "return self.head(x[:, 0])",
            "`dropout` in front of the head is missing.",
        ),
        Slip(
            "dropout before the average",
            TextClassifier.forward,
            POOLED,
            POOLED.replace("x * real", "self.dropout(x) * real").replace(
                "self.dropout(mean)", "mean"
            ),
            "The tokens' vectors are dropped out, not the text's: make one vector of each text "
            "first, then `dropout`.",
        ),
        Slip(
            "dropout never rests",
            TextClassifier.forward,
            POOLED,
            POOLED.replace("self.dropout(", "nn.Dropout(self.dropout.p)("),
            "The dropout is still at work in evaluation, where the same text should get the same "
            "scores every time: use `self.dropout`, which rests then.",
        ),
        Slip(
            "encoder frozen",
            TextClassifier.forward,
            "x = self.bert(ids, segments)",
            "x = self.bert(ids, segments).detach()",
            "No gradient reaches `bert` (detach or no_grad): that is a probe of frozen features, "
            "fine-tuning trains all of it.",
        ),
        Slip(
            "segments not passed on",
            TextClassifier.forward,
            "self.bert(ids, segments)",
            "self.bert(ids)",
            "The segments are not passed on to `bert`.",
        ),
    ],
    equivalent={
        "TextClassifier.forward: (ids != 0).unsqueeze(-1).to(x.dtype) -> "
        "(ids != 0).unsqueeze(-1)": "a product with True or False is a product with 1 or 0",
    },
)
