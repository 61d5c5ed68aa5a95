"""The image-index sentence: telling a model, in words, how many pictures it was given and how they are numbered.

Follows the protocol of the MedEvalKit fork (docs/benchmarks/medical.md, "The image-index sentence"). It is
English for every language.
"""

from __future__ import annotations


def get_image_index_info(num_images: int) -> str:
    """The sentence for `num_images` pictures, ending in a newline; empty when there are none."""
    if num_images <= 0:
        return ""
    if num_images == 1:
        return "The index of the given image is 1.\n"
    indices = ", ".join(str(i) for i in range(1, num_images + 1))
    return f"The indices of the given images are {indices}.\n"


def add_image_index_to_prompt(prompt: str, info: str) -> str:
    """Put the sentence right before the prompt's last line, which is where these prompts hold the answer instruction.

    A prompt of one line has no instruction line of its own, so the sentence follows it.
    """
    if not info:
        return prompt
    head, newline, instruction = prompt.rpartition("\n")
    return f"{head}\n{info}{instruction}" if newline else f"{prompt}\n{info}"


def add_image_index_to_report_prompt(prompt: str, info: str) -> str:
    """Put the sentence after the prompt's first sentence, with the spaces of the published form:
    one before it, and one that opens the line after it."""
    if not info:
        return prompt
    first, stop, rest = prompt.partition(". ")
    return f"{first}. {info} {rest}" if stop else add_image_index_to_prompt(prompt, info)
