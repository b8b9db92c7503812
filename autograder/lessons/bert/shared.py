"""What several questions of bert are tried with."""

from functools import cache

from solutions.bert import BERT


@cache
def shapes_of(head, options, config):
    """Return the shape of every parameter; building a model takes longer than anything else."""
    bert = BERT(**dict(config))
    model = head(bert, *options) if head else bert
    return {name: tuple(value.shape) for name, value in model.state_dict().items()}


def drawn_weights(d, config, head=None, *options):
    """Draw every parameter, gains and biases too, so that none can be left out unseen."""
    drawn = {}
    for name, shape in shapes_of(head, options, tuple(config.items())).items():
        if len(shape) == 1:
            drawn[name] = d.normal(*shape, std=1.0 if name.endswith("gain") else 0.5)
        else:
            table = name.split(".")[-2] in ("token", "table", "segment")
            drawn[name] = d.normal(*shape, std=0.8 if table else 1.2 * shape[1] ** -0.5)
    return drawn


def drawn_config(d, n_layer=1):
    heads, size = d.sizes(2, 2, 3)
    width = heads * size
    sizes = {"n_vocab": 19, "block_size": 9, "n_embd": width, "n_head": heads, "n_layer": n_layer}
    return sizes | {"n_hidden": width + 3, "n_segment": 3}


def drawn_ids(d, b, t, padding="none"):
    ids = d.integers(1, 19, b, t)
    if padding == "end":
        for row in range(b):
            ids[row, t - row :] = 0  # the first text is full, the next ones ever shorter
    if padding == "inside":
        ids[0, 1] = ids[-1, t - 2] = 0
    return ids


def built_head(own, name, config, weights, options, ids, segments):
    """Put the head on a BERT and read texts: scores, ids as left, the gradient of every weight."""
    import torch

    from autograder.seam.probe import push

    model = getattr(own, name)(own.BERT(**config), 4, **options)
    model.load_state_dict(weights)
    model.eval()
    fresh = ids.clone()
    more = {} if segments is None else {"segments": segments}
    scores = model(fresh, **more)
    if not isinstance(scores, torch.Tensor) or scores.shape[:1] != ids.shape[:1]:
        return {"result": scores}
    if scores.ndim == 3 and scores.shape[:2] == ids.shape:
        scores = scores * (ids != 0).unsqueeze(-1)
    named = dict(model.named_parameters())
    seen = {"result": scores, "inputs": [fresh]}
    if scores.requires_grad:
        grads = torch.autograd.grad(
            (scores * push(scores)).sum(), named.values(), allow_unused=True
        )
        seen["parameter gradients"] = dict(zip(named, grads, strict=True))
    return seen


def dropped_head(own, name, config, weights, options, ids, segments):
    """Train with a dropout of 1 in front of the head: only its bias is left."""
    model = getattr(own, name)(own.BERT(**config), 4, **options)
    model.load_state_dict(weights)
    model.train()
    return model(ids, segments).detach()


def half_dropped(own, name, config, weights, options, ids, segments):
    """Train with a dropout of 0.5 on one text many times; what becomes of its numbers."""
    import torch

    model = getattr(own, name)(own.BERT(**config), 4, **options)
    model.load_state_dict(weights)
    model.head.weight.data = torch.eye(*model.head.weight.shape)
    model.head.bias.data.zero_()
    texts = ids[:1].repeat(400, 1)
    with torch.no_grad():
        whole = model.eval()(texts, None)
        torch.manual_seed(0)
        halved = model.train()(texts, None)
    dropped = halved == 0
    return {
        "half of the numbers are dropped": bool(0.4 < dropped.float().mean() < 0.6),
        "the others are doubled": bool((dropped | (halved - 2 * whole).abs().lt(1e-4)).all()),
    }


def headed(head, padding="none", segments=False, b=3, t=6, dropout=0.0, **options):
    options = options | {"dropout": dropout}

    def draw(d):
        config = drawn_config(d)
        kinds = d.integers(0, 3, b, t) if segments else None
        weights = drawn_weights(d, config, head, 4)
        return config, weights, options, drawn_ids(d, b, t, padding), kinds

    return draw
