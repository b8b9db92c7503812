"""A trained model in one file: it opens as it was, writes text, and says what is wrong with it."""

import subprocess
import sys

import pytest
import torch
from safetensors.torch import save_file

from solutions.characters import Characters
from solutions.gpt import GPT
from solutions.gpt_block import GPTConfig
from solutions.saved_model import SavedModel, open_model, save_model
from solutions.tokenizer import Tokenizer
from solutions.write import main, write

SAID = "What, ho! Who's there? Nay, answer me: stand, and unfold yourself.\n" * 4
CARD = {"recipe": {"steps": 3}, "validation": 1.5, "text": "a café, Elsinore"}
TOKENIZERS = {
    "characters": Characters.of(SAID),
    "byte pairs": Tokenizer.train(SAID, 290, ["<|e|>"]),
}


def saved(tokenizer, **options) -> SavedModel:
    torch.manual_seed(0)
    sizes = {"n_layer": 2, "n_head": 2, "n_embd": 16, "std": 0.3}
    return SavedModel(GPT(GPTConfig(tokenizer.n_vocab, 12, **sizes, **options)), tokenizer, CARD)


def written(found: SavedModel, **options) -> str:
    return "".join(write(found.model, found.tokenizer, "What", 60, **options))


@pytest.mark.parametrize("options", [{}, {"positions": "rotary", "norm": "rms", "tied": False}])
@pytest.mark.parametrize("kind", TOKENIZERS)
def test_a_saved_model_opens_as_it_was_and_writes_the_same_text(kind, options, tmp_path):
    before = saved(TOKENIZERS[kind], **options)
    after = open_model(save_model(tmp_path / "deep" / "model.safetensors", before))
    assert after.card == CARD and after.model.config == before.model.config
    assert after.tokenizer.encode("Who's there") == before.tokenizer.encode("Who's there")
    assert after.tokenizer.specials == before.tokenizer.specials
    for name, weight in before.model.state_dict().items():
        assert torch.equal(after.model.state_dict()[name], weight)
    assert (after.model.head.weight is after.model.token.weight) == before.model.config.tied
    assert written(after) == written(before) and len(written(after)) >= 50
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["model.safetensors"]


def test_the_command_line_writes_what_the_notebook_writes(tmp_path):
    found = saved(TOKENIZERS["characters"])
    path = save_model(tmp_path / "model.safetensors", found)
    options = ["-n", "60", "--seed", "4", "--temperature", "0.7", "--top-p", "0.9", "--top-k", "5"]
    command = [sys.executable, "-m", "solutions.write", str(path), "What", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, encoding="utf-8")
    expected = written(found, seed=4, temperature=0.7, top_p=0.9, top_k=5)
    assert (done.returncode, done.stdout) == (0, "What" + expected + "\n"), done.stderr


def test_another_seed_writes_another_text_and_no_prompt_will_do():
    found = saved(TOKENIZERS["characters"])
    assert written(found, seed=1) != written(found, seed=2)
    assert len("".join(write(found.model, found.tokenizer, n=30))) == 30


def test_a_character_spread_over_tokens_comes_out_whole():
    tokenizer = Tokenizer({})
    euro = tokenizer.encode("€")

    class Teller(torch.nn.Module):
        """Say the bytes of the euro sign again and again, then half of it."""

        def __init__(self):
            super().__init__()
            self.inner = saved(tokenizer).model
            self.config, self.blocks = self.inner.config, self.inner.blocks

        def forward(self, ids):
            scores = torch.zeros(*ids.shape, tokenizer.n_vocab)
            scores[:, -1, euro[(ids.size(-1) - 1) % 3]] = 100.0
            return scores

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "solutions.kv_cache.KVCache.read", lambda self, model, ids: model(SEEN.append(ids) or
            torch.cat(SEEN, -1)))  # fmt: skip
        SEEN = []
        pieces = list(write(Teller(), tokenizer, "!", 8))
    assert "".join(pieces) == "€€\N{REPLACEMENT CHARACTER}"
    assert pieces[:3] == ["", "", "€"]


def test_a_prompt_with_an_unknown_character_names_it(tmp_path, capsys):
    path = save_model(tmp_path / "m.safetensors", saved(TOKENIZERS["characters"]))
    assert main([str(path), "Zoë"]) == 1
    assert "never seen 'Zë'" in capsys.readouterr().err


def test_what_is_no_saved_model_gets_a_sentence(tmp_path, capsys):
    for name, expected in [("none", "no file"), ("torn", "only a part"), ("other", "no config")]:
        path = tmp_path / f"{name}.safetensors"
        if name == "torn":
            whole = save_model(path, saved(TOKENIZERS["characters"])).read_bytes()
            path.write_bytes(whole[: len(whole) // 2])
        if name == "other":
            save_file({"x": torch.ones(2)}, path)
        with pytest.raises((FileNotFoundError, ValueError), match=expected):
            open_model(path)
        assert main([str(path)]) == 1
        assert expected in capsys.readouterr().err
