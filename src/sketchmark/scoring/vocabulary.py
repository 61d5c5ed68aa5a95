"""The words that the strict reader knows, by what they do in a sentence. One language: see `languages` for others."""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    """Words given in one string, with blanks between them."""
    return frozenset(words.split())


ANSWER = word_set(
    "answer solution response conclusion verdict selection pick guess bet vote prediction result decision"
    " diagnosis statement"
)
OPTION = word_set("option options choice choices letter letters alternative alternatives one ones")
CHOOSE = word_set(
    "choose pick select say answer guess think believe vote conclude suspect prefer choosing selecting picking"
    " answering"
)
COPULA = word_set("is are am be would should must will to has have 's being it's that's shall remains seems appears")
PRONOUN = word_set("it this that which it's that's these")
CONCLUDING = word_set("so thus hence therefore accordingly consequently ∴ ⇒ => → leaving leaves leave")
POINTING = word_set("matches match means indicates suggests supports corresponds fits gives yields namely")
FILLER = word_set(
    "the a an most likely probably clearly indeed definitely obviously simply just actually then now really surely"
    " certainly apparently correct right best final remaining only my proper possible single given labelled labeled"
    " marked me very by with because ultimately finally overall still thus also our us la le el der die das"
    " absolutely first second third fourth last"
)
SEPARATOR = word_set(": = - – — -> → => # > |")
NEGATOR = word_set(
    "not no never cannot neither nor without except excluding exclude excludes excluded eliminate eliminates"
    " eliminated"
    " eliminating reject rejects rejected discard discarded dismiss dismissed unable fail fails failed unlikely"
    " hardly"
    " unsure unclear uncertain than whether impossible none nobody doubt doubts doubtful"
)
HEDGE = word_set("could may might perhaps maybe possibly can potentially conceivably")
WRONG = word_set(
    "incorrect wrong false excluded exclude eliminated impossible unlikely invalid out mistaken misprint rejected"
    " absent discarded implausible not cannot no ✗ ✘ ❌ × typo unsuitable"
)
RIGHT = word_set("correct right true best answer accurate appropriate only valid likely ✓ ✔ ✅ suitable closest")
BREAK = word_set(
    ", ; but because since although though while whereas however as so thus hence therefore then which leaving ("
    " ) . ! ?"
)
"""What ends the reach of a negation or a hedge to its left."""
SUBORDINATE = word_set(
    "because since although though while whereas as not exclude but which even despite given compared than for"
)
"""After these, other options in the same sentence are reasons, not answers."""
VERB = word_set(
    "is are was were can could does do seems looks appears must has have would will should cannot fails lacks fits"
    " matches works makes remains isn't aren't doesn't don't can't won't wouldn't shows needs requires represents"
)
AFTER_LETTER = (
    VERB
    | BREAK
    | SUBORDINATE
    | word_set(
        "and or / & here based from in on therefore according by if when due rather instead nor too also alone"
        " option choice answer it best correct the"
    )
)
BEFORE_LETTER = (
    COPULA
    | OPTION
    | CHOOSE
    | CONCLUDING
    | POINTING
    | FILLER
    | NEGATOR
    | HEDGE
    | ANSWER
    | BREAK
    | SEPARATOR
    | PRONOUN
    | word_set(
        "or and / & either both between of like on from for if but than not versus take taking mark marks consider"
        " makes make else"
    )
) - {"a", "an"}
"""A letter right after any other word is that word's name: vitamin D, panel B."""


def is_negator(word: str) -> bool:
    return word in NEGATOR or word.endswith("n't")
