"""ViT: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import built
from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.seam.probe import module
from solutions.vit import ViT

SMALL = {"image_size": (4, 6), "patch_size": 2, "n_channel": 2, "n_class": 5}


SMALL |= {"n_embd": 8, "n_layer": 2, "n_head": 2, "n_hidden": 12}


def _encoded(own, name, config, weights, images):
    """Build the model, load its weights, and look at all its tokens."""
    model = getattr(own, name)(**config)
    model.load_state_dict(weights)
    model.eval()
    return model.encode(images).detach()


def _vit(d, b=3, **changes):
    config = {**SMALL, **changes}
    size = (config["n_channel"], *config["image_size"])
    return built(config, d.weights(ViT(**config), 0.4), d.normal(b, *size, std=1.0))


def _tokens(d, b=3, **changes):
    config, weights, (images,), _ = _vit(d, b, **changes)
    return config, weights, images


QUESTION = Exercise(
    ViT,
    parts={"all tokens": 6, "scores": 6, GRADIENT: 3, ARGUMENTS: 1},
    cases=[
        Case("all tokens", "two blocks", _tokens, _encoded),
        Case("all tokens", "three blocks", lambda d: _tokens(d, n_layer=3), _encoded),
        Case("all tokens", "no block at all", lambda d: _tokens(d, n_layer=0), _encoded),
        Case("all tokens", "another eps", lambda d: _tokens(d, eps=0.3), _encoded),
        Case("all tokens", "one image", lambda d: _tokens(d, 1, image_size=(6, 2)), _encoded),
        Case("scores", "a batch of images", _vit, module),
        Case("scores", "one image", lambda d: _vit(d, 1, image_size=(6, 2)), module),
        Case("scores", "one patch", lambda d: _vit(d, image_size=(2, 2)), module),
        Case("scores", "as many classes as columns", lambda d: _vit(d, n_class=8), module),
    ],
    slips=[
        Slip(
            "last norm missing",
            ViT.encode,
            "return self.last_norm(x)",
            "return x",
            "`last_norm` is missing: in pre-norm blocks nobody normalises what leaves the last "
            "one (lesson `layer_norm`).",
        ),
        Slip(
            "norm after every block",
            ViT.encode,
            "x = block(x)\n        return self.last_norm(x)",
            "x = self.last_norm(block(x))\n        return x",
            "`last_norm` stands inside the loop: it belongs once after the last block.",
        ),
        Slip(
            "norm before the blocks",
            ViT.encode,
            "x = self.embedding(images)\n        for block in self.blocks:\n"
            "            x = block(x)\n        return self.last_norm(x)",
            "x = self.last_norm(self.embedding(images))\n        for block in self.blocks:\n"
            "            x = block(x)\n        return x",
            "`last_norm` is applied before the blocks: it belongs after them.",
        ),
        Slip(
            "every block reads the embedding",
            ViT.encode,
            "x = block(x)",
            "x = block(self.embedding(images))",
            "Every block starts from the embedding, so only the last one counts: a block reads "
            "what the block before it wrote.",
        ),
        Slip(
            "first block for all",
            ViT.encode,
            "x = block(x)",
            "x = self.blocks[0](x)",
            "The first block is used again and again: go through all blocks in turn.",
        ),
        Slip(
            "blocks in reverse",
            ViT.encode,
            "for block in self.blocks:",
            "for block in reversed(self.blocks):",
            "The blocks run from last to first.",
        ),
        Slip(
            "one block left out",
            ViT.encode,
            "for block in self.blocks:",
            "for block in self.blocks[1:]:",
            "The first block is left out.",
        ),
        Slip(
            "a skip around each block",
            ViT.encode,
            "x = block(x)",
            "x = x + block(x)",
            "The input is added to each block's output, but a block has its skips inside.",
        ),
        Slip(
            "causal mask",
            ViT.encode,
            "x = block(x)",
            "x = block(x, torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril())",
            "A causal mask is left over from a language model: the class token, which comes first, "
            "sees nothing but itself. An image has no future: mask nothing.",
        ),
        Slip(
            "mean of all tokens",
            ViT.forward,
            "self.encode(images)[:, 0]",
            "self.encode(images).mean(1)",
            "The head reads the mean of all tokens, the class token among them: read token 0.",
        ),
        Slip(
            "mean of the patches",
            ViT.forward,
            "self.encode(images)[:, 0]",
            "self.encode(images)[:, 1:].mean(1)",
            "The head reads the mean of the patches. That works too, but here the class token is "
            "asked for: token 0.",
        ),
        Slip(
            "last token read",
            ViT.forward,
            "[:, 0]",
            "[:, -1]",
            "The head reads the last patch: the class token is token 0.",
        ),
        Slip(
            "first patch read",
            ViT.forward,
            "[:, 0]",
            "[:, min(1, len(self.embedding.position) - 1)]",
            "The head reads token 1, the first patch: the class token is token 0.",
        ),
        Slip(
            "every token scored",
            ViT.forward,
            "[:, 0]",
            "",
            "There is a row of scores for every token: only the class token is read.",
        ),
        Slip(
            "first image's class token",
            ViT.forward,
            "self.encode(images)[:, 0]",
            "self.encode(images)[0]",
            "`[0]` takes all tokens of the first image: `[:, 0]` takes token 0 of every image.",
        ),
        Slip(
            "softmax of the scores",
            ViT.forward,
            "self.head(self.encode(images)[:, 0])",
            "self.head(self.encode(images)[:, 0]).softmax(-1)",
            "The result is a softmax: return the scores, cross-entropy takes the softmax itself.",
        ),
    ],
)
