# SPDX-License-Identifier: Apache-2.0
"""The one exception that a user is meant to see."""

from __future__ import annotations

from pathlib import Path


class InputError(Exception):
    """Bad input: one sentence, with the file and line where there is one. Nothing was written."""

    def __init__(self, sentence: str, file: Path | str | None = None, line: int | None = None) -> None:
        where = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        super().__init__(where + sentence)
