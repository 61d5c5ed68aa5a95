"""Clean-up of a reply: the first stage of the strict parser.

Other turns of a chat, special tokens, tool calls, struck text, links and Markdown go. Answers that a reply marks
itself (`\\boxed{…}`, `<answer>…</answer>`, `{"answer": …}`, `finish("B")`) become slots. A slot is one character of
the text, so the sentence around a marked answer can still deny it.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from dataclasses import dataclass
from typing import Any

from sketchmark.answers import without_thinking
from sketchmark.answers.vocabulary import TABLES

HEAD, TAIL = 2_000, 8_000
"""Characters of a long reply that are parsed: the answer is at the beginning or at the end."""

FIRST_SLOT = 0xF0000
"""Slots are characters of a private plane; the reply's own characters of that plane are removed."""

_ROLE = r"user|human|system|assistant|model|ai|bot|chatbot|gpt|tool|ipython"
_TURN_ENDS = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|end|return|eos|end_of_turn_token|eot)\|>|</s>|<eos>|<end_of_turn>"
    r"|\[/?eos\]|<｜end▁of▁sentence｜>",
    re.IGNORECASE,
)
_TURN = re.compile(
    rf"<\|(?:im_start|start_header_id|start)\|>\s{{0,3}}(?P<token>{_ROLE})?\s{{0,3}}(?:<\|end_header_id\|>)?"
    rf"|<start_of_turn>\s{{0,3}}(?P<gemma>{_ROLE})?|<\|(?P<bare>{_ROLE})\|>|(?P<inst>\[INST\])|(?P<out>\[/INST\])"
    rf"|(?:^|[ ]?(?=#{{3}}))[ ]?[*#]{{0,3}}[ ]?(?P<line>{_ROLE})[ ]?[*]{{0,2}}:[*]{{0,2}}",
    re.IGNORECASE | re.MULTILINE,
)
_TOKEN = re.compile(
    r"<\|(?!(?:begin|end)_of_box)[^|<>\n]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>|<(?:pad|bos|unk|unused\d{1,3}|sep|cls)>",
    re.IGNORECASE,
)
_ASKING = ("user", "human", "system", "tool", "ipython")
_FIRST_TOKEN = re.compile(r"\A\s{0,9}<s>(?![^<]{0,2000}</s>\s{0,9}\S)")


def _answered(text: str) -> str:
    """Return the model's first turn: not what it was asked, and not a dialogue that it continued by itself."""
    text = _FIRST_TOKEN.sub("", text)
    struck = "<s>" in text  # then `</s>` ends struck text and not a turn
    kept: list[str] = []
    for turn in [text] if struck else _TURN_ENDS.split(text):
        asks, start = False, 0
        for mark in _TURN.finditer(turn):
            if not asks:
                kept.append(turn[start : mark.start()])
            role = (mark["token"] or mark["gemma"] or mark["bare"] or mark["line"] or "").casefold()
            asks, start = role in _ASKING or bool(mark["inst"]), mark.end()
            if asks and "".join(kept).strip():
                break
        else:
            kept.append("" if asks else turn[start:])
        if _TOKEN.sub("", "".join(kept)).strip():
            break
    return _TOKEN.sub(" ", "\n".join(kept))


_SQUARED = re.compile("[\U0001f150-\U0001f169\U0001f170-\U0001f189\U0001f1e6-\U0001f1ff]")
_RAISED = re.compile("(?<=[0-9a-zA-Z)])[⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,9}")
_VULGAR = re.compile("(?<=[0-9])(?=[¼½¾⅐-⅞])")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0e\ufe0f\ufeff\u20e3]")
_STRUCK_SIGNS = re.compile("(?:.[\u0335-\u0338])+")
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
_STOPS = str.maketrans({"।": ".", "؟": "?", "،": ",", "؛": ";"})
_GAP = re.compile(r"[^\S\n]{2,}|\n{3,}")


def _unicode(text: str) -> str:
    """Normalise letters in circles, raised digits, fractions, blanks and invisible signs."""
    text = _STRUCK_SIGNS.sub(" ", _UNSEEN.sub("", text))
    text = _SQUARED.sub(
        lambda sign: chr(65 + (ord(sign[0]) - (0x1F1E6 if sign[0] > "\U0001f1e5" else 0x1F150)) % 32), text
    )
    text = _RAISED.sub(lambda raised: "^" + unicodedata.normalize("NFKC", raised[0]).replace("−", "-"), text)
    text = unicodedata.normalize("NFKC", _VULGAR.sub(" ", text)).replace("⁄", "/").expandtabs(1)
    return _PRIVATE.sub(" ", text).translate(_STOPS)


