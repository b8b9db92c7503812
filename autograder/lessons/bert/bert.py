"""BERT: the cases it is tried in, and the slips that are known."""

from autograder.checks.question import GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.bert.shared import drawn_config, drawn_ids, drawn_weights
from solutions.bert import BERT


def _text(padding="none", segments=False, b=3, t=6, dropout=0.0, n_layer=2):
    def draw(d):
        config = drawn_config(d, n_layer) | {"dropout": dropout}
        ids = drawn_ids(d, b, t, padding)
        kinds = d.integers(0, 3, b, t) if segments else None
        return config, drawn_weights(d, config), ids, kinds

    return draw


def _vectors(own, name, config, weights, ids, segments):
    """Read texts: real tokens' vectors, arguments as left, the gradient of every weight."""
    import torch

    from autograder.seam.probe import push

    bert = own.BERT(**config)
    bert.load_state_dict(weights)
    bert.eval()
    fresh = ids.clone()
    more = {} if segments is None else {"segments": segments.clone()}
    x = bert(fresh, **more)
    if not isinstance(x, torch.Tensor) or x.shape[:2] != ids.shape:
        return {"result": x}
    real = x * (ids != 0).unsqueeze(-1)  # what stands at padding is nobody's business
    named = dict(bert.named_parameters())
    seen = {"result": real, "inputs": [fresh, *more.values()]}
    if x.requires_grad:
        grads = torch.autograd.grad((real * push(real)).sum(), named.values(), allow_unused=True)
        seen["parameter gradients"] = dict(zip(named, grads, strict=True))
    return seen


def _one_after_another(own, name, config, weights, ids, segments):
    """Read two batches with different padding, one after the other, with the same model."""
    bert = own.BERT(**config)
    bert.load_state_dict(weights)
    bert.eval()
    batches = ids, ids.flip(0)
    return [(bert(each) * (each != 0).unsqueeze(-1)).detach() for each in batches]


def _dropped_once(own, name, config, weights, ids, segments):
    """Train with a dropout of 0.5 and no blocks: what is not dropped is doubled, no more."""
    import torch

    bert = own.BERT(**config)
    bert.load_state_dict(weights)
    with torch.no_grad():
        whole = bert.eval()(ids)
        torch.manual_seed(0)
        halved = bert.train()(ids)
    dropped = halved == 0
    return {
        "some numbers are dropped": bool(0.2 < dropped.float().mean() < 0.8),
        "the others are doubled": bool((dropped | (halved - 2 * whole).abs().lt(1e-4)).all()),
    }


def _all_dropped(own, name, config, weights, ids, segments):
    """Train with a dropout of 1: nothing of the words gets past the first sum."""
    bert = own.BERT(**config)
    bert.load_state_dict(weights)
    bert.train()
    return bert(ids, segments).detach()


EMBED = "x = self.position(self.token(ids) + self.segment(segments))"


