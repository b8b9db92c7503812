"""What several questions of position are tried with."""


def called_again(own, name, config, weights, first, second):
    """Call twice, the weights changed in between: nothing of the first call may remain."""
    import torch

    layer = getattr(own, name)(**config)
    layer.load_state_dict(weights)
    layer.eval()
    layer(*first)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.mul_(2)
        return {"result": layer(*second)}