_STRUCK = re.compile(
    r"~~[^~\n]{1,2000}~~|<(?P<tag>del|strike|s)>.{0,2000}?</(?P=tag)>|\\(?:cancel|sout|st|xcancel|bcancel)\{[^{}]{0,400}\}",
    re.IGNORECASE | re.DOTALL,
)
_LINK = re.compile(
    r"!\[[^\[\]\n]{0,200}\]\([^()\n]{0,400}\)|(?P<text>\[[^\[\]\n]{1,200}\])\((?:https?:|www\.|#|/)[^()\s]{0,400}\)"
)
_ADDRESS = re.compile(
    r"\b(?:https?://|www\.)[^\s<>\"')\]]{1,400}|\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{2,40}"
    r"|\b[\w./-]{1,120}\.(?:png|jpe?g|gif|webp|pdf|svg|txt|csv|html)\b",
    re.IGNORECASE,
)
_BOX = re.compile(
    r"(?P<lead>^[ ]?(?:[-*+•|][ ]|\d{1,2}[.)][ ])?[ ]?|(?<=[ ])(?=[\[(☑☒☐◉○●]))"
    r"(?:[\[(](?P<in>[ xX✓✔•*])[\])]|(?P<sign>[☑☒☐◉○⚪🔘●◯]))[ ]{1,3}(?=\S)",
    re.M,
)
_CALLED = (
    r"(?:(?:final|submit|give|return|provide|send|report|record|set)_?)?"
    r"(?:answer|finish|submit|print|respond|response|result|option|choice|final|console\.log|println)"
)
_CALL = re.compile(
    rf"\b(?P<ours>{_CALLED})[ ]?(?:\((?:\w{{1,20}}[ ]?=[ ]?)?(?:\"(?P<a>[^\"\n]{{0,200}})\"|'(?P<b>[^'\n]{{0,200}})'"
    r"|(?P<d>[\w.-]{1,20}))[ ]?\)|\[(?P<c>[^\[\]\n]{1,200})\])"
    r"|\b[a-z_][\w.]{1,40}(?:\([ ]?(?:\w{1,20}[ ]?[=:][ ]?)?[\"'][^\"\n]{0,200}[\"'][^()\n]{0,200}\)"
    r"|\[[^\[\]\n]{1,200}\](?=\s|$))",
    re.IGNORECASE,
)
_PIPED = re.compile(r"^[ ]?\|([^|\n]{1,40})\|[ ]?$", re.M)
_RETURNED = re.compile(
    r"^\s?(?:return|echo|print|puts)\s(?P<quote>[\"']?)(?P<text>[^\s\"';]{1,40})(?P=quote);?\s?$", re.M
)
_TABLE_RULE = re.compile(r"^[ ]?\|?(?:[ ]?:?-{2,}:?[ ]?\|?)+[ ]?$\n?", re.M)
_TOOL = re.compile(
    r"<(?P<tool>tool_calls?|function_calls?|tool_response|invoke|function)\b[^<>]{0,80}>(?P<body>.{0,4000}?)(?:</(?P=tool)>|\Z)",
    re.I | re.S,
)
_HTML = re.compile(
    r"<(?P<line>/?(?:br|p|li|ul|ol|div|tr|h[1-6]|hr)\s?/?)>|</?(?:b|i|u|em|strong|span|center|td|th|table|tbody|code|mark|font|sub|response|output|final|result|body|html|details|summary|small|big|q|ins)(?:\s[^<>\n]{0,80})?>"
)


_BOLD_LINE = re.compile(r"^[ ]?(?:[-*+•][ ])?\*\*(?=\(?[A-Za-z][.):])(?P<text>[^*\n]{1,200})\*\*[ ]?$", re.M)
_PLAIN_LINE = re.compile(r"^[ ]?(?:[-*+•][ ])?\(?[A-Za-z][.):]\)?[ ][^*\n]{1,200}$", re.M)


