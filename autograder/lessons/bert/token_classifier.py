"""TokenClassifier: the cases it is tried in, and the slips that are known."""

from autograder.checks.question import GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.bert.shared import built_head, dropped_head, half_dropped, headed
from solutions.fine_tune import TokenClassifier

QUESTION = Exercise(
    TokenClassifier,
    parts={"values": 4, GRADIENT: 2, "dropout": 2},
    cases=[
        Case("values", "a batch of texts", headed(TokenClassifier), built_head),
        Case("values", "padding, segments", headed(TokenClassifier, "end", True), built_head),
        Case("values", "one token", headed(TokenClassifier, b=2, t=1), built_head),
        Case("dropout", "everything dropped", headed(TokenClassifier, dropout=1.0), dropped_head),
        Case("dropout", "half of it", headed(TokenClassifier, dropout=0.5), half_dropped),
        Case("dropout", "at rest", headed(TokenClassifier, dropout=1.0), built_head),
    ],
    slips=[
        Slip(
            "one answer for all words",
            TokenClassifier.forward,
            "self.bert(ids, segments)",
            "self.bert(ids, segments)[:, :1].expand(-1, ids.size(1), -1)",
            "Every word gets the scores of [CLS]: each is to be sorted by its own vector.",
        ),
        Slip(
            "words without their text",
            TokenClassifier.forward,
            "self.bert(ids, segments)",
            "self.bert.token(ids)",
            "The words' rows in the table are sorted, before any block: then `watch` has one tag "
            "whatever stands around it.",
        ),
        Slip(
            "probabilities for scores",
            TokenClassifier.forward,
            "return self.head(self.dropout(self.bert(ids, segments)))",
            "return self.head(self.dropout(self.bert(ids, segments))).softmax(-1)",
            "`forward` returns probabilities: return the scores.",
        ),
        Slip(
            "dropout missing",
            TokenClassifier.forward,
            "self.dropout(self.bert(ids, segments))",
            "self.bert(ids, segments)",
            "`dropout` in front of the head is missing.",
        ),
        Slip(
            "dropout never rests",
            TokenClassifier.forward,
            "self.dropout(self.bert(ids, segments))",
            "nn.Dropout(self.dropout.p)(self.bert(ids, segments))",
            "The dropout is still at work in evaluation, where the same text should get the same "
            "scores every time: use `self.dropout`, which rests then.",
        ),
        Slip(
            "encoder frozen",
            TokenClassifier.forward,
            "self.bert(ids, segments)",
            "self.bert(ids, segments).detach()",
            "No gradient reaches `bert` (detach or no_grad): fine-tuning trains all of it.",
        ),
        Slip(
            "segments not passed on",
            TokenClassifier.forward,
            "self.bert(ids, segments)",
            "self.bert(ids)",
            "The segments are not passed on to `bert`.",
        ),
    ],
)
