"""HTML by construction: text is escaped on its way into a page unless it is `Markup` already.

Nothing else in the package joins strings into HTML, so a name or a reason such as `<script>` can
only ever show as text. Characters that no page should hold (control characters, half surrogates,
marks that turn the direction of writing) become the replacement character.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re

from dpaudit.output import PAGE

_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
_VOID = ("br", "col", "link", "meta")


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(value: object) -> Markup:
    """Return a value as HTML text; markup stays as it is, None is nothing."""
    if isinstance(value, Markup):
        return value
    if value is None:
        return Markup()
    return Markup(html.escape(_UNFIT.sub("\ufffd", str(value)), quote=True))


def join(*parts: object) -> Markup:
    """Return parts one after the other; lists are flattened."""
    flat = [join(*part) if isinstance(part, list | tuple) else text(part) for part in parts]
    return Markup("".join(flat))


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """Return an element; `class_` and `aria_label` are written `class` and `aria-label`.

    An attribute that is None is left out; one that is the empty string stands alone.
    """
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + (f'="{text(value)}"' if value != "" else "")
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(*children)}</{name}>")


def fingerprint(content: str) -> str:
    """Return the source expression that lets a policy allow exactly this style or script."""
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def document(title: str, style: str, body: Markup, script: str = "") -> str:
    """Return a whole page that may load nothing: its style and script are named by their hash."""
    allowed = [f"style-src {fingerprint(style)}", "img-src data:"]
    if script:
        allowed.append(f"script-src {fingerprint(script)}")
    policy = "; ".join(["default-src 'none'", *allowed, "base-uri 'none'", "form-action 'none'"])
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        Markup(PAGE),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("link", rel="icon", href="data:,"),
        tag("style", Markup(style)),
    )
    after = tag("script", Markup(script)) if script else None
    return f"<!doctype html>\n{tag('html', head, tag('body', body, after), lang='en')}\n"
