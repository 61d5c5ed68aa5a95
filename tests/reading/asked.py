"""Replies that answer a yes/no question by saying what is there and what is not, without a yes or a no.

`@X` is the finding, `@A` the same with its article, `@O` another one. The first go was written before the reader was
taught to look at the question, what is called later when it was done: of those 109, twelve failed at first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tests.reading.cases import Case

FINDINGS = {
    "pneumothorax": ("a pneumothorax", "pleural effusion"),
    "pleural effusion": ("a pleural effusion", "pericardial effusion"),
    "fracture": ("a fracture", "dislocation"),
    "cardiomegaly": ("cardiomegaly", "atelectasis"),
    "midline shift": ("a midline shift", "hemorrhage"),
}
"""The finding, the same with its article, and another one."""

QUESTIONS = (
    "Is there @A?",
    "Is there @A in this image?",
    "Is there any evidence of @X?",
    "Does the image show @A?",
    "Does this chest x-ray show any @X?",
    "Is @X present?",
    "Is @A seen in the image?",
    "Can you see @A?",
    "Does the patient have @A?",
    "Is there any sign of @X on this scan?",
)
NO = (
    "There is no @X.",
    "There is no evidence of @X.",
    "there is no @X",
    "No @X is seen.",
    "No @X.",
    "No evidence of @X",
    "The image does not show @A.",
    "The image doesn't show any @X.",
    "@X is not present.",
    "@X is absent.",
    "I do not see @A.",
    "I don't see any @X in this image.",
    "There are no signs of @X in this image.",
    "The lungs are clear. There is no @X.",
    "The lungs are clear, and there is no @X.",
    "Based on the image, there is no @X.",
    "No visible @X.",
    "There isn't any @X.",
    "The chest x-ray shows no @X.",
    "No @X can be seen.",
    "No @X was identified.",
    "There is no @X visible on this image.",
    "Not present.",
    "It is not seen.",
    "**There is no @X.**",
    "There is no @X or mass.",
    "There is no mass, @X, or consolidation.",
    "<think>Could there be @A? I see none.</think>There is no @X.",
    "<answer>There is no @X.</answer>",
    "There does not appear to be any @X.",
    "There is no @X. The heart is of normal size.",
)
YES = (
    "There is @A.",
    "There is evidence of @X.",
    "@X is present.",
    "@X is seen.",
    "@X is clearly visible.",
    "The image shows @A.",
    "The scan demonstrates @A.",
    "I can see @A.",
    "I see @A in this image.",
    "The patient has @A.",
    "Present.",
    "It is present.",
    "Based on the image, there is @A.",
    "There is @A on the left side.",
    "There is @A in the right lung.",
    "The image shows @A and a mass.",
    "**There is @A.**",
    "There is @A. The heart is of normal size.",
    "<think>No doubt.</think>There is @A.",
)
STATES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "Is the heart enlarged?": (
        ("The heart is enlarged.", "The heart is clearly enlarged.", "It is enlarged.", "the heart is enlarged"),
        ("The heart is not enlarged.", "The heart isn't enlarged.", "It is not enlarged.", "Not enlarged."),
    ),
    "Are the lungs clear?": (
        ("The lungs are clear.", "In this image, the lungs are clear.", "They are clear."),
        ("The lungs are not clear.", "The lungs aren't clear.", "They are not clear."),
    ),
    "Is this an axial view?": (
        ("This is an axial view.", "It is an axial view.", "Yes, this is an axial view."),
        ("This is not an axial view.", "It is not an axial view.", "This isn't an axial view."),
    ),
    "Are there any gallstones?": (
        ("There are gallstones.", "There are several gallstones.", "Gallstones are present.", "Gallstones are seen."),
        ("There are no gallstones.", "No gallstones are seen.", "Gallstones are not present.", "No gallstones."),
    ),
    "Are there rib fractures?": (
        ("There are rib fractures.", "The image shows rib fractures.", "There are multiple rib fractures."),
        (
            "There are no rib fractures.",
            "There is no rib fracture.",
            "There are no fractures.",
            "I see no rib fractures.",
        ),
    ),
    "Is there a pneumothorax in the left lung?": (
        ("There is a pneumothorax in the left lung.", "There is a small pneumothorax in the left lung."),
        ("There is no pneumothorax in the left lung.", "There is no pneumothorax."),
    ),
    "Is the trachea midline?": (
        ("The trachea is midline.", "The bones are intact. The trachea is midline."),
        ("The trachea is not midline.", "The trachea is not midline in this image."),
    ),
}
NO_LATER = (
    "The image shows no evidence of @X.",
    "There is no @X noted.",
    "There is no radiographic evidence of @X.",
    "No definite evidence of @X is present. There is no @X.",
    "After reviewing the image, I see no @X.",
    "Looking at the image, there is no @X.",
    "The scan does not demonstrate @A.",
    "The patient does not have @A.",
    "There is currently no @X.",
    "@X is not seen in this image.",
    "@X is not visible on the scan.",
    "@X was not detected.",
    "No, there is no @X.",
    "No @X present.",
    "No signs of @X are visible.",
    "There are no signs of @X.",
    "I see no evidence of @X in the provided image.",
    "The image reveals no @X.",
    "So there is no @X.",
    "There is no @X here.",
    "The provided image does not show any evidence of @X.",
    "Neither @A nor a mass is seen.",
    "The heart is normal; there is no @X.",
    "\\boxed{\\text{There is no @X}}",
    "The image looks normal.\n\n<answer>No @X is seen</answer>",
    "There is no indication of @X in the image.",
    "@X: absent",
    "@X: not seen.",
)
YES_LATER = (
    "There is @A present.",
    "There is @A visible in the image.",
    "The image clearly shows @A.",
    "The patient does have @A.",
    "This image shows evidence of @X.",
    "@X is noted.",
    "@X can be seen.",
    "@X can be seen on the right side.",
    "@X is identified in the left lung.",
    "The x-ray reveals @A.",
    "There is clearly @A.",
    "So there is @A.",
    "I see evidence of @X.",
    "There appears to be @A.",
    "Yes, there is @A.",
    "Findings: there is @A.",
    "There is @A, and the heart is normal.",
    "@X: present",
    "The image looks abnormal.\n\n<answer>@X is present</answer>",
    "The scan shows a mass and @A.",
)
UNCLEAR_LATER = (
    "There is no @X visible in the part of the image that I was given, which is cropped.",
    "The image does show no sign of the disease that causes @X.",
    "There is a @X protocol for this.",
    "There is no mention of @X.",
    "There is no question of @X.",
    "There is an @X mimic.",
    "There is a resolved @X.",
    "There is a suspected @X.",
    "There is probably not only @A.",
    "The image shows a patient who had @A.",
    "I would look for @A.",
    "No @X has ever looked like this.",
    "No @X?",
    "@X is present in 5 % of such patients.",
    "@X is not what is seen.",
    "@X is not the only thing present.",
    "@X is rarely seen.",
    "@X is often present.",
    "@X is seen when the pleura is torn.",
    "@X is present if the line is visible.",
    "@X would be visible.",
    "@X should be present.",
    "The report says there is no @X.",
    "My colleague sees no @X.",
    "To tell whether @X is present, look at the apex.",
    "There is no @X or there is one.",
    "There is no @O and @X is not discussed.",
    "There is no @O, so @X is possible.",
    "The image shows @O rather than @A.",
    "There is either @A or nothing.",
    "There is insufficient evidence of @X.",
    "There is little evidence of @X.",
    "There is weak evidence of @X.",
    "There is no clear evidence of @X, yet I believe in it.",
    "The lungs are not clear.",
    "There is no abnormality.",
    "It is there.",
    "The heart is enlarged. It is present.",
    "I see no reason against @A.",
    "There is no @X-like shadow.",
    "The image does not have enough contrast to show @A.",
    "The patient has no symptoms of @X.",
    "Not seen yet by a doctor.",
    "There are two options: there is @A, or there is no @X.",
    "Option 1: there is @A.\nOption 2: there is no @X.",
    "Answer yes if there is @A and no if there is no @X.",
)
UNCLEAR = (
    "There is no @O.",
    "No @O is seen.",
    "@O is present.",
    "The image shows @O.",
    "There is no doubt about it.",
    "There is no way to tell.",
    "No image was provided.",
    "There is no large @X.",
    "There is no left-sided @X.",
    "There is no change in the @X.",
    "There may be @A.",
    "There might be no @X.",
    "@X cannot be excluded.",
    "@X is not excluded.",
    "There is no @X, but it cannot be excluded.",
    "A small @X might be present.",
    "There is a possible @X.",
    "There is concern for @X.",
    "There is a history of @X.",
    "There is no history of @X.",
    "There is suspicion of @X.",
    "There is a low risk of @X.",
    "The question is whether there is @A.",
    "If there is @A, it is small.",
    "Is there @A?",
    "There is @A. There is no @X.",
    "@X",
    "The patient fears @X.",
    "No @X treatment is needed.",
    "There is @A in the differential diagnosis.",
    "I do not think there is @A.",
    "I doubt that there is @A.",
    "It is unlikely that there is @A.",
    "There is no @X in the other image.",
    "There was @A last year.",
    "Some say there is no @X.",
    "There is no @X? Hard to say.",
    "There is no @X. Wait, that is wrong.",
    "There is neither @A nor none.",
    "I cannot see @A.",
    "I cannot tell whether @X is present.",
    "There is no @X on the right.",
    "There is @A or @O.",
    "There is no reason to assume @A.",
    "The image does not show the region where @X is seen.",
    "The image does not show no @X.",
    "The absence of @X is not certain.",
)
ODD_QUESTIONS = (
    "Is there no @X?",
    "Isn't there @A?",
    "Is @X absent?",
    "Is there an absence of @X?",
    "Is the image free of @X?",
    "Is there @A or @O?",
    "Are there fewer than three @X?",
    "What is there?",
    "Where is the @X?",
    "Is the @X on the left or on the right?",
    "Is there not @A?",
    "",
)
ODD_REPLIES = ("There is no @X.", "There is @A.", "No @X is seen.", "@X is present.", "It is not present.", "Absent.")
PAIRS = (
    ("Is there a pneumothorax in the left lung?", "There is no pneumothorax in the right lung."),
    ("Is there a pneumothorax in the left lung?", "There is a pneumothorax in the right lung."),
    ("Is there a left pneumothorax?", "There is a pneumothorax."),
    ("Is there a large pneumothorax?", "There is a small pneumothorax."),
    ("Is there a pleural effusion?", "There is no pleural or pericardial thickening."),
    ("Is there a pleural effusion?", "There is an effusion."),
    ("Is there a mass in the liver?", "There is no mass in the kidney."),
    ("Are there two lesions?", "There is a lesion."),
    ("Is the heart enlarged?", "The heart is of normal size."),
    ("Is the heart enlarged?", "The liver is enlarged."),
    ("Is the heart enlarged?", "The liver is not enlarged."),
    ("Is the heart enlarged?", "The heart is not enlarged. The heart is enlarged."),
    ("Is the heart enlarged?", "The heart may not be enlarged."),
    ("Is the heart not enlarged?", "The heart is not enlarged."),
    ("Is this an axial view?", "This is not a coronal view."),
    ("Is this an axial view?", "This is a coronal view."),
    ("Is this a CT of the chest?", "It is the chest."),
    ("Is the left lung larger than the right lung?", "The right lung is larger than the left lung."),
    ("Is the liver above the kidney?", "The kidney is above the liver."),
    ("Is the heart enlarged?", "The heart is enlarged in the second picture only."),
    ("Is the heart enlarged?", "A heart that is enlarged would touch the wall."),
    ("Is the heart enlarged?", "The heart is either enlarged or rotated."),
    ("Is the heart enlarged?", "I would not say that the heart is enlarged."),
    ("Is the heart enlarged?", "It is not the heart."),
    ("Is the aorta calcified?", "The aorta is not dilated."),
    ("Is this a normal image?", "This is not a good image."),
    ("Was a contrast agent used?", "There is no contrast agent."),
    ("Is the patient a man?", "There is no man."),
    ("Are the kidneys present in this image?", "The left kidney is present."),
    ("Are there kidneys in this image?", "There is no left kidney."),
    ("Is there a tumor in the brain?", "There is no brain."),
    ("Is there hemorrhage?", "There is no hemorrhage. The answer is yes or no."),
    ("Is there hemorrhage?", "There is no hemorrhage. \\boxed{maybe}"),
    ("Is there hemorrhage?", "There is no fracture and a hemorrhage."),
    ("Is there hemorrhage?", "There is no fracture and hemorrhage is discussed elsewhere."),
    ("Is there hemorrhage?", "There is no fracture with hemorrhage."),
    ("Is there gas in the bowel?", "There is no bowel gas outside the bowel."),
    ("Is there any abnormality in the lungs?", "There is no abnormality in the bones."),
    ("Is there contrast in the vessels?", "There is no contrast between the two sides."),
)


def meant() -> Iterator[Case]:
    yield from _findings(YES, NO, "asked for")
    yield from _findings(YES_LATER, NO_LATER, "asked for, later")
    for question, (yes, no) in STATES.items():
        for value, texts in ((True, yes), (False, no)):
            yield from (Case("yes/no", text, (), value, "yes/no, states", text, question) for text in texts)


def unclear() -> Iterator[Case]:
    for question in QUESTIONS:
        yield from _filled(UNCLEAR, question, None, "beside the question")
        yield from _filled(UNCLEAR_LATER, question, None, "beside the question, later")
    for question in ODD_QUESTIONS:
        yield from _filled(ODD_REPLIES, question, None, "odd questions")
    for question, text in PAIRS:
        yield Case("yes/no", text, (), None, "yes/no, other things", text, question)


def _findings(yes: Sequence[str], no: Sequence[str], family: str) -> Iterator[Case]:
    for question in QUESTIONS:
        yield from _filled(yes, question, True, family)
        yield from _filled(no, question, False, family)


def _filled(templates: Sequence[str], question: str, meant: bool | None, family: str) -> Iterator[Case]:
    for finding, (named, other) in FINDINGS.items():
        marks = {"@X": finding, "@A": named, "@O": other}
        for template in templates:
            text = _put(template, marks)
            text = text[:1].upper() + text[1:] if template[0] == "@" else text
            yield Case("yes/no", text, (), meant, f"yes/no, {family}", template, _put(question, marks))


def _put(template: str, marks: Mapping[str, str]) -> str:
    for mark, words in marks.items():
        template = template.replace(mark, words)
    return template
