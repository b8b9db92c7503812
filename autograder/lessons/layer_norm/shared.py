"""What several questions of layer_norm are tried with."""

SMALL = 3e-3  # a standard deviation whose square is about eps: where eps stands shows


def called_twice(own, name, config, weights, first, second):
    """Train on one batch, then evaluate on another: nothing of the first may remain."""
    layer = getattr(own, name)(**config)
    layer.load_state_dict(weights)
    layer.train()
    trained = layer(first)
    layer.eval()
    return {"trained": trained, "evaluated": layer(second)}


def two_batches(d, bias=True):
    c = d.sizes(1, 4, 7)[0]
    weights = {"gain": d.normal(c)} | ({"bias": d.normal(c)} if bias else {})
    return {"n_embd": c}, weights, d.normal(4, 3, c, std=5.0), d.normal(2, 5, c)
