"""The documentation as a site: `make docs`. Pages stay where people read them in the repository, links as they are
there; a link that leads nowhere fails the build."""

from importlib.metadata import version as version_of

project = "Sketchmark"
author = "the authors of Sketchmark"
version = release = version_of("sketchmark")

extensions = ["myst_parser"]
root_doc = "docs/site/index"
html_extra_path = ["front"]  # index.html of the site, which leads on to that page
include_patterns = ["*.md", "docs/**.md", "examples/README.md"]
myst_heading_anchors = 3
nitpicky = True
html_theme = "furo"
html_title = "Sketchmark"
html_copy_source = False
html_show_copyright = False
html_static_path = ["front"]
html_css_files = ["site.css"]  # code blocks and tables stay inside the page
