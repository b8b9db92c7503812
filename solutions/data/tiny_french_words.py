"""The words of tiny_french: what there is, with gender, English, and what goes with what."""

from functools import cache

NAMES = (
    *("Jane", "Marie", "Nina", "Lucie", "Sara", "Clara", "Julie", "Paul", "Luc", "Tom", "Marc"),
    *("Simon", "Anne", "Omar", "Emma", "Igor"),
)
NOUNS = {  # French, gender, English
    "person": "roi m king, reine f queen, médecin m doctor, boulanger m baker, danseuse f dancer,"
    "peintre m painter, chanteuse f singer, voisine f neighbour, étudiante f student, ami m friend,"
    "marin m sailor, juge m judge, fermière f farmer, princesse f princess, sorcière f witch,"
    "actrice f actress",
    "food": "pomme f apple, poire f pear, citron m lemon, gâteau m cake, tarte f pie,"
    "orange f orange, melon m melon, carotte f carrot, saucisse f sausage, biscuit m biscuit",
    "text": "livre m book, lettre f letter, poème m poem, roman m novel, journal m newspaper,"
    "rapport m report",
    "clothes": "chapeau m hat, manteau m coat, robe f dress, bague f ring, chemise f shirt,"
    "montre f watch, veste f jacket, écharpe f scarf",
    "thing": "vélo m bicycle, lampe f lamp, clé f key, chaise f chair, tableau m painting,"
    "horloge f clock, panier m basket, bateau m boat, tambour m drum, guitare f guitar,"
    "miroir m mirror, couteau m knife, valise f suitcase, ballon m balloon",
    "animal": "chat m cat, chien m dog, cheval m horse, vache f cow, poule f hen, oiseau m bird,"
    "lapin m rabbit, renard m fox, souris f mouse, tortue f turtle",
}
BEFORE = {  # French masculine, feminine, English: stand before the noun
    "person": "petit petite small, jeune jeune young, vieux vieille old, gentil gentille kind",
    "other": "petit petite small, grand grande big, vieux vieille old, beau belle beautiful,"
    "nouveau nouvelle new, joli jolie pretty",
}
AFTER = {  # stand after it
    "person": "célèbre célèbre famous, timide timide shy, poli polie polite, riche riche rich,"
    "fatigué fatiguée tired, honnête honnête honest, fier fière proud, bavard bavarde talkative",
    "food": "vert verte green, rouge rouge red, jaune jaune yellow, chaud chaude hot,"
    "froid froide cold, sucré sucrée sweet",
    "text": "étrange étrange strange, célèbre célèbre famous, moderne moderne modern,"
    "ennuyeux ennuyeuse boring, secret secrète secret",
    "clothes": "vert verte green, rouge rouge red, bleu bleue blue, propre propre clean,"
    "cher chère expensive, sale sale dirty, violet violette purple, élégant élégante elegant",
    "thing": "vert verte green, rouge rouge red, noir noire black, blanc blanche white,"
    "lourd lourde heavy, cher chère expensive, sale sale dirty, léger légère light,"
    "cassé cassée broken",
    "animal": "noir noire black, blanc blanche white, gris grise grey, brun brune brown,"
    "sauvage sauvage wild, rapide rapide fast, calme calme calm",
}
DETERMINERS = "le la the, un une a, ce cette this"
VERBS = {  # by what they are done to, which may decide on the meaning: porte, garde, gagne ...
    "place": "gagne reaches, visite visits, traverse crosses, quitte leaves",
    "food": "mange eats, prépare cooks, porte carries, gagne wins, achète buys",
    "text": "lit reads, écrit writes, tape types, prépare drafts, garde keeps, perd loses",
    "clothes": "porte wears, garde keeps, gagne wins, achète buys, perd loses",
    "thing": "porte carries, garde keeps, gagne wins, monte assembles, tape hits, cache hides",
    "animal": "garde minds, monte rides, nourrit feeds, dessine draws, suit follows",
}
PLACES = (  # the place itself, "in" it, English
    "l' Afrique/en Afrique/Africa, l' Italie/en Italie/Italy, l' Inde/en Inde/India,"
    "l' Espagne/en Espagne/Spain, la Norvège/en Norvège/Norway, le Japon/au Japon/Japan,"
    "le Brésil/au Brésil/Brazil, le Canada/au Canada/Canada, Lisbonne/à Lisbonne/Lisbon,"
    "Paris/à Paris/Paris, Rome/à Rome/Rome, Berlin/à Berlin/Berlin"
)
TIMES = (
    "en janvier/in January, en février/in February, en mars/in March, en avril/in April,"
    "en mai/in May, en juin/in June, en juillet/in July, en août/in August,"
    "en septembre/in September, en octobre/in October, en novembre/in November,"
    "en décembre/in December, en été/in summer, en hiver/in winter, au printemps/in spring,"
    "chaque lundi/every Monday, chaque mardi/every Tuesday, chaque jeudi/every Thursday,"
    "chaque samedi/every Saturday, chaque matin/every morning, chaque soir/every evening,"
    "chaque vendredi/every Friday, chaque dimanche/every Sunday"
)
ADVERBS = "souvent often, rarement rarely, parfois sometimes, toujours always"  # after the verb
JOINTS = "et and, mais but, car because"
BEFORE_VOWEL = {"le": "l'", "la": "l'", "de": "d'", "ce": "cet"} | {
    "beau": "bel",
    "vieux": "vieil",
    "nouveau": "nouvel",
}


@cache
def table(text: str, mark: str | None = None) -> tuple[tuple[str, ...], ...]:
    """Read "a b, c d" as ((a, b), (c, d))."""
    return tuple(tuple(entry.strip().split(mark)) for entry in text.split(","))


def vocabularies() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return all French and all English words, each in alphabetical order."""
    french, english = {"du", "de", *NAMES, *BEFORE_VOWEL.values()}, {"'s", "an", "in", *NAMES}
    for entry in (
        row for texts in (NOUNS, BEFORE, AFTER) for text in texts.values() for row in table(text)
    ):
        french.update(entry[:1] if entry[1] in "mf" else entry[:2])
        english.add(entry[2])
    for *words, word in (
        row for text in (DETERMINERS, JOINTS, ADVERBS, *VERBS.values()) for row in table(text)
    ):
        french.update(words)
        english.add(word)
    for *phrases, phrase in (row for text in (PLACES, TIMES) for row in table(text, "/")):
        french.update(word for text in phrases for word in text.split())
        english.update(phrase.split())
    return tuple(sorted(french)), tuple(sorted(english))