_QUOTE_MARK = re.compile(r"^[ ]?(?:>[ ]){1,3}(?=[^\s\d-])", re.M)
_COURTESY = re.compile(
    r"(?:(?<=[.!?。！？)*\"])|^)[ ]?(?:" + "|".join(TABLES["courtesy"]) + r")[^.!?\n。！？]{0,160}(?:[.!?。！？]|$)",
    re.I | re.M,
)


def _chosen_in_bold(text: str) -> str:
    """Mark the only bold line in a list of options as the chosen one."""
    bold = list(_BOLD_LINE.finditer(text))
    if len(bold) != 1 or len(_PLAIN_LINE.findall(text)) < 2:
        return text
    return f"{text[: bold[0].start()]}✅ {bold[0]['text']}{text[bold[0].end() :]}"


def _table(text: str) -> str:
    """Replace a Markdown table of one row by the cell under the heading `Answer`, if there is one."""
    for rule in _TABLE_RULE.finditer(text):
        head = text[: rule.start()].rstrip("\n").rpartition("\n")
        row, mark, rest = text[rule.end() :].partition("\n")
        names = [cell.strip() for cell in head[2].strip(" |").split("|")]
        cells = [cell.strip() for cell in row.strip(" |").split("|")]
        place = next((at for at, name in enumerate(names) if _ANSWER_KEY.fullmatch(name)), None)
        if place is not None and len(cells) == len(names) > 1 and not rest.lstrip(" ").startswith("|"):
            return f"{head[0]}{head[1]}<answer>{cells[place]}</answer>{mark}{rest}"
    return _TABLE_RULE.sub("", text)


def _box(found: re.Match[str]) -> str:
    sign = found["in"] or found["sign"]
    if found["in"] and not found["lead"] and found.start() and not re.search(r"[\[(] [\])]", found.string):
        return found[0]
    crossed = sign == "☒" and "☐" not in found.string
    return f"{found['lead']}{'❌' if sign in ' ☐○⚪◯' or crossed else '✅'} "


def _call(found: re.Match[str]) -> str:
    content = next((found[name] for name in "abcd" if found[name] is not None), None)
    return " " if found["ours"] is None else f"<answer>{content}</answer>"


_ANSWER_KEY = re.compile(
    r"(?:(?:final|correct|my|your|the|predicted|selected|chosen|best)[_ -]?)*"
    r"(?:answers?|choice|option|prediction|letter|label|selection|response|result|output|verdict|key|value|pred|ans"
    r"|réponse|respuesta|antwort|risposta|resposta|cevap|ответ|答案|答え|정답|回答)"
    r"(?:[_ -]?(?:letter|key|id|text|value|choice|option))?[_ -]?\d?",
    re.IGNORECASE,
)
_FINAL_KEY = re.compile(r"final|correct", re.IGNORECASE)
_NOISE_KEY = re.compile(
    r"(?:.{0,40}_)?(?:confidence|probability|prob|score|certainty|likelihood|reason(?:ing)?|explanation|rationale|thoughts?"
    r"|thinking|analysis|step|steps|evidence|justification|question|id|time|seconds|tokens|usage|model|version|status"
    r"|description|comment|notes?|why|caption|(?:image_)?size|width|height|b?box(?:es)?|coordinates|resolution|timestamp|alternatives?|second_choice|runner_up|page|image|difficulty|options|choices)",
    re.IGNORECASE,
)
_THING_KEY = re.compile(r"(?:object|item|class|name|thing|category|colou?r|shape|animal|material)s?", re.IGNORECASE)
_CALL_KEYS = frozenset(("name", "function", "tool", "action", "tool_name"))
_ARGUMENT_KEYS = ("arguments", "parameters", "input", "args", "action_input", "params")
_JSON_START = re.compile(r"[\[{](?=\s{0,40}(?:[\"{\[]|-?\d|true|false|null|[\]}]))")
_MOST_JSON = 8
"""Values in JSON that are looked at; the patterns for marked answers find the rest."""


def _json(text: str) -> str:
    """Replace JSON by its answer, or by `key: value` lines where no key is called an answer."""
    out, at, tried = [], 0, 0
    while tried < _MOST_JSON and (start := _JSON_START.search(text, at)):
        tried += 1
        try:
            value, end = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            out.append(text[at : start.end()])
            at = start.end()
            continue
        plain_list = isinstance(value, list) and not any(isinstance(one, dict | str) for one in value)
        spoken = text[start.start() : end] if plain_list else f"\n{_spoken(value)}\n"
        if out and not text[at : start.start()].strip(" \n,;") and spoken != out[-1] and "<answer>" in spoken:
            out[-1], spoken = "", f"<answer>{_bare(out[-1])}, {_bare(spoken)}</answer>"  # two answers are no answer
        out += [text[at : start.start()], spoken]
        at = end
    return "".join((*out, text[at:]))


