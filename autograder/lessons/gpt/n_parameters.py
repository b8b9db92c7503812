"""n_parameters: the cases it is tried in, and the slips that are known."""

from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from solutions.gpt import n_parameters


def _count(own, name, config):
    """Ask for the number, and see whether a model was built for it (on `meta` it costs nothing)."""
    from torch.nn.modules.module import register_module_parameter_registration_hook as watch

    from solutions.gpt_block import GPTConfig

    built = []
    handle = watch(lambda module, name, new: built.append(new.device.type))
    try:
        found = getattr(own, name)(GPTConfig(**config))
    finally:
        handle.remove()
    return {"count": found, "a model was built": any(kind != "meta" for kind in built)}


def _sizes(**options):
    def draw(d):
        v, t, layers, head = d.sizes(4, 3, 11)
        sizes = {"vocab_size": v, "block_size": t, "n_layer": layers, "n_head": 2}
        return ({**sizes, "n_embd": 2 * head, "tied": True, **options},)

    return draw


QUESTION = Exercise(
    n_parameters,
    parts={"GPT-2's layout": 8, "newer parts": 4},
    cases=[
        Case("GPT-2's layout", "small numbers", _sizes(), _count),
        Case("GPT-2's layout", "one layer", _sizes(n_layer=1), _count),
        Case(
            "GPT-2's layout",
            "GPT-2 small",
            _sizes(vocab_size=50257, block_size=1024, n_layer=12, n_head=12, n_embd=768),
            _count,
        ),
        Case("newer parts", "two tables", _sizes(tied=False), _count),
        Case("newer parts", "rotary positions", _sizes(positions="rotary"), _count),
        Case("newer parts", "RMSNorm", _sizes(norm="rms"), _count),
        Case(
            "newer parts",
            "all of them together",
            _sizes(tied=False, positions="rotary", norm="rms"),
            _count,
        ),
    ],
    slips=[
        Slip(
            "a model is built",
            n_parameters,
            "return tables + positions",
            "return sum(p.numel() for p in GPT(config).parameters()) or tables + positions",
            "A model is built to count its parameters. GPT-3's would fill 700 GB: count from the "
            "config alone.",
        ),
        Slip(
            "tied table counted twice",
            n_parameters,
            "(1 if config.tied else 2)",
            "2",
            "The head of a tied model is the token table: count it once.",
        ),
        Slip(
            "head of an untied model forgotten",
            n_parameters,
            "(1 if config.tied else 2)",
            "1",
            "Without config.tied the head has V * C numbers of its own.",
        ),
        Slip(
            "positions forgotten",
            n_parameters,
            'config.block_size * c if config.positions == "learned" else 0',
            "0",
            "The learned positions, block_size * C numbers, are not counted.",
        ),
        Slip(
            "positions although rotary",
            n_parameters,
            'config.block_size * c if config.positions == "learned" else 0',
            "config.block_size * c",
            "Rotary positions are not learned: they add nothing.",
        ),
        Slip(
            "last norm forgotten",
            n_parameters,
            "feed_forward) + norm",
            "feed_forward)",
            "The norm after the last block is not counted.",
        ),
        Slip(
            "biases of the matrices forgotten",
            n_parameters,
            "attention = 4 * (c * c + c)\n    feed_forward = (c * 4 * c + 4 * c) + (4 * c * c + c)",
            "attention = 4 * (c * c)\n    feed_forward = (c * 4 * c) + (4 * c * c)",
            "The matrices are counted without their biases: 4 C in the attention, 5 C in the "
            "feed-forward layer.",
        ),
        Slip(
            "biases of the attention forgotten",
            n_parameters,
            "4 * (c * c + c)",
            "4 * (c * c)",
            "The four matrices of the attention have biases too, C numbers each.",
        ),
        Slip(
            "output projection forgotten",
            n_parameters,
            "4 * (c * c + c)",
            "3 * (c * c + c)",
            "The attention has four matrices: queries, keys, values and the output projection.",
        ),
        Slip(
            "one norm a block",
            n_parameters,
            "2 * norm",
            "norm",
            "A block has two norms, one for each branch.",
        ),
        Slip(
            "norms forgotten",
            n_parameters,
            "config.n_layer * (2 * norm + attention + feed_forward) + norm",
            "config.n_layer * (attention + feed_forward)",
            "The norms are not counted: two in every block, and one at the end.",
        ),
        Slip(
            "gains without biases",
            n_parameters,
            '(1 if config.norm == "rms" else 2)',
            "1",
            "A LayerNorm has a gain and a bias, 2 C numbers; only RMSNorm does without the bias.",
        ),
        Slip(
            "RMSNorm with a bias",
            n_parameters,
            '(1 if config.norm == "rms" else 2)',
            "2",
            "RMSNorm has a gain only: C numbers.",
        ),
        Slip(
            "attention counted per head",
            n_parameters,
            "4 * (c * c + c)",
            "config.n_head * 4 * (c * c + c)",
            "The heads share the width out among them: H heads of C / H columns need the same "
            "four C x C matrices as one.",
        ),
        Slip(
            "one block only",
            n_parameters,
            "config.n_layer * (2",
            "(2",
            "Only one block is counted; there are n_layer.",
        ),
    ],
)
