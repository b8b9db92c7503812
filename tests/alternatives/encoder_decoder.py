"""Other right answers to the exercises of encoder_decoder: each must get full marks."""

import torch
import torch.nn.functional as F

import solutions.encoder_decoder as reference
from solutions.data.tiny_french import EOS, PAD, SOS


class DecoderBlock__one_helper(reference.DecoderBlock):
    def add(self, x, norm, branch):
        if self.norm == "pre":
            return x + self.dropout(branch(norm(x)))
        return norm(x + self.dropout(branch(x)))

    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add(x, self.attention_norm, lambda y: self.attention(y, y, mask))
        x = self.add(x, self.cross_norm, lambda y: self.cross(y, memory, memory_mask))
        return self.add(x, self.feed_forward_norm, self.feed_forward)


class DecoderBlock__loop_over_branches(reference.DecoderBlock):
    def forward(self, x, memory, mask=None, memory_mask=None):
        branches = [
            (self.attention_norm, self.attention, {"mask": mask}),
            (self.cross_norm, self.cross, {"context": memory, "mask": memory_mask}),
            (self.feed_forward_norm, self.feed_forward, {}),
        ]
        first = self.norm == "pre"
        for norm, branch, options in branches:
            found = self.dropout(branch(norm(x) if first else x, **options))
            x = found + x if first else norm(found + x)
        return x


class DecoderBlock__masks_made_whole(reference.DecoderBlock):
    def forward(self, x, memory, mask=None, memory_mask=None):
        b, t, s = x.size(0), x.size(1), memory.size(1)
        ones = torch.ones(b, t, t, dtype=torch.bool, device=x.device)
        mask = ones if mask is None else mask.expand(b, t, t)
        if memory_mask is not None:
            memory_mask = memory_mask.expand(b, t, s)
        pre = self.norm == "pre"
        y = self.attention_norm(x) if pre else x
        x = x + self.dropout(self.attention(y, mask=mask))
        x = x if pre else self.attention_norm(x)
        y = self.cross_norm(x) if pre else x
        x = x + self.dropout(self.cross(y, memory, memory_mask))
        x = x if pre else self.cross_norm(x)
        y = self.feed_forward_norm(x) if pre else x
        x = x + self.dropout(self.feed_forward(y))
        return x if pre else self.feed_forward_norm(x)


class Decoder__mask_by_comparison(reference.Decoder):
    def forward(self, tokens, memory, memory_mask=None):
        place = torch.arange(tokens.size(-1), device=tokens.device)
        mask = place[:, None] >= place if self.causal else None
        hidden = self.embedding(tokens)
        for layer in self.blocks:
            hidden = layer(hidden, memory, mask=mask, memory_mask=memory_mask)
        return self.last_norm(hidden)


class Decoder__full_mask_where_not_causal(reference.Decoder):
    def forward(self, tokens, memory, memory_mask=None):
        n = tokens.shape[1]
        mask = torch.ones(n, n, dtype=torch.bool, device=tokens.device)
        if self.causal:
            mask = torch.tril(mask)
        x = self.embedding(tokens)
        for i in range(len(self.blocks)):
            x = self.blocks[i](x, memory, mask, memory_mask)
        return self.last_norm(x)


class Decoder__batched_mask(reference.Decoder):
    def forward(self, tokens, memory, memory_mask=None):
        b, t = tokens.shape
        forbidden = torch.triu(torch.ones(t, t, device=tokens.device), diagonal=1).bool()
        mask = (~forbidden).repeat(b, 1, 1) if self.causal else None
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, memory, mask, memory_mask)
        return self.last_norm(x)


class Transformer__by_hand(reference.Transformer):
    def encode(self, source):
        mask = (source != PAD)[:, None, :]
        memory = self.encoder(source, mask)
        return memory, mask

    def decode(self, tokens, memory, memory_mask):
        hidden = self.decoder(tokens, memory, memory_mask)
        return F.linear(hidden, self.out.weight, self.out.bias)

    def forward(self, source, target):
        memory, mask = self.encode(source)
        start = torch.full((target.size(0), 1), SOS, dtype=target.dtype, device=target.device)
        return self.decode(torch.cat((start, target), dim=1)[:, :-1], memory, mask)


class Transformer__rolled(reference.Transformer):
    def encode(self, source):
        mask = source.ne(PAD).unsqueeze(1)
        return self.encoder(source, mask.expand(-1, source.size(1), -1)), mask

    def decode(self, tokens, memory, memory_mask):
        return self.out(self.decoder(tokens, memory, memory_mask=memory_mask))

    def forward(self, source, target):
        read = target.roll(1, dims=1)
        read[:, 0] = SOS
        memory, mask = self.encode(source)
        return self.decode(read, memory, mask)


