# SPDX-License-Identifier: Apache-2.0
"""What other commands ask of a comparison: may `generate` go ahead, and is a newer ROCm installed?"""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

from ..errors import InputError
from ..inputs import current_release, current_versions, find_installation, read_snapshots
from ..model import Api, release_key
from ..policy import Policy, load_policy
from ..staging import hip_version
from .compare import compare
from .finding import Severity
from .review import review
from .sides import Side, read_sides


def refuse_unsafe(api: Api, policy: Policy, snapshots: list[Api], root: Path) -> None:
    """Raises InputError when generating from `api` would follow an unsafe change that nobody has acknowledged.

    Compared with the snapshot of what generated/ was made from, also where `api` is called the same and is another;
    a first generation has nothing to refuse.
    """
    release = current_release(root)
    made_from = next((known for known in snapshots if known.release == release), None)
    if release is None or made_from == api:
        return
    if made_from is None:
        if release == api.release:
            return
        raise InputError(
            f"generated/ was made from ROCm {release}, but api/ has no snapshot of it to compare with."
        )
    comparison = compare(Side(made_from, "current"), Side(api, "new"), policy, root)
    reviewed = review(comparison, policy, earlier_steps(snapshots, policy, root), datetime.date.today())
    if reviewed.problems:
        first = reviewed.problems[0]
        raise InputError(first.sentence, policy.path, first.line)
    unsafe = [finding for finding in reviewed.open if finding.severity == Severity.UNSAFE]
    if unsafe:
        listed = "".join(f"\n  {f.fingerprint} {f.rule} {f.entity}" for f in unsafe)
        raise InputError(
            f"ROCm {api.release} changes what generated/, made from {release}, relies on, and nobody has acknowledged "
            f"it; see `redline-codegen diff current NEW` and `--suggest`:{listed}"
        )


def earlier_steps(snapshots: list[Api], policy: Policy, root: Path) -> Callable[[], frozenset[str]]:
    """Fingerprints of every step between consecutive snapshots, compared when first asked for."""

    @cache
    def fingerprints() -> frozenset[str]:
        found: set[str] = set()
        for old, new in pairwise(snapshots):
            comparison = compare(Side(old, old.release), Side(new, new.release), policy, root)
            found.update(finding.fingerprint for finding in comparison.findings)
        return frozenset(found)

    return fingerprints


def notice(root: Path) -> str:
    """One line when the ROCm that would be read is newer than what generated/ was made from, else nothing."""
    try:
        made_from = current_versions(root)
        installation = find_installation(None, None, root, dict(os.environ))
        if installation is None or "HIP_VERSION" not in made_from:
            return ""
        found = ".".join(hip_version(installation.include))
        if release_key(found) <= release_key(made_from["HIP_VERSION"]):
            return ""
    except (InputError, OSError):
        return ""
    newer = f"HIP {found} ({installation.origin}) is newer than"
    place = f"{newer} ROCm {made_from['ROCM_RELEASE']} ({made_from['HIP_VERSION']}), which generated/ was made from"
    try:
        policy = load_policy(root / "policies.yaml")
        comparison = compare(*read_sides("current", "installed", root), policy, root)
        earlier = earlier_steps(read_snapshots(root), policy, root)
        reviewed = review(comparison, policy, earlier, datetime.date.today())
    except (InputError, OSError) as error:
        return f"{place}; it could not be compared: {str(error).splitlines()[0]}"
    return f"{place}: {reviewed.tally}; see `redline-codegen diff`"
