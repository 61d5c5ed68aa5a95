"""SVG that somebody else wrote, a data set or a model, made into a picture without trusting it.

    picture = render(text)      # BadPicture says in one line why not

Two guards. What can be seen in the text is refused by name (`checking`): declarations, references to the outside,
canvases and numbers of elements beyond reason. The rest is held by the process that renders (`worker`): it has a time
limit, a memory limit, no keys and, unless there is text to set, no right to open a file. The renderer is resvg, which
knows no scripts and no network; in our own process it could still end us, for a few hundred nested groups are enough.
"""

from sketchmark.svg.rendering import render

__all__ = ["render"]
