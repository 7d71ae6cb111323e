"""Write the published schemas from the types: python docs/schemas/build.py"""

from __future__ import annotations

import json
from pathlib import Path

from dpaudit.schemas import published

HERE = Path(__file__).resolve().parent


def text(schema: object) -> str:
    """Return a schema as the file has it."""
    return json.dumps(schema, indent=1) + "\n"


def main() -> None:
    """Write a file for every kind."""
    for kind, schema in published().items():
        (HERE / f"{kind}.json").write_text(text(schema), encoding="utf-8")


if __name__ == "__main__":
    main()