QUESTION = Exercise(
    BERT,
    parts={"values": 7, "segments": 3, "padding": 4, GRADIENT: 2, "dropout": 2},
    cases=[
        Case("values", "a batch of texts", _text(), _vectors),
        Case("values", "one token", _text(b=2, t=1), _vectors),
        Case("values", "as long as the table", _text(b=2, t=9), _vectors),
        Case("segments", "three segments", _text(segments=True), _vectors),
        Case("padding", "padding at the end", _text("end"), _vectors),
        Case("padding", "padding inside", _text("inside", b=1), _vectors),
        Case("padding", "one batch after another", _text("end"), _one_after_another),
        Case("dropout", "everything dropped", _text(dropout=1.0), _all_dropped),
        Case("dropout", "half of it", _text(b=9, t=9, dropout=0.5, n_layer=0), _dropped_once),
        Case("dropout", "at rest", _text(dropout=1.0), _vectors),
    ],
    slips=[
        Slip(
            "segments forgotten",
            BERT.forward,
            EMBED,
            "x = self.position(self.token(ids))",
            "The rows of `segment` are not added; without segments every token has row 0.",
        ),
        Slip(
            "segments only where given",
            BERT.forward,
            EMBED,
            "x = self.position(self.token(ids) + self.segment(segments) * segments.any())",
            "Where no segments are given no row of `segment` is added: all tokens then belong to "
            "segment 0, and its row is added like any other.",
        ),
        Slip(
            "segments ignored",
            BERT.forward,
            "segments = torch.zeros_like(ids) if segments is None else segments",
            "segments = torch.zeros_like(ids)",
            "The segments that are given are not used: every token is taken for segment 0.",
        ),
        Slip(
            "no positions",
            BERT.forward,
            EMBED,
            "x = self.token(ids) + self.segment(segments)",
            "The positions are not added: the texts become bags of words.",
        ),
        Slip(
            "no norm of the embeddings",
            BERT.forward,
            "self.dropout(self.norm(x))",
            "self.dropout(x)",
            "The sum of the embeddings is not normalised: `norm` comes before the first block.",
        ),
        Slip(
            "dropout missing",
            BERT.forward,
            "self.dropout(self.norm(x))",
            "self.norm(x)",
            "`dropout` is not used on the normalised embeddings.",
        ),
        Slip(
            "mask kept from the first texts",
            BERT.forward,
            "padding_mask(ids)",
            'vars(self).setdefault("kept", padding_mask(ids))',
            "The padding mask of the first texts is kept and used for all later ones: make it in "
            "every call.",
        ),
        Slip(
            "dropped out twice",
            BERT.forward,
            "self.dropout(self.norm(x))",
            "self.dropout(self.norm(self.dropout(x)))",
            "There is a second dropout: only the normalised embeddings are dropped out.",
        ),
        Slip(
            "dropout never rests",
            BERT.forward,
            "self.dropout(self.norm(x))",
            "F.dropout(self.norm(x), self.dropout.p)",
            "The dropout is still at work in evaluation, where the same text should get the same "
            "vectors every time: use `self.dropout`, which rests then.",
        ),
        Slip(
            "dropout before the norm",
            BERT.forward,
            "self.dropout(self.norm(x))",
            "self.norm(self.dropout(x))",
            "Dropout comes before the norm, which then stretches what is left: first `norm`, then "
            "`dropout`.",
        ),
        Slip(
            "embeddings scaled",
            BERT.forward,
            EMBED,
            "x = self.position(self.token(ids) * self.token.embedding_dim**0.5"
            " + self.segment(segments))",
            "The words are multiplied by the root of C, as in the original Transformer: BERT does "
            "not do that.",
        ),
        Slip(
            "padding seen",
            BERT.forward,
            "x = block(x, mask)",
            "x = block(x)",
            "The blocks get no mask: the words look at padding, so a text's vectors depend on the "
            "longest text of its batch.",
        ),
        Slip(
            "only padding seen",
            BERT.forward,
            "mask = padding_mask(ids)",
            "mask = ~padding_mask(ids)",
            "The mask is turned round: True means that looking is allowed.",
        ),
        Slip(
            "padding may not look",
            BERT.forward,
            "mask = padding_mask(ids)",
            "mask = padding_mask(ids).mT",
            "The mask lies along the queries (B, T, 1): padding may not look, but everybody looks "
            "at padding. It belongs along the keys: (B, 1, T).",
        ),
        Slip(
            "causal mask left on",
            BERT.forward,
            "mask = padding_mask(ids)",
            "mask = padding_mask(ids) & torch.ones_like(ids[0] @ ids[0].T, dtype=torch.bool)"
            ".new_ones(ids.size(1), ids.size(1)).tril()",
            "A causal mask is on: a token sees only what stands before it. BERT reads in both "
            "directions.",
        ),
        Slip(
            "mask in the first block only",
            BERT.forward,
            "x = block(x, mask)",
            "x, mask = block(x, mask), None",
            "Only the first block gets the mask: padding has a vector too after it, and the second "
            "block looks at it.",
        ),
        Slip(
            "one block again and again",
            BERT.forward,
            "x = block(x, mask)",
            "x = self.blocks[0](x, mask)",
            "The first block is used for every layer: each has its own weights.",
        ),
        Slip(
            "first block only",
            BERT.forward,
            "for block in self.blocks:",
            "for block in self.blocks[:1]:",
            "Only the first block is used: go through all of them.",
        ),
        Slip(
            "another norm at the end",
            BERT.forward,
            "return x",
            "return self.norm(x)",
            "The result is normalised once more. In post-norm the last block has done that.",
        ),
    ],
)
