"""The word lists of the stories in themes.py: for each slot a list for either theme or mood."""

_THEME = {  # slot: words of the sea, words of the farm; 80 for each theme
    "noun": (
        "harbour boat sailor anchor whale island lighthouse captain gull reef dolphin mast deck "
        "lagoon pirate oyster seal tide shark pier ferry crab squid coral buoy trawler octopus "
        "lobster raft cove compass herring pelican canoe surfer mermaid dune jellyfish walrus "
        "kelp",
        "barn cow farmer tractor hen field orchard pig plough meadow goat sheep horse stable "
        "haystack fence scarecrow turkey lamb calf wheat barley pumpkin carrot dairy shepherd "
        "goose donkey silo mill pasture rooster hedge beehive trough wagon oat cabbage turnip "
        "vineyard",
    ),
    "transitive": (
        "steer row moor launch board sink rig tow salvage chart",
        "milk harvest sow feed shear weed herd saddle till prune",
    ),
    "intransitive": (
        "drifted sailed floated surfaced swam dived splashed bobbed capsized docked",
        "grazed sprouted ripened neighed mooed clucked galloped wilted bleated trotted",
    ),
    "adjective": (
        "salty stormy tidal coastal sunken marine foamy briny seaworthy deep windswept "
        "shipwrecked nautical foggy sandy barnacled choppy tropical seasick floating",
        "muddy woolly fertile ripe grassy rural leafy thorny feathered hoofed fallow weedy "
        "shaggy rustic mown fenced ploughed organic spotted fattened",
    ),
}
_EVERYDAY = {  # words that tell nothing
    "noun": "friend house road door window stone letter child basket bell story neighbour",
    "transitive": "find see draw follow carry keep show touch",
    "intransitive": "waited moved stayed came turned fell slept vanished",
    "adjective": "old small quiet new strange grey tall warm",
    "how": (
        "slowly quickly quietly alone outside nearby suddenly upstairs loudly calmly badly well "
        "downhill backwards boldly sideways softly idly forever hastily"
    ),
    "when": "today again now twice later daily",
}
SEVERAL_TAGS = {  # a word and the slots it may fill
    "light": ("noun", "adjective", "transitive"),
    "rose": ("noun", "intransitive"),
    "watch": ("noun", "transitive"),
    "guard": ("noun", "transitive"),
    "calm": ("noun", "adjective", "transitive"),
    "cold": ("noun", "adjective"),
    "patient": ("noun", "adjective"),
    "twin": ("noun", "adjective"),
    "left": ("adjective", "intransitive"),
}
_MOOD = {  # slot: words of a glad story, words of a sad one
    "feeling": (
        "glad cheerful merry proud grateful hopeful lucky brave kind gentle eager playful sunny "
        "jolly content thrilled amused cosy delighted joyful",
        "sad gloomy angry lonely afraid jealous tired hurt bitter upset worried grumpy sorry "
        "ashamed bored nervous lost weary hungry homesick",
    ),
    "deed": (
        "laughed danced sang smiled cheered played clapped jumped hugged whistled",
        "cried shouted sulked wept frowned trembled groaned hid sighed complained",
    ),
    "end": (
        "feast party song gift picnic rainbow treasure dance holiday wedding",
        "storm quarrel flood fever fight fire thief nightmare famine funeral",
    ),
}

THEME, MOOD = (
    {slot: tuple(words.split() for words in pair) for slot, pair in table.items()}
    for table in (_THEME, _MOOD)
)
EVERYDAY = {slot: words.split() for slot, words in _EVERYDAY.items()}
