# SPDX-License-Identifier: Apache-2.0
"""Headers are parsed once a process, however many routes and commands lead to them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from unittest import mock

from redline_codegen import inputs
from redline_codegen.header import HeaderSet, read_headers
from redline_codegen.model import Part


@cache
def _parsed(headers: HeaderSet, folders: tuple[Path, ...]) -> Part:
    return read_headers(headers, list(folders))


@contextmanager
def parsed_once() -> Iterator[None]:
    def parse(headers: HeaderSet, folders: list[Path]) -> Part:
        return _parsed(headers, tuple(folder.resolve() for folder in folders))

    with mock.patch.object(inputs, "read_headers", parse):
        yield
