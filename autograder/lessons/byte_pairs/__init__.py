"""byte_pairs: counting and merging pairs, learning merges, encoding by rank, the tokeniser."""

from autograder.lessons.byte_pairs.count_pairs import COUNT
from autograder.lessons.byte_pairs.encode import ENCODE
from autograder.lessons.byte_pairs.merge_pair import MERGE
from autograder.lessons.byte_pairs.tokenizer import TOKENIZER
from autograder.lessons.byte_pairs.train_bpe import TRAIN
from autograder.lessons.byte_pairs.which_line import WHICH_LINE, puzzle
from autograder.lessons.byte_pairs.who_pays import WHO_PAYS

__all__ = ["QUESTIONS", "puzzle"]

QUESTIONS = [COUNT, MERGE, TRAIN, ENCODE, TOKENIZER, WHICH_LINE, WHO_PAYS]
