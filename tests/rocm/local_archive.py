# SPDX-License-Identifier: Apache-2.0
"""A Debian archive in a folder: packages with tiny libraries in place of AMD's, and an apt set-up for it."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

TOOLS = ("apt-get", "apt-config", "dpkg-deb", "dpkg", "cc")
MULTIARCH = Path("usr/lib/x86_64-linux-gnu")


def missing_tools() -> list[str]:
    return [tool for tool in TOOLS if shutil.which(tool) is None]


@dataclass
class LocalArchive:
    """Suites are published with `publish`; `apt_config` is what APT_CONFIG must name."""

    folder: Path
    _stanzas: dict[str, list[str]] = field(default_factory=dict)

    @property
    def apt_config(self) -> Path:
        return self.folder / "apt.conf"

    @property
    def hook_marker(self) -> Path:
        """Exists once a hook of the system's apt configuration was run."""
        return self.folder / "hook-was-run"

    def copy(self, folder: Path) -> LocalArchive:
        """The same packages in another folder, with an apt set-up that names it."""
        shutil.copytree(self.folder, folder, symlinks=True)
        parts = folder / "sources.list.d"
        parts.mkdir()
        copied = LocalArchive(folder, {suite: list(stanzas) for suite, stanzas in self._stanzas.items()})
        (parts / "debian.sources").write_text(
            f"Types: deb\nURIs: file:{folder}/debian\nSuites: trixie\nComponents: main\nTrusted: yes\n",
            encoding="utf-8",
        )
        copied.apt_config.write_text(
            f'Dir::Etc::sourcelist "{folder}/none";\nDir::Etc::sourceparts "{parts}";\n'
            f'APT::Update::Pre-Invoke {{ "touch {copied.hook_marker}"; }};\n',
            encoding="utf-8",
        )
        return copied

    def add(
        self, suite: str, name: str, version: str, files: dict[str, Path | str], depends: str = ""
    ) -> None:
        """A package whose files are given as text, or as a path of which a copy is taken."""
        build = self.folder / "build"
        shutil.rmtree(build, ignore_errors=True)
        for place, content in files.items():
            (build / place).parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, Path):
                shutil.copy2(content, build / place, follow_symlinks=False)
            else:
                (build / place).write_text(content, encoding="utf-8")
        control = (
            f"Package: {name}\nVersion: {version}\nArchitecture: amd64\nMaintainer: me\nDescription: test\n"
        )
        control += f"Depends: {depends}\n" if depends else ""
        (build / "DEBIAN").mkdir(parents=True)
        (build / "DEBIAN" / "control").write_text(control, encoding="utf-8")
        pool = self.folder / "debian" / "pool" / suite
        pool.mkdir(parents=True, exist_ok=True)
        deb = pool / f"{name}_{version.replace(':', '%3a')}_amd64.deb"
        subprocess.run(
            ["dpkg-deb", "-Znone", "--root-owner-group", "-b", build, deb], check=True, capture_output=True
        )
        data = deb.read_bytes()
        self._stanzas.setdefault(suite, []).append(
            f"{control}Filename: pool/{suite}/{deb.name}\nSize: {len(data)}\n"
            f"SHA256: {hashlib.sha256(data).hexdigest()}\n"
        )

    def publish(self) -> None:
        """Write the indexes of every suite that has packages."""
        for suite, stanzas in self._stanzas.items():
            dists = self.folder / "debian" / "dists" / suite
            (dists / "main" / "binary-amd64").mkdir(parents=True, exist_ok=True)
            packages = "\n".join(stanzas).encode()
            (dists / "main" / "binary-amd64" / "Packages").write_bytes(packages)
            (dists / "Release").write_text(
                f"Suite: {suite}\nCodename: {suite}\nArchitectures: amd64\nComponents: main\n"
                f"Date: Sat, 01 Aug 2026 00:00:00 UTC\nSHA256:\n"
                f" {hashlib.sha256(packages).hexdigest()} {len(packages)} main/binary-amd64/Packages\n",
                encoding="utf-8",
            )

    def drop(self, suite: str) -> None:
        """Take a suite off the archive."""
        shutil.rmtree(self.folder / "debian" / "dists" / suite)
        del self._stanzas[suite]

    def library(self, soname: str, file: str, needs: tuple[str, ...] = ()) -> dict[str, Path | str]:
        """A shared library's files as a package holds them: the file and the link named as its soname."""
        work = self.folder / "cc"
        work.mkdir(exist_ok=True)
        source = work / "library.c"
        source.write_text("#include <stdlib.h>\nint answer(void) { return abs(-1); }\n", encoding="utf-8")
        output = work / file
        needed = [str(work / need) for need in needs]
        command = ["cc", "-shared", "-fPIC", "-Wl,--no-as-needed", f"-Wl,-soname,{soname}", "-o", str(output)]
        subprocess.run([*command, str(source), *needed], check=True, capture_output=True)
        if soname == file:
            return {str(MULTIARCH / file): output}
        return {str(MULTIARCH / file): output, str(MULTIARCH / soname): self._link(soname, file)}

    def _link(self, name: str, target: str) -> Path:
        link = self.folder / "cc" / name
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        return link

    def dangling_link(self, name: str) -> dict[str, Path | str]:
        """A -dev package's link to a library that it does not bring itself."""
        return {str(MULTIARCH / name): self._link(name, f"{name}.9")}

    def add_hip(self, suite: str, version: str, major: str, hsa: str = "") -> None:
        """The packages of a HIP release; `version` is Debian's."""
        upstream = version.partition("-")[0]
        hip_major, minor, patch = upstream.split(".")
        header = "".join(
            f"#define HIP_VERSION_{name} {number}\n"
            for name, number in (("MAJOR", hip_major), ("MINOR", minor), ("PATCH", f"{patch}77"))
        )
        headers = {
            "usr/include/hip/hip_version.h": header,
            "usr/include/hip/hip_runtime_api.h": "int hipInit();\n",
        }
        hsa_library = self.library("libhsa-runtime64.so.1", "libhsa-runtime64.so.1.0.0")
        hip = self.library(
            f"libamdhip64.so.{major}", f"libamdhip64.so.{upstream}", ("libhsa-runtime64.so.1",)
        )
        link: dict[str, Path | str] = {
            str(MULTIARCH / "libamdhip64.so"): self._link("libamdhip64.so", f"libamdhip64.so.{major}")
        }
        self.add(suite, "libamdhip64-dev", version, headers | link | self.dangling_link("libhiprtc.so"))
        self.add(suite, f"libamdhip64-{major}", version, hip)
        self.add(suite, "libhsa-runtime-dev", hsa or version, {"usr/include/hsa/hsa.h": "int hsa_init();\n"})
        self.add(suite, "libhsa-runtime64-1", hsa or version, hsa_library)