_DECODER = json.JSONDecoder(strict=False)


def _spoken(value: Any) -> str:
    if isinstance(value, dict):
        name = next(
            (str(value[key]) for key in value if str(key).casefold() in _CALL_KEYS and isinstance(value[key], str)),
            None,
        )
        given = next((value[key] for key in _ARGUMENT_KEYS if key in value), None)
        if name is not None and given is not None:
            return (
                _spoken(given) if re.search(r"answer|finish|submit|final|respond|select|choose", name, re.I) else ""
            )
        if value and all(
            len(str(key)) == 1 and isinstance(one, int | float) and not isinstance(one, bool)
            for key, one in value.items()
        ):
            likely = sorted(value.items(), key=lambda pair: pair[1])
            clear = len(likely) == 1 or likely[-1][1] >= 2 * likely[-2][1]
            return f"<answer>{likely[-1][0] if clear else ', '.join(map(str, value))}</answer>"
        answers = [one for key, one in value.items() if _ANSWER_KEY.fullmatch(str(key)) and not isinstance(one, dict)]
        if answers:
            final = [one for key, one in value.items() if _FINAL_KEY.match(str(key)) and not isinstance(one, dict)]
            spoken = dict.fromkeys(map(_scalar, final or answers))
            return f"<answer>{', '.join(spoken)}</answer>"
        counts = [one for key, one in value.items() if str(key).casefold() in ("count", "total", "number")]
        if len(counts) == 1 and not any(isinstance(one, bool) for one in value.values()):
            return f"<answer>{_scalar(counts[0])}</answer>"
        nested = [
            one for key, one in value.items() if isinstance(one, dict | list) and not _NOISE_KEY.fullmatch(str(key))
        ]
        if nested:
            return "\n".join(_spoken(one) for one in nested)
        pairs = [(key, one) for key, one in value.items() if not _NOISE_KEY.fullmatch(str(key))]
        if len(pairs) == 1 < len(value) and _THING_KEY.fullmatch(str(pairs[0][0])):
            return f"<answer>{_scalar(pairs[0][1])}</answer>"
        return "\n".join(f"{key}: {_scalar(one)}" for key, one in pairs)
    if isinstance(value, list):
        parts = [_spoken(one) if isinstance(one, dict) else _scalar(one) for one in value]
        whole = ", ".join(map(_bare, parts))
        return f"<answer>{whole}</answer>" if any(isinstance(one, dict | str) for one in value) else whole
    return _scalar(value)


def _bare(spoken: str) -> str:
    return spoken.replace("<answer>", "").replace("</answer>", "").strip()


def _scalar(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_scalar, value))
    return (
        {True: "yes", False: "no", None: ""}.get(value, str(value)) if isinstance(value, bool | None) else str(value)
    )


