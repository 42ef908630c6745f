# SPDX-License-Identifier: Apache-2.0
"""Committed snapshots keep to api/schema.json, which refuses what the reader would."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from conftest import ROOT
from redline_codegen.snapshot import SCHEMA

SNAPSHOTS = sorted((ROOT / "api").glob("rocm-*.json"))


def validator() -> Any:
    schema = json.loads((ROOT / "api" / "schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("path", SNAPSHOTS, ids=lambda path: path.stem)
def test_committed_snapshot_keeps_to_the_schema(path: Any) -> None:
    document = json.loads(path.read_text())
    validator().validate(document)
    assert path.stem == f"rocm-{document['release']}"


def test_schema_is_of_the_version_that_is_written() -> None:
    assert validator().schema["properties"]["schema"] == {
        "const": SCHEMA,
        "description": "raised when a reader of the old form would misread the new one",
    }


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(schema=2),
        lambda d: d.update(more=1),
        lambda d: d.pop("hip"),
        lambda d: d["hip"].pop("records"),
        lambda d: d["hip"]["functions"]["hipGraphCreate"].pop("header"),
        lambda d: d["hip"]["functions"]["hipGraphCreate"]["parameters"].append(["int"]),
        lambda d: d["hip"]["records"]["hipMemsetParams"].pop("alignment"),
        lambda d: d["hip"]["records"]["hipMemsetParams"]["fields"][0].update(offset="0"),
        lambda d: d["hip"]["enums"]["hipGraphNodeType"]["enumerators"][0].append(3),
        lambda d: d["hip"]["library"]["symbols"].append("hipGraphCreate"),
    ],
)
def test_schema_refuses_another_shape(change: Any) -> None:
    document = json.loads(SNAPSHOTS[-1].read_text())
    del document["hsa"]
    document["hip"]["functions"] = {"hipGraphCreate": document["hip"]["functions"]["hipGraphCreate"]}
    document["hip"]["records"] = {"hipMemsetParams": document["hip"]["records"]["hipMemsetParams"]}
    assert validator().is_valid(document)
    change(document)
    assert not validator().is_valid(document)
