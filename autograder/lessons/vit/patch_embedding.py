"""PatchEmbedding: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import built
from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.seam.probe import module
from solutions.vit import PatchEmbedding


def _embedded(d, b, rows, columns, size, channels, n_embd):
    height, width = rows * size, columns * size
    config = {"image_size": (height, width), "patch_size": size}
    config |= {"n_channel": channels, "n_embd": n_embd}
    weights = d.weights(PatchEmbedding(**config), 0.6)
    return built(config, weights, d.normal(b, channels, height, width))


def _embedded_twice(own, name, config, weights, args, kwargs):
    """Embed two batches of different sizes, one after the other, with one model."""
    model = getattr(own, name)(**config)
    model.load_state_dict(weights)
    model.eval()
    return [model(images).detach() for images in (args[0], args[0][:1])]


TOKENS = (
    "first = self.class_token.expand(len(images), 1, -1)\n"
    "        return torch.cat([first, patches], dim=1) + self.position"
)


QUESTION = Exercise(
    PatchEmbedding,
    parts={"tokens": 10, GRADIENT: 4, ARGUMENTS: 2},
    cases=[
        Case("tokens", "a batch of images", lambda d: _embedded(d, 2, 3, 4, 2, 3, 7), module),
        Case("tokens", "one grey image", lambda d: _embedded(d, 1, 4, 2, 3, 1, 5), module),
        Case("tokens", "a single patch", lambda d: _embedded(d, 3, 1, 1, 4, 2, 6), module),
        Case(
            "tokens",
            "one batch after another",
            lambda d: _embedded(d, 3, 2, 3, 2, 2, 5),
            _embedded_twice,
        ),
        Case(
            "tokens",
            "as many images as patches and one",
            lambda d: _embedded(d, 5, 2, 2, 2, 1, 5),
            module,
        ),
        Case("tokens", "one column", lambda d: _embedded(d, 2, 2, 3, 2, 1, 1), module),
    ],
    slips=[
        Slip(
            "class token last",
            PatchEmbedding.forward,
            "[first, patches]",
            "[patches, first]",
            "The class token stands behind the patches: it is token 0.",
        ),
        Slip(
            "no position for the class token",
            PatchEmbedding.forward,
            TOKENS,
            "first = self.class_token.expand(len(images), 1, -1)\n"
            "        return torch.cat([first, patches + self.position[1:]], dim=1)",
            "The class token gets no position: row 0 of `position` belongs to it.",
        ),
        Slip(
            "positions one row too early",
            PatchEmbedding.forward,
            TOKENS,
            "first = self.class_token.expand(len(images), 1, -1)\n"
            "        return torch.cat([first, patches + self.position[:-1]], dim=1)",
            "The positions are added before the class token is there, and patch n gets row n: it "
            "is token 1 + n, and row 1 + n is its own.",
        ),
        Slip(
            "the class token's position for the last row",
            PatchEmbedding.forward,
            "dim=1) + self.position",
            "dim=1) + self.position.roll(1, 0)",
            "The positions are one row off: row t belongs to token t.",
        ),
        Slip(
            "no positions",
            PatchEmbedding.forward,
            "dim=1) + self.position",
            "dim=1)",
            "`position` is not added: the model cannot tell one order of the patches from another.",
        ),
        Slip(
            "no class token",
            PatchEmbedding.forward,
            TOKENS,
            "first = None\n        return patches + self.position[1:]",
            "There is no class token: put it in front, as token 0.",
        ),
        Slip(
            "zeros for the class token",
            PatchEmbedding.forward,
            "self.class_token.expand(len(images), 1, -1)",
            "torch.zeros_like(patches[:, :1])",
            "Zeros stand where the class token should: use the learned `class_token`.",
        ),
        Slip(
            "the mean patch for the class token",
            PatchEmbedding.forward,
            "self.class_token.expand(len(images), 1, -1)",
            "patches.mean(1, keepdim=True) + self.class_token",
            "Token 0 already holds the patches' average: the class token is the same for every "
            "image, and only attention brings news to it.",
        ),
        Slip(
            "cut by reshape",
            PatchEmbedding.forward,
            "patchify(images, self.patch_size)",
            "images.reshape(len(images), -1, self.project.in_features)",
            "The image is cut by a reshape, which makes strips of it: use `patchify`.",
        ),
        Slip(
            "pixels normalised",
            PatchEmbedding.forward,
            "self.project(patchify(images, self.patch_size))",
            "self.project(nn.functional.layer_norm(patchify(images, self.patch_size), "
            "[self.project.in_features]))",
            "Each patch is normalised before the projection, which wipes out how bright it is (of "
            "a patch of one pixel nothing is left). Project the pixels as they are.",
        ),
        Slip(
            "activation after the projection",
            PatchEmbedding.forward,
            "patches = self.project(patchify(images, self.patch_size))",
            "patches = torch.relu(self.project(patchify(images, self.patch_size)))",
            "An activation follows the projection: the embedding of a patch is linear.",
        ),
        Slip(
            "positions multiplied",
            PatchEmbedding.forward,
            "dim=1) + self.position",
            "dim=1) * self.position",
            "The positions are multiplied with the tokens: add them.",
        ),
    ],
)
