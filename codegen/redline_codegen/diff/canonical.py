# SPDX-License-Identifier: Apache-2.0
"""One text for one type: typedefs expanded and tags without their keyword, so that spellings compare equal."""

from __future__ import annotations

import re

from ..model import Function, Part

_NAME = re.compile(r"(?:\b(?:struct|union|enum) )?\b[A-Za-z_]\w*")
_GAP = re.compile(r"\*\s+(?=\*)")


def canonical(part: Part, type_text: str, open_names: frozenset[str] = frozenset()) -> str:
    """Not C where a typedef hides a pointer behind a qualifier or a declarator: braces keep it apart then."""

    def expanded(match: re.Match[str]) -> str:
        keyword, _, name = match.group().rpartition(" ")
        target = part.typedefs.get(name)
        if keyword or target is None or name in open_names:
            return name
        text = canonical(part, target, open_names | {name})
        before = type_text[: match.start()].rstrip()
        whole = type_text == name
        plain = not set(text) & set("[(") and (not before or before[-1] in "(," or "*" not in text)
        return text if whole or plain else f"{{{text}}}"

    return _GAP.sub("*", _NAME.sub(expanded, type_text))


def canonical_signature(part: Part, function: Function) -> tuple[str, ...]:
    return tuple(canonical(part, text) for text in function.types)
