"""GPT-2 with nothing but the course's code: its ids, and a prompt continued by loaded weights."""

import json
import random
import unicodedata

import pytest
import torch
from gpt2_files import gpt2_files

from solutions import write as command
from solutions.data.three_scripts import SCRIPTS
from solutions.data.tiny_shakespeare import text
from solutions.gpt2_tokenizer import MARK, load_gpt2_tokenizer, read_merges
from solutions.ground import ROOT
from solutions.weights import load_gpt2


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    return gpt2_files(tmp_path_factory.mktemp("published"))


@pytest.fixture(scope="module")
def ours(published):
    return load_gpt2_tokenizer(published)


@pytest.fixture(scope="module")
def theirs(published):
    from transformers import GPT2Tokenizer

    vocab, merges = published / "vocab.json", published / "merges.txt"
    pairs = [tuple(line.split(" ")) for line in merges.read_text("utf-8").splitlines()[1:] if line]
    return GPT2Tokenizer(vocab=json.loads(vocab.read_text("utf-8")), merges=pairs)


def mixed_lines(n: int) -> list[str]:
    """Make lines of plays, scripts, code, numbers, white space, marks and any characters at all."""
    draw = random.Random(0)
    plays = [line for line in text().splitlines() if line]
    scripts = [word for said in SCRIPTS.values() for word in said.split()]
    code = ["def f(x):", "    return x**2", "\tif a != b:", "{'k': [1, 2]}", "// don't", "<br/>"]
    known = [c for c in map(chr, range(0x30000)) if unicodedata.category(c) not in ("Cn", "Cs")]
    kinds = [
        lambda: draw.choice(plays),
        lambda: " ".join(draw.choices(scripts, k=draw.randint(1, 12))),
        lambda: draw.choice(code) * draw.randint(1, 3),
        lambda: f"{draw.random() * 10 ** draw.randint(0, 12):,.{draw.randint(0, 5)}f}" * 2,
        lambda: "".join(draw.choices(" \t\n\r\u00a0x'", k=draw.randint(1, 30))),
        lambda: "".join(draw.choices("ab'stremvld I'LL’ ", k=draw.randint(1, 40))),
        lambda: "".join(draw.choices(known, k=draw.randint(1, 20))),
        lambda: "".join(draw.choices("🙂👩‍👧🇫🇷é", k=draw.randint(1, 10))),
        lambda: draw.choice(plays) + MARK + draw.choice(plays),
        lambda: draw.choice(plays).title() + " " + draw.choice(scripts).upper(),
    ]
    return [kinds[i % len(kinds)]() for i in range(n)]


def test_our_tokeniser_with_gpt2s_merges_has_exactly_gpt2s_ids(published, ours):
    ids = json.loads((published / "vocab.json").read_text(encoding="utf-8"))
    assert ours.n_vocab == 50_257 == len(ids)
    assert ours.specials == {MARK: 50_256} and ids[MARK] == 50_256
    assert len(ours.merges) == 50_000 and [*ours.merges.values()] == list(range(256, 50_256))
    assert len(set(ours.vocab)) == 50_257


def test_ten_thousand_mixed_lines_have_the_ids_of_transformers(ours, theirs):
    lines = mixed_lines(10_000)
    expected = theirs(lines)["input_ids"]
    assert sum(map(len, expected)) > 150_000
    for line, ids in zip(lines, expected, strict=True):
        assert ours.encode(line) == ids, line
        assert ours.decode(ids) == line


def test_a_merge_out_of_order_would_be_noticed(published, theirs):
    said = (published / "merges.txt").read_text(encoding="utf-8").splitlines()
    said[1], said[2] = said[2], said[1]
    careless = type(load_gpt2_tokenizer(published))(read_merges("\n".join(said)), [MARK])
    assert careless.encode(" t") != theirs.encode(" t")


def test_known_sentences_have_their_known_ids(ours):
    assert ours.encode("Hello, I'm a language model,") == [
        15496,
        11,
        314,
        1101,
        257,
        3303,
        2746,
        11,
    ]
    cut = [ours.decode([i]) for i in ours.encode("Aragorn told Frodo to mind Lothlorien")]
    assert "|".join(cut) == "Ar|ag|orn| told| Fro|do| to| mind| L|oth|lor|ien"
    page = (ROOT / "book" / "byte_pairs.md").read_text(encoding="utf-8")
    assert f"`{'|'.join(cut)}`" in page and len(cut) == 12


@pytest.fixture(scope="module")
def folder(published, tmp_path_factory):
    """A GPT-2 with all its ids and little else, written by `transformers`, beside the merges."""
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    sizes = {"vocab_size": 50_257, "n_positions": 16, "n_embd": 16, "n_layer": 2, "n_head": 2}
    model = GPT2LMHeadModel(GPT2Config(**sizes)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.3 * torch.randn_like(parameter))
    place = tmp_path_factory.mktemp("gpt2")
    model.save_pretrained(place)
    (place / "merges.txt").write_bytes((published / "merges.txt").read_bytes())
    return place, model


def test_prompt_in_text_out_is_what_transformers_writes(folder, theirs):
    place, model = folder
    prompt = theirs("To be, or not to be", return_tensors="pt")["input_ids"]
    n = 16 - prompt.size(1) + 1  # to the end of its window: `transformers` goes no further
    options = {"do_sample": False, "pad_token_id": 50_256}
    expected = model.generate(prompt, max_new_tokens=n, **options)
    said = command.write(
        load_gpt2(place), load_gpt2_tokenizer(place), "To be, or not to be", n, 0, 0
    )
    assert "To be, or not to be" + "".join(said) == theirs.decode(expected[0])


def test_the_command_opens_gpt2_by_its_folder_or_its_weights(folder, capsys):
    place, _ = folder
    texts = []
    for source in (place, place / "model.safetensors"):
        assert command.main([str(source), "To be", "-n", "40", "--seed", "3"]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] and texts[0].startswith("To be")


def test_weights_without_merges_get_a_sentence(folder, tmp_path, capsys):
    weights = tmp_path / "model.safetensors"
    weights.write_bytes((folder[0] / "model.safetensors").read_bytes())
    assert command.main([str(tmp_path), "To be"]) == 1
    assert "merges.txt, vocab.bpe" in capsys.readouterr().err
    assert command.main([str(weights), "To be"]) == 1
    assert "load_gpt2" in capsys.readouterr().err
