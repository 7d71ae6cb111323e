"""The published schemas as judges, by jsonschema and xmlschema (the extra `test`)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data"
REMEDY = "pip install '.[test]'"


@cache
def _validator(text):
    jsonschema = pytest.importorskip("jsonschema", reason=REMEDY)
    schema = json.loads(text)
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)


def json_errors(value, path):
    """Return what is wrong with a value under the JSON schema in a file."""
    return [error.message for error in _validator(path.read_text()).iter_errors(value)]


@cache
def _xsd(path):
    return pytest.importorskip("xmlschema", reason=REMEDY).XMLSchema(str(path))


def xml_errors(root, path=DATA / "junit-10.xsd"):
    """Return what is wrong with an element under the XML schema in a file."""
    return [error.reason for error in _xsd(path).iter_errors(root)]
