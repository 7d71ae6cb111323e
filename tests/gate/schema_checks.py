"""Two small validators that read the published schemas: draft-07 JSON Schema and XSD 1.0 subsets.

Each refuses a keyword that it does not know, so that nothing in a schema is skipped silently.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

DATA = Path(__file__).parents[1] / "data"
TEXT_ONLY = {"$id", "$schema", "$defs", "definitions", "description", "title", "default", "format"}
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


def json_errors(value, schema, top=None, at="$"):
    """Yield what is wrong with a value under a draft-07 schema (formats are not judged)."""
    top = schema if top is None else top
    for keyword, rule in schema.items():
        if keyword in TEXT_ONLY:
            continue
        match keyword:
            case "$ref":
                _, place, name = rule.split("/")
                yield from json_errors(value, top[place][name], top, at)
            case "type":
                kinds = [rule] if isinstance(rule, str) else rule
                plain = any(
                    isinstance(value, TYPES[kind])
                    and (kind == "boolean" or not isinstance(value, bool))
                    for kind in kinds
                )
                if not plain:
                    yield f"{at}: {value!r} is not {rule}"
            case "enum":
                if value not in rule:
                    yield f"{at}: {value!r} is not one of {rule}"
            case "required":
                missing = [name for name in rule if isinstance(value, dict) and name not in value]
                yield from (f"{at}: {name} is missing" for name in missing)
            case "properties":
                for name in rule.keys() & (value if isinstance(value, dict) else {}):
                    yield from json_errors(value[name], rule[name], top, f"{at}.{name}")
            case "additionalProperties":
                known = schema.get("properties", {})
                for name in value if isinstance(value, dict) else ():
                    if name not in known and rule is False:
                        yield f"{at}: {name} is not allowed"
                    elif name not in known and isinstance(rule, dict):
                        yield from json_errors(value[name], rule, top, f"{at}.{name}")
            case "const":
                if value != rule:
                    yield f"{at}: {value!r} is not {rule!r}"
            case "prefixItems":
                items = value if isinstance(value, list) else []
                for n, (item, each) in enumerate(zip(items, rule, strict=False)):
                    yield from json_errors(item, each, top, f"{at}[{n}]")
            case "items":
                rest = value if isinstance(value, list) else []
                rest = rest[len(schema.get("prefixItems", ())) :]
                if rule is False and rest:
                    yield f"{at}: {len(rest)} items too many"
                for n, item in enumerate(rest if rule is not False else ()):
                    yield from json_errors(item, rule, top, f"{at}[{n}]")
            case "maxItems":
                if isinstance(value, list) and len(value) > rule:
                    yield f"{at}: more than {rule} items"
            case "minItems":
                if isinstance(value, list) and len(value) < rule:
                    yield f"{at}: fewer than {rule} items"
            case "uniqueItems":
                items = value if rule and isinstance(value, list) else []
                if any(item in items[:n] for n, item in enumerate(items)):
                    yield f"{at}: items repeat"
            case "minimum":
                if isinstance(value, int | float) and value < rule:
                    yield f"{at}: {value} is below {rule}"
            case "maximum":
                if isinstance(value, int | float) and value > rule:
                    yield f"{at}: {value} is above {rule}"
            case "pattern":
                if isinstance(value, str) and not re.search(rule, value):
                    yield f"{at}: {value!r} does not match {rule}"
            case "anyOf" | "oneOf":
                fits = sum(not list(json_errors(value, option, top, at)) for option in rule)
                if fits == 0 or (keyword == "oneOf" and fits > 1):
                    yield f"{at}: fits {fits} of {keyword}"
            case _:
                raise NotImplementedError(keyword)


XS = "{http://www.w3.org/2001/XMLSchema}"


class Xsd:
    """The elements of a schema whose content is a choice or a sequence of optional references."""

    def __init__(self, path):
        root = ElementTree.parse(path).getroot()
        self.elements = {it.get("name"): it for it in root.findall(f"{XS}element")}
        self.patterns = {
            it.get("name"): it.find(f"{XS}restriction/{XS}pattern").get("value")
            for it in root.findall(f"{XS}simpleType")
        }

    def errors(self, element, at=""):
        """Yield what is wrong with an element and everything below it."""
        at = f"{at}/{element.tag}"
        declared = self.elements.get(element.tag)
        if declared is None:
            yield f"{at}: not an element of the schema"
            return
        kind = declared.find(f"{XS}complexType")
        if kind is None:
            assert declared.get("type") == "xs:string"
            if len(element) or element.attrib:
                yield f"{at}: text only"
            return
        attributes = {it.get("name"): it for it in kind.findall(f"{XS}attribute")}
        for name in element.attrib.keys() - attributes.keys():
            yield f"{at}: attribute {name} is not allowed"
        for name, it in attributes.items():
            if it.get("use") == "required" and name not in element.attrib:
                yield f"{at}: attribute {name} is missing"
            pattern = self.patterns.get(it.get("type"))
            if pattern and not re.fullmatch(pattern, element.get(name, "")):
                yield f"{at}: {name}={element.get(name)} does not match"
        if kind.get("mixed") != "true" and (element.text or "").strip():
            yield f"{at}: text is not allowed"
        allowed = set()
        for it in kind.iter(f"{XS}element"):
            many = it.get("maxOccurs") == "unbounded"
            above = [c for c in kind.iter(f"{XS}choice") if it in list(c)]
            many = many or any(c.get("maxOccurs") == "unbounded" for c in above)
            assert many, "a reference that may occur once only is not handled"
            allowed.add(it.get("ref"))
        for child in element:
            if child.tag not in allowed:
                yield f"{at}: {child.tag} is not allowed here"
            yield from self.errors(child, at)
