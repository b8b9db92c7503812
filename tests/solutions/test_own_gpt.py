"""The end of lesson gpt: a text of one's own, a prediction, and a model that writes."""

import http.server
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from solutions import own_text as module
from solutions.data import tiny_shakespeare
from solutions.experiments import kept
from solutions.experiments.gpt import pieces, shakespeare
from solutions.gpt import GPT, GPTConfig, n_parameters, next_token_loss
from solutions.own_gpt import MEASURED, PIECES, PUBLISHED, STEPS, large_on_a_t4, make_plan, my_model
from solutions.own_text import SHORTEST, own_text, upload
from solutions.saved_model import SavedModel, save_model
from solutions.studies.shakespeare_recipes import GPU, LATER
from solutions.studies.text_windows import validation_loss
from solutions.train import History, Recipe
from solutions.training.forecast import T4, Forecast, forecast, gpt_operations
from solutions.write import write

LINES = "Der Fuchs lief über die Brücke.\r\nÀ bientôt, dit-il, et s'en alla.\n"
LONG = LINES * (SHORTEST // len(LINES) + 20)
PLAIN = LONG.replace("\r\n", "\n")


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_is_read_whatever_its_line_ends_and_its_mark(encoding, tmp_path):
    path = tmp_path / "book.txt"
    path.write_bytes(LONG.encode(encoding))
    assert own_text(path) == own_text(str(path)) == PLAIN


def test_shakespeare_is_there_without_any_file():
    assert own_text() == own_text("shakespeare") == tiny_shakespeare.text()


def test_uploads_of_colab_and_of_both_versions_of_the_widget_are_read():
    data = LONG.encode()
    seven = SimpleNamespace(value={"a.txt": {"content": data}})
    eight = SimpleNamespace(value=({"name": "a.txt", "content": memoryview(data)},))
    for source in ({"a.txt": data}, seven, eight):
        assert own_text(source) == PLAIN
    for nothing in ({}, SimpleNamespace(value={}), SimpleNamespace(value=())):
        with pytest.raises(ValueError, match="no file was chosen"):
            own_text(nothing)


def test_upload_shows_a_button_where_there_is_no_colab(monkeypatch):
    import IPython.display

    shown = []
    monkeypatch.setattr(IPython.display, "display", shown.append)
    button = upload()
    assert shown == [button]
    with pytest.raises(ValueError, match="no file was chosen"):
        own_text(button)


BAD = {
    "short": (b"To be, or not to be.\n" * 10, r"210 characters.*at least 20,000"),
    "pdf": (b"%PDF-1.7 " + bytes(30_000), "a PDF, no plain text"),
    "word": (b"PK\x03\x04" + bytes(30_000), "a zip archive"),
    "latin": (LONG.encode("cp1252"), "no text in UTF-8"),
    "noise": (b"\0\1\2" * 10_000, "no text in UTF-8.*zero bytes"),
    "page": (b"<!DOCTYPE html><html>" + LONG.encode(), "a web page"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_too_short_or_no_text_gets_a_sentence(kind, tmp_path):
    data, expected = BAD[kind]
    path = tmp_path / kind
    path.write_bytes(data)
    with pytest.raises(ValueError, match=expected) as caught:
        own_text(path)
    assert kind in str(caught.value) and str(caught.value).startswith("own_text: ")


def test_a_path_that_is_not_there_and_a_file_that_is_too_large_get_a_sentence(
    tmp_path, monkeypatch
):
    with pytest.raises(ValueError, match=r"no file .*missing"):
        own_text(tmp_path / "missing.txt")
    (tmp_path / "book.txt").write_text(PLAIN, encoding="utf-8")
    monkeypatch.setattr(module, "LARGEST", 1000)
    with pytest.raises(ValueError, match="larger than"):
        own_text(tmp_path / "book.txt")


@pytest.fixture
def server(tmp_path):
    """Serve a folder on this machine alone."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *given):
            super().__init__(*given, directory=str(tmp_path))

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def test_an_address_is_fetched_and_one_that_fails_gets_a_sentence(server, tmp_path, monkeypatch):
    (tmp_path / "book.txt").write_bytes(LONG.encode())
    assert own_text(f"{server}/book.txt") == PLAIN
    with pytest.raises(ValueError, match=r"could not be fetched .404."):
        own_text(f"{server}/other.txt")
    with pytest.raises(ValueError, match="could not be fetched"):
        own_text("http://127.0.0.1:9/book.txt")  # nobody listens there
    monkeypatch.setattr(module, "LARGEST", 1000)
    with pytest.raises(ValueError, match="larger than"):
        own_text(f"{server}/book.txt")


@pytest.mark.parametrize("by", ["characters", "byte pairs"])
def test_a_plan_holds_back_the_last_tenth_and_loses_nothing(by):
    plan = make_plan(PLAIN, by)
    said = plan.tokenizer.decode([*plan.training.tolist(), *plan.held_out.tolist()])
    assert said == PLAIN
    held = plan.tokenizer.decode(plan.held_out.tolist())
    assert abs(len(held) - len(PLAIN) / 10) < 3
    assert plan.config.vocab_size == plan.tokenizer.n_vocab > int(plan.training.max())
    (drawn,) = plan.batches(5, torch.Generator().manual_seed(0))
    assert drawn.shape == (5, plan.config.block_size + 1)
    assert plan.name != make_plan(PLAIN + "x" * 20, by).name


def test_an_unknown_kind_of_tokens_is_refused():
    with pytest.raises(ValueError, match="choose"):
        make_plan(PLAIN, "words")


def test_a_loss_is_predicted_only_where_such_a_run_is_known():
    plays = tiny_shakespeare.text()
    assert make_plan(PLAIN).known is None and make_plan(PLAIN, large=True).known is None
    assert make_plan(plays).known[0] == MEASURED["characters"]
    large = make_plan(plays, large=True)
    assert large.known[0] == PUBLISHED and "biases" in large.known[1]
    assert replace(large.config, vocab_size=0) == replace(GPU[0], vocab_size=0)
    empty = Forecast(60.0, 1000.0, "tokens")
    assert "no loss" in str(make_plan(PLAIN).expect(empty))
    assert "1.47" in str(large.expect(empty))


def test_the_losses_written_down_are_those_measured_for_the_book():
    assert kept(shakespeare, recipe="later", steps=STEPS)["validation"] == pytest.approx(
        MEASURED["characters"], abs=0.01
    )
    assert kept(pieces, n_vocab=PIECES, steps=STEPS)["nats"] == pytest.approx(
        MEASURED["byte pairs"], abs=0.01
    )
    plan, (config, recipe) = make_plan(tiny_shakespeare.text()), LATER
    assert plan.config == config
    same = {"steps": STEPS, "evaluate_every": recipe.evaluate_every, "lowest": ""}
    assert replace(plan.recipe, **same) == replace(recipe, **same)


def test_counting_neighbours_reaches_what_counting_by_hand_does():
    text = "ab" * 9000 + "abab" * 500
    plan = make_plan(text)
    assert plan.neighbours_loss() < 0.01
    plays = make_plan(tiny_shakespeare.text())
    assert 2.3 < plays.neighbours_loss() < 2.6


def test_the_time_on_a_t4_is_arithmetic_and_says_so():
    config, recipe = GPU
    tokens = recipe.steps * recipe.batch * config.block_size
    used = n_parameters(config) - config.block_size * config.n_embd
    by_hand = tokens * (6 * used + 12 * 6 * 384 * 256)
    assert gpt_operations(used, 6, 384, 256, tokens) == by_hand
    said = large_on_a_t4(tiny_shakespeare.text(), "characters", config.vocab_size)
    assert "computed, not measured" in said and f"{by_hand:.1e}" in said and "1.47" in said
    assert f"{round(by_hand / T4) // 60} min" in said
    assert "no loss known" in large_on_a_t4(PLAIN, "characters", 40)


TINY = GPTConfig(7, block_size=8, n_layer=1, n_head=2, n_embd=8)


def test_a_forecast_leaves_the_model_alone_and_is_near_what_comes():
    from solutions.train import train

    torch.manual_seed(0)
    model, ids = GPT(TINY), torch.randint(7, (64, 9))
    before = {k: x.clone() for k, x in model.state_dict().items()}
    recipe = Recipe(400, batch=4, warmup=5, evaluate_every=100)

    def draw(n, generator):
        return (ids[torch.randint(64, (n,), generator=generator)],)

    def loss(model, batch):
        return next_token_loss(model, batch[0])

    looks = []

    def evaluate(model):
        assert not model.training
        looks.append(1)
        return {"validation": next_token_loss(model, ids).item()}

    found = forecast(model, draw, recipe, loss, evaluate, measured=0.3)
    assert len(looks) == 1
    assert all(torch.equal(x, before[k]) for k, x in model.state_dict().items())
    assert found.unit == "tokens" and found.loss is None
    history = train(model, draw, recipe, loss, evaluate, progress=False)
    assert 0.2 < found.seconds / history.seconds < 5
    assert found.speed == pytest.approx(400 * 4 * 8 / found.seconds, rel=0.5)
    table = replace(found, loss=1.5, source="here").beside(history, 1.6)
    assert "1.50" in table and "1.60" in table and "whole run" in table
    stopped = History(loss=[1.0] * 7, seconds=3.0, interrupted=True)
    assert "stopped at step 7" in found.beside(stopped, 2.0)


def test_a_short_recipe_has_a_forecast_too():
    draw = lambda n, generator: (torch.randint(7, (n, 9), generator=generator),)  # noqa: E731
    found = forecast(GPT(TINY), draw, Recipe(1), lambda m, b: next_token_loss(m, b[0]))
    assert found.seconds > 0 and found.speed > 0


def test_my_model_is_the_saved_one_where_there_is_one(tmp_path, capsys):
    plan = make_plan(PLAIN)
    torch.manual_seed(0)
    own = GPT(replace(TINY, vocab_size=plan.tokenizer.n_vocab))
    path = save_model(tmp_path / "m.safetensors", SavedModel(own, plan.tokenizer, {"text": "mine"}))
    found = my_model(path)
    assert "mine" in capsys.readouterr().out
    assert torch.equal(found.model.token.weight, own.token.weight)


def test_without_a_saved_one_a_small_storyteller_is_trained_and_writes_words(tmp_path, capsys):
    from solutions.data.tiny_tales import WORDS

    found = my_model(tmp_path / "none.safetensors")
    assert "training a small one" in capsys.readouterr().out
    begin = found.card["begin"]
    said = (
        begin + "".join(write(found.model, found.tokenizer, begin, 600, temperature=0.7))
    ).split()
    assert sum(word in WORDS for word in said[:-1]) > 0.7 * len(said)


def test_a_model_that_keeps_its_mask_among_its_weights_is_saved_too(tmp_path):
    class Keeps(GPT):
        def __init__(self, config):
            super().__init__(config)
            self.register_buffer("mask", self.mask.clone())  # as a learner may have it: saved

    plan = make_plan(PLAIN)
    model = Keeps(replace(TINY, vocab_size=plan.tokenizer.n_vocab))
    assert "mask" in model.state_dict()
    path = save_model(tmp_path / "m.safetensors", SavedModel(model, plan.tokenizer))
    ids = plan.training[:6][None]
    with torch.no_grad():
        assert torch.equal(my_model(path).model(ids), model.eval()(ids))
        loss = validation_loss(model, next_token_loss, plan.held_out, 8, 2)
    assert loss > 0
