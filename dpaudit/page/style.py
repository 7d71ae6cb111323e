"""The look of every page: one style sheet, and the script that sorts the tables of the index.

Colours are those of Okabe and Ito, which people with any common colour blindness can tell apart,
darkened or lightened until text in them has a contrast of at least 4.5 : 1 on the background. No
meaning rests on colour alone: verdicts are words, lines differ by their dashes and marks.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def resource(name: str) -> str:
    """Return a file that lies beside this module."""
    return files("dpaudit.page").joinpath(name).read_text(encoding="utf-8")


def style() -> str:
    """Return the style sheet."""
    return resource("page.css")


def sorting() -> str:
    """Return the script that lets a click on a heading sort its table."""
    return resource("sort.js")
