"""Fine-tuning: put a small head on a BERT and train both, for whole texts or for single words."""

from torch import Tensor, nn

from solutions.bert import BERT


class TextClassifier(nn.Module):
    """Sort whole texts: one vector for the text, one linear layer on top of it.

    pooling: "cls" or "mean", see `forward`.
    """

    def __init__(self, bert: BERT, n_class: int, pooling: str = "cls", dropout: float = 0.1):
        super().__init__()
        if pooling not in ("cls", "mean"):
            raise ValueError(f"pooling is {pooling!r}; it must be 'cls' or 'mean'")
        self.bert = bert
        self.pooling = pooling
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(bert.token.embedding_dim, n_class)

    def forward(self, ids: Tensor, segments: Tensor | None = None) -> Tensor:
        """Make one vector of each text, drop out, score the classes.

        ids, segments (B, T) -> scores (B, n_class), no softmax. With "cls" the text's vector
        is that of its first token; with "mean" it is the average over the text's real tokens,
        those whose id is not 0. A text without any real token has the average 0.
        """
        x = self.bert(ids, segments)  # (B, T, C)
        if self.pooling == "cls":
            return self.head(self.dropout(x[:, 0]))
        real = (ids != 0).unsqueeze(-1).to(x.dtype)  # (B, T, 1)
        mean = (x * real).sum(1) / real.sum(1).clamp(min=1)
        return self.head(self.dropout(mean))


class TokenClassifier(nn.Module):
    """Sort every word by itself, in the light of its text."""

    def __init__(self, bert: BERT, n_class: int, dropout: float = 0.1):
        super().__init__()
        self.bert = bert
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(bert.token.embedding_dim, n_class)

    def forward(self, ids: Tensor, segments: Tensor | None = None) -> Tensor:
        """Score the classes for every token: `bert`, then `dropout`, then `head`.

        ids, segments (B, T) -> scores (B, T, n_class), no softmax; special tokens get scores
        too, which nobody reads.
        """
        return self.head(self.dropout(self.bert(ids, segments)))
