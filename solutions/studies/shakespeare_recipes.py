"""Three ways to train a GPT on Tiny Shakespeare by characters: sizes and recipes, no model."""

from solutions.gpt_block import GPTConfig
from solutions.train import Recipe

N_CHARACTERS = 65  # how many different ones the text has

# nanoGPT's recipe for a CPU: 2,000 steps of 12 windows of 64 characters. Its rate falls from 1e-3
# to 1e-4; ours falls to 0 and starts higher.
EARLIER = (
    GPTConfig(N_CHARACTERS, block_size=64, n_layer=4, n_head=4, n_embd=128),
    Recipe(2000, 12, lr=1.5e-3, warmup=100, weight_decay=0.1, beta2=0.99, evaluate_every=250),
)
# the same size and windows, with later ideas: positions, norm, starting weights, rate. A step takes
# about a quarter longer: four in place of five make the two cost the same.
LATER = (
    GPTConfig(
        N_CHARACTERS,
        block_size=64,
        n_layer=4,
        n_head=4,
        n_embd=128,
        std=0.05,  # 0.02 * sqrt(768 / 128)
        positions="rotary",
        norm="rms",
    ),
    Recipe(1600, 12, lr=4e-3, warmup=100, weight_decay=0.1, beta2=0.99, evaluate_every=200),
)
# nanoGPT's recipe for one GPU: 10.8 million parameters, 200 times the arithmetic
GPU = (
    GPTConfig(N_CHARACTERS, block_size=256, n_layer=6, n_head=6, n_embd=384, dropout=0.2),
    Recipe(
        *(5000, 64, 1e-3, 100),
        weight_decay=0.1,
        beta2=0.99,
        evaluate_every=250,
        lowest="validation",
    ),
)
