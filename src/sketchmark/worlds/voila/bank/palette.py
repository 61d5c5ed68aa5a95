"""Every colour of the built-in pictures, by what it is the colour of.

The families in KEYS are what a subject is known by at a glance (fur, hair, the boy's cap), those in GROUNDS and
PROPS what an action is known by. They keep a clear distance from each other and from everything else on the picture,
which is what makes the pictures easy to tell apart for a person and readable for `reader`.
"""

from __future__ import annotations

from sketchmark.worlds.voila.bank.pen import Colour

INK: Colour = (42, 38, 46)
WHITE: Colour = (255, 255, 255)
PINK: Colour = (244, 150, 170)
BLUSH: Colour = (247, 172, 165)
LIPS: Colour = (206, 60, 84)
TONGUE: Colour = (232, 96, 118)

SKIN_LIGHT: Colour = (255, 212, 188)
SKIN_TAN: Colour = (204, 140, 114)

KEYS: dict[int, Colour] = {
    0: (245, 197, 66),
    1: (58, 34, 24),
    2: (123, 35, 64),
    3: (201, 209, 218),
    4: (185, 169, 207),
    5: (78, 65, 102),
    6: (200, 150, 60),
    7: (238, 122, 35),
    8: (242, 213, 138),
    9: (165, 72, 47),
    10: (110, 127, 147),
    11: (45, 91, 209),
    12: (110, 74, 44),
    13: (251, 218, 230),
}
"""What gives each subject away, by its place in SUBJECTS."""

BOY_HAIR: Colour = (142, 96, 66)
DOG_EAR: Colour = (142, 96, 50)
CREAM: Colour = (253, 241, 219)
MONKEY_FACE: Colour = (246, 196, 158)
BEAR_MUZZLE: Colour = (206, 168, 128)
WOLF_LIGHT: Colour = (222, 228, 234)
WOLF_DARK: Colour = (70, 92, 112)
CAT_LIGHT: Colour = (150, 136, 176)
GLASSES: Colour = (92, 72, 60)
SILVER: Colour = (176, 186, 194)
FRAME: Colour = (236, 238, 240)

CLOTHES: tuple[Colour, ...] = (
    (64, 170, 160),
    (236, 110, 96),
    (120, 140, 220),
    (176, 118, 190),
    (146, 176, 84),
)
TROUSERS: tuple[Colour, ...] = ((62, 78, 128), (96, 106, 84), (126, 92, 110))
SHOES: Colour = (112, 60, 96)
DRESS: tuple[Colour, ...] = ((240, 118, 166), (176, 118, 190), (236, 110, 96))

SHAWL: Colour = (214, 92, 120)

SKIES: tuple[Colour, ...] = ((158, 214, 244), (178, 224, 236), (186, 204, 246), (252, 206, 176))
CLOUD: Colour = (248, 252, 255)
SUN: Colour = (255, 238, 158)
HILLS: tuple[Colour, ...] = ((140, 200, 160), (126, 186, 170), (160, 206, 150))
LEAVES: tuple[Colour, ...] = ((86, 156, 100), (70, 140, 112), (112, 168, 92))
TRUNK: Colour = (140, 100, 80)

GROUNDS: dict[str, tuple[Colour, ...]] = {
    "pitch": ((52, 162, 88), (64, 178, 102)),
    "road": ((160, 158, 160), (150, 150, 150)),
    "ice": ((214, 238, 248), (222, 242, 252)),
    "path": ((226, 192, 184), (216, 180, 172)),
    "water": ((52, 168, 206), (40, 150, 194)),
    "meadow": ((174, 212, 92), (186, 220, 108)),
    "soil": ((164, 132, 106), (150, 120, 98)),
    "track": ((214, 104, 90), (206, 96, 84)),
    "paving": ((198, 200, 168), (188, 190, 156)),
}

RIPPLE: Colour = (132, 208, 230)

WALLS: tuple[Colour, ...] = ((246, 232, 206), (212, 234, 206), (226, 220, 244), (252, 218, 190))
FLOORS: tuple[Colour, ...] = ((222, 190, 150), (194, 166, 146), (180, 178, 176))

PROPS: dict[str, Colour] = {
    "laptop": (150, 172, 204),
    "laptop dark": (92, 104, 134),
    "paper": (255, 254, 246),
    "pencil": (255, 214, 10),
    "desk": (186, 118, 74),
    "desk dark": (160, 98, 60),
    "cloth": (230, 80, 120),
    "plate": (250, 250, 252),
    "box": (216, 168, 116),
    "box dark": (176, 128, 84),
    "tape": (228, 186, 140),
    "book": (20, 124, 132),
    "pit": (88, 60, 66),
    "earth": (134, 92, 72),
    "steel": (132, 146, 160),
    "wood": (196, 136, 84),
    "tyre": (60, 68, 72),
    "glass": (206, 236, 244),
    "chrome": (220, 224, 228),
}
CARS: tuple[Colour, ...] = ((226, 68, 62), (44, 178, 164), (252, 160, 20), (148, 108, 200))

OTHERS: tuple[Colour, ...] = (
    *(
        INK,
        WHITE,
        PINK,
        BLUSH,
        LIPS,
        TONGUE,
        SKIN_LIGHT,
        SKIN_TAN,
        BOY_HAIR,
        DOG_EAR,
        CREAM,
        MONKEY_FACE,
        BEAR_MUZZLE,
    ),
    *(WOLF_LIGHT, WOLF_DARK, CAT_LIGHT, GLASSES, SILVER, FRAME, SHOES, SHAWL, CLOUD, SUN, TRUNK, RIPPLE),
    *(*CLOTHES, *TROUSERS, *DRESS, *SKIES, *HILLS, *LEAVES, *WALLS, *CARS),
)
"""Colours that give nothing away by themselves: what a pixel may be instead of a key, a ground or a prop."""
