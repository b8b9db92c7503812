"""Other right answers to the exercises of the lesson bert."""

import torch
from torch import nn
from torch.nn import functional as F

import solutions.bert as reference
import solutions.fine_tune as heads


def mask_tokens__token_by_token(ids, draws, n_vocab, n_special, mask_id, share=0.15):
    read, labels = ids.flatten().tolist(), []
    for i, (token, one, two, three) in enumerate(
        zip(list(read), *(row.flatten().tolist() for row in draws), strict=True)
    ):
        if token < n_special or one >= share:
            labels.append(-100)
            continue
        labels.append(token)
        if two < 0.8:
            read[i] = mask_id
        elif two < 0.9:
            read[i] = n_special + int(three * (n_vocab - n_special))
    return tuple(torch.tensor(row, dtype=ids.dtype).view(ids.shape) for row in (read, labels))


def mask_tokens__masked_fill(ids, draws, n_vocab, n_special, mask_id, share=0.15):
    chosen = torch.logical_and(draws[0] < share, ids > n_special - 1)
    labels = ids.masked_fill(~chosen, -100)
    read = ids.clone()
    randomly = chosen & (draws[1] >= 0.8) & (draws[1] < 0.9)
    words = torch.floor(draws[2] * (n_vocab - n_special)).to(ids.dtype) + n_special
    read[randomly] = words[randomly]
    read[chosen & (draws[1] < 0.8)] = mask_id
    return read, labels


def mask_tokens__by_places(ids, draws, n_vocab, n_special, mask_id, share=0.15):
    read, labels = ids.clone(), torch.full_like(ids, -100)
    where = ((ids >= n_special) & (draws[0] < share)).nonzero(as_tuple=True)
    labels[where] = ids[where]
    fate, word = draws[1][where], draws[2][where]
    new = (n_special + (word * (n_vocab - n_special)).long()).to(ids.dtype)
    new = torch.where(fate < 0.8, torch.full_like(new, mask_id), new)
    read[where] = torch.where(fate < 0.9, new, ids[where])
    return read, labels


class BERT__square_mask(reference.BERT):
    def forward(self, ids, segments=None):
        B, T = ids.shape
        if segments is None:
            segments = ids * 0
        rows = self.position.table(torch.arange(T, device=ids.device))
        x = F.embedding(ids, self.token.weight) + rows + F.embedding(segments, self.segment.weight)
        x = self.dropout(self.norm(x))
        mask = (ids != 0)[:, None, :].expand(B, T, T)
        for i in range(len(self.blocks)):
            x = self.blocks[i](x, mask=mask)
        return x


class BERT__padding_looks_at_nothing(reference.BERT):
    """What stands at padding is nobody's business: these rows may be closed too."""

    def forward(self, ids, segments=None):
        x = self.token(ids)
        x = x + (self.segment.weight[0] if segments is None else self.segment(segments))
        x = self.dropout(self.norm(self.position(x)))
        real = ids.ne(0)
        mask = real[:, :, None] & real[:, None, :]
        for block in self.blocks:
            x = block(x, mask)
        return x


class BERT__one_hot(reference.BERT):
    def forward(self, ids, segments=None):
        n_segment = self.segment.num_embeddings
        segments = torch.zeros_like(ids) if segments is None else segments
        words = F.one_hot(ids, self.token.num_embeddings).float() @ self.token.weight
        kinds = F.one_hot(segments, n_segment).float() @ self.segment.weight
        x = self.position(words) + kinds
        x = F.dropout(self.norm(x), self.dropout.p, self.training)
        for block in self.blocks:
            x = block(x, (ids > 0).unsqueeze(1))
        return x


class MaskedLanguageModel__functional(reference.MaskedLanguageModel):
    def forward(self, ids, segments=None):
        h = self.transform(self.bert(ids, segments=segments))
        h = self.norm(nn.GELU()(h))
        return F.linear(h, self.bert.token.weight, self.bias)

    def loss(self, ids, labels, segments=None):
        if (labels == -100).all():
            return torch.tensor(0.0)
        return F.cross_entropy(self.forward(ids, segments).transpose(1, 2), labels)


class MaskedLanguageModel__picked_places(reference.MaskedLanguageModel):
    def forward(self, ids, segments=None):
        h = self.norm(F.gelu(self.transform(self.bert(ids, segments))))
        return torch.einsum("btc,vc->btv", h, self.bert.token.weight) + self.bias

    def loss(self, ids, labels, segments=None):
        asked = labels >= 0
        odds = self(ids, segments)[asked].log_softmax(-1)
        right = odds.gather(1, labels[asked].unsqueeze(1))
        return -right.sum() / max(1, int(asked.sum()))


class TextClassifier__with_where(heads.TextClassifier):
    def forward(self, ids, segments=None):
        x = self.bert(ids, segments=segments)
        if self.pooling == "mean":
            real = ids != 0
            total = torch.where(real[:, :, None], x, torch.zeros(())).sum(dim=1)
            text = total / torch.clamp(real.sum(dim=1, keepdim=True), min=1)
        else:
            text = x.select(1, 0)
        return self.head(self.dropout(text))


class TextClassifier__weights_as_matrix(heads.TextClassifier):
    def forward(self, ids, segments=None):
        x = self.bert(ids, segments)
        if self.pooling == "cls":
            weights = F.one_hot(torch.zeros_like(ids[:, 0]), ids.size(1)).to(x)
        else:
            weights = F.normalize(ids.ne(0).to(x), p=1, dim=-1)
        pooled = (weights.unsqueeze(1) @ x).squeeze(1)
        return self.head(F.dropout(pooled, self.dropout.p, self.training))


class TextClassifier__text_by_text(heads.TextClassifier):
    def forward(self, ids, segments=None):
        rows = []
        for row, x in zip(ids, self.bert(ids, segments), strict=True):
            if self.pooling == "cls":
                rows.append(x[0])
            else:
                kept = x[row != 0]
                rows.append(kept.mean(0) if len(kept) else torch.zeros_like(x[0]))
        return self.head(self.dropout(torch.stack(rows)))


class TokenClassifier__written_out(heads.TokenClassifier):
    def forward(self, ids, segments=None):
        x = F.dropout(self.bert(ids, segments), self.dropout.p, self.training)
        return x @ self.head.weight.T + self.head.bias


class TokenClassifier__flat(heads.TokenClassifier):
    def forward(self, ids, segments=None):
        x = self.dropout(self.bert(ids, segments=segments))
        return self.head(x.reshape(-1, x.size(-1))).view(*ids.shape, -1)