_PIECE = re.compile(
    r"\\(?P<box>boxed|fbox|framebox)[ ]?\{|\\(?:boxed|fbox)\s(?P<word>[^\s{}\\]{1,40})"
    r"|\\(?P<wrap>text|textbf|textit|textrm|textsf|mathrm|mathbf|mathit|mathsf|mbox|operatorname|bf|rm)[ ]?\{"
    r"|[<\[](?P<tag>/?)(?:final_?|the_)?(?:answer|ans|choice|solution|conclusion|result)(?:>|\](?!\())|<\|(?:begin|(?P<end>end))_of_box\|>"
    r"|(?P<json>[\"'](?:(?:final|correct)[_ ]?)?(?:answer|choice|option|prediction|label)[\"'][ ]?:\s?"
    r"(?:\"(?P<said>[^\"\n]{0,400})\"|'(?P<quoted>[^'\n]{0,400})'|(?P<plain>[^\s\"',{}\[\]]{1,40})))"
    r"|\\[()\[\],;! ]|\\(?:quad|qquad|displaystyle)\b|\$(?=\d[\d.,]{0,20}\$)|(?<=\d)\$|\$(?!\d)"
    r"|\*\*|(?<![\w)])\*(?=\S)|(?<=\S)\*(?![\w(])|`|__|~~|(?<![\w])_(?=[^\s_])|(?<=[^\s_])_(?!\w)"
    r"|(?P<brace>[{}])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Said:
    """The text of a reply and the contents of its slots; the character of slot n is `chr(FIRST_SLOT + n)`."""

    text: str
    slots: tuple[str, ...]


_FOOTNOTE = re.compile(r"^[ ]?\[\^\w{1,9}\]:[^\n]*|\[\^\w{1,9}\]", re.M)
_DIALOGUE = re.compile(
    r"\A(?P<first>\s{0,9}(?!Q\b|Question\b)\S{1,40}(?:[ ]\S{1,40}){0,7})[ ]?\n\s{0,9}"
    r"(?:\*\*)?(?:Q|Question)[ ]?\d{0,2}(?:\*\*)?[:.)][\s\S]*\Z"
)
"""A short answer and the next question, which the model asked itself."""
_PORTUGUESE = re.compile(r"\b(?:é|um|uma|são|não|há|imagem|estão|também)\b", re.I)
_IN_THE = re.compile(r"(?<=[\wé] )no (?=[a-zà-ÿ])", re.I)
"""The Portuguese "in the", which looks like a negation."""


def said(response: Any) -> Said:
    """Clean up a reply for parsing. A reply that is not text (null, an error object) becomes empty."""
    if not isinstance(response, str):
        return Said("", ())
    text = without_thinking(response)
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}\n\n{text[-TAIL:]}"
    text = _unicode(_answered(html.unescape(text))).replace("{,}", ",")
    text = _json(_STRUCK.sub(" ", _TOOL.sub(lambda tool: tool["body"], text)))
    text = _DIALOGUE.sub(r"\g<first>", _FOOTNOTE.sub("", text))
    text = _ADDRESS.sub(" ", _LINK.sub(lambda link: link["text"] or " ", _CALL.sub(_call, text)))
    text = _chosen_in_bold(_table(_RETURNED.sub(r"<answer>\g<text></answer>", text)))
    text = _PIPED.sub(r"\1", text)
    text = _HTML.sub(lambda tag: "\n" if tag["line"] else "", text)
    if _PORTUGUESE.search(text):
        text = _IN_THE.sub("em ", text)
    text = _COURTESY.sub("", _QUOTE_MARK.sub("", text))
    text = _BOX.sub(_box, _GAP.sub(lambda gap: "\n\n" if gap[0][0] == "\n" else " ", text))
    return unwrapped(text)


def unwrapped(text: str) -> Said:
    """Remove wrappers and their braces and turn marked answers into slots, in one pass.

    An unclosed mark holds the rest of the text. A mark inside another is part of it.
    """
    out: list[str] = []
    slots: list[str] = []
    braces: list[str] = []
    opened: int | None = None
    start = 0

    def close() -> None:
        nonlocal opened
        if opened is not None:
            slots.append("".join(out[opened:]).strip())
            del out[opened:]
            out.append(chr(FIRST_SLOT + len(slots) - 1))
            opened = None

    for piece in _PIECE.finditer(text):
        out.append(text[start : piece.start()])
        start = piece.end()
        if piece["box"]:
            braces.append("box" if opened is None else "wrap")
            opened = len(out) if opened is None else opened
        elif piece["wrap"]:
            braces.append("wrap")
        elif piece["tag"] is not None or "_of_box" in piece[0]:
            close()
            if not (piece["tag"] or piece["end"]):
                repeated = "".join(out[-2:]).strip() == chr(FIRST_SLOT + len(slots) - 1)
                out.append("\n" if repeated else "")
                opened = len(out)
        elif piece["word"] or piece["json"]:
            content = next(
                (part for part in (piece["word"], piece["said"], piece["quoted"], piece["plain"]) if part), ""
            )
            if opened is None:
                out.append("\n" if piece["json"] else "")
                opened = len(out)
                out.append(content)
                close()
                out.append("\n" if piece["json"] else "")
            else:
                out.append(content)
        elif piece["brace"] == "{":
            braces.append("brace")
            out.append("{")
        elif piece["brace"]:
            kind = braces.pop() if braces else "brace"
            if kind == "box":
                close()
            elif kind == "brace":
                out.append("}")
    out.append(text[start:])
    close()
    return Said("".join(out).strip(), tuple(slots))
