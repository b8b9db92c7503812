"""The same few sentences in English, French and Greek, to see what a tokeniser makes of each."""

ENGLISH = (
    "The king spoke to his brother, and the night was long. My lord, I will come to you with the "
    "letter when the sun is in the sea. Who is there, and what have they done to her?"
)
FRENCH = (
    "Le roi parla à son frère, et la nuit fut longue. Mon seigneur, je viendrai chez vous avec la "
    "lettre quand le soleil sera dans la mer. Qui est là, et que lui ont-ils fait ?"
)
GREEK = (
    "Ο βασιλιάς μίλησε στον αδελφό του, και η νύχτα ήταν μεγάλη. Κύριέ μου, θα έρθω σε εσένα με το "
    "γράμμα όταν ο ήλιος είναι στη θάλασσα. Ποιος είναι εκεί, και τι της έκαναν;"
)
SCRIPTS = {"English": ENGLISH, "French": FRENCH, "Greek": GREEK}


def tokens_per_character(
    train_bpe, encode, seed: int, size: int = 6000, n_merges: int = 80
) -> dict:
    """Learn merges from one stretch of Shakespeare; count tokens per character in three languages.

    The two functions come in as arguments, so that anybody's can be measured; the seed says
    where the stretch begins.
    """
    from solutions.data.tiny_shakespeare import text
    from solutions.words import byte_ids, count_words, split_words

    start = seed * 50_021 % 1_000_000
    merges = train_bpe(count_words(text()[start : start + size]), n_merges)
    return {
        name: sum(len(encode(byte_ids(w), merges)) for w in split_words(said)) / len(said)
        for name, said in SCRIPTS.items()
    }