class Transformer__padding_masked_in_the_target_too(reference.Transformer):
    """Words come before padding, so the causal mask hides it anyway: the same numbers."""

    def encode(self, source):
        mask = torch.unsqueeze(source != PAD, -2)
        return self.encoder(source, mask), mask

    def decode(self, tokens, memory, memory_mask):
        return self.out(self.decoder(tokens, memory, memory_mask))

    def forward(self, source, target):
        read = F.pad(target[:, :-1], (1, 0), value=SOS)
        return self.decode(read, *self.encode(source))


def smoothed_loss__torch_builtin(logits, target, smoothing=0.1, padding=PAD):
    return F.cross_entropy(
        logits.reshape(-1, logits.size(-1)),
        target.reshape(-1),
        ignore_index=padding,
        label_smoothing=smoothing,
    )


def smoothed_loss__labels_written_out(logits, target, smoothing=0.1, padding=PAD):
    v = logits.shape[-1]
    labels = (1 - smoothing) * F.one_hot(target, v).to(logits) + smoothing / v
    each = -(labels * torch.log_softmax(logits, dim=-1)).sum(-1)
    return each[target != padding].mean()


def smoothed_loss__chosen_first(logits, target, smoothing=0.1, padding=PAD):
    words = target != padding
    logits, target = logits[words], target[words]
    log_p = logits - torch.logsumexp(logits, -1, keepdim=True)
    right = log_p[torch.arange(len(target)), target]
    return -((1 - smoothing) * right + smoothing * log_p.mean(-1)).sum() / len(target)


def smoothed_loss__weights(logits, target, smoothing=0.1, padding=PAD):
    weight = (target != padding).to(logits.dtype)
    log_p = F.log_softmax(logits, -1)
    plain = -torch.take_along_dim(log_p, target[..., None], -1)[..., 0]
    even = -log_p.sum(-1) / log_p.size(-1)
    return ((plain + smoothing * (even - plain)) * weight).sum() / weight.sum()


def greedy_decode__list_of_columns(model, source, n_max):
    memory, mask = model.encode(source)
    columns = [torch.full((len(source),), SOS, dtype=torch.long, device=source.device)]
    open_ = torch.ones(len(source), dtype=torch.bool, device=source.device)
    while open_.any() and len(columns) <= n_max:
        scores = model.decode(torch.stack(columns, dim=1), memory, mask)
        best = scores[:, -1, :].max(dim=-1).indices
        best = torch.where(open_, best, torch.full_like(best, PAD))
        columns.append(best)
        open_ = open_ & (best != EOS)
    return torch.stack(columns[1:], dim=1)


def greedy_decode__written_into_a_table(model, source, n_max):
    table = torch.full((source.size(0), n_max + 1), PAD, device=source.device)
    table[:, 0] = SOS
    memory, mask = model.encode(source)
    done = torch.zeros(source.size(0), dtype=torch.bool, device=source.device)
    used = 0
    for i in range(n_max):
        if bool(done.all()):
            break
        word = torch.argmax(model.decode(table[:, : i + 1], memory, mask)[:, i], dim=1)
        table[~done, i + 1] = word[~done]
        done |= word == EOS
        used = i + 1
    return table[:, 1 : used + 1]


def greedy_decode__finished_rows_left_out(model, source, n_max):
    """Show the decoder only the sentences that are still open."""
    memory, mask = model.encode(source)
    tokens = torch.full((source.size(0), 1), SOS, device=source.device)
    rows = torch.arange(source.size(0), device=source.device)
    for _ in range(n_max):
        best = model.decode(tokens[rows], memory[rows], mask[rows])[:, -1].argmax(-1)
        column = torch.full((source.size(0), 1), PAD, device=source.device)
        column[rows, 0] = best
        tokens = torch.cat([tokens, column], dim=-1)
        rows = rows[best != EOS]
        if len(rows) == 0:
            break
    return tokens[:, 1:]


def greedy_decode__sentence_by_sentence(model, source, n_max):
    memory, mask = model.encode(source)
    texts = []
    for b in range(len(source)):
        words = [SOS]
        while len(words) <= n_max and words[-1] != EOS:
            given = torch.tensor([words], device=source.device)
            words.append(
                int(model.decode(given, memory[b : b + 1], mask[b : b + 1])[0, -1].argmax())
            )
        texts.append(torch.tensor(words[1:], device=source.device))
    return torch.nn.utils.rnn.pad_sequence(texts, batch_first=True, padding_value=PAD)


def smoothed_loss__one_hot_labels(logits, target, smoothing=0.1, padding=PAD):
    n_vocab = logits.size(-1)
    labels = F.one_hot(target, n_vocab) * (1 - smoothing) + smoothing / n_vocab
    each = -(labels * logits.log_softmax(-1)).sum(-1)
    return each[target != padding].mean()
