"""Prints the software bill of materials of a release, as SPDX 2.3: its files, and the libraries in its static commands.

Usage: sbom.py VERSION DIST CROSS; CROSS is the folder of .ci/cross. The versions of the libraries are those of the
headers that the commands were compiled with.
"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import sys

# Name of the library, its license, its header, and the macros of its version.
LIBRARIES = [
    ("Highway", "Apache-2.0 OR BSD-3-Clause", "hwy/base.h", r"HWY_(?:MAJOR|MINOR|PATCH) (\d+)"),
    ("xxHash", "BSD-2-Clause", "xxhash.h", r"XXH_VERSION_(?:MAJOR|MINOR|RELEASE) +(\d+)"),
    ("nlohmann-json", "MIT", "nlohmann/detail/abi_macros.hpp",
     r"define NLOHMANN_JSON_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)"),
    ("CLI11", "BSD-3-Clause", "CLI/Version.hpp", r'CLI11_VERSION "(.*)"'),
    ("zlib", "Zlib", "zlib.h", r'ZLIB_VERSION "(.*)"'),
    ("Zstandard", "BSD-3-Clause OR GPL-2.0-only", "zstd.h", r"ZSTD_VERSION_(?:MAJOR|MINOR|RELEASE) +(\d+)"),
]


def package(name, version, license, **more):
    identifier = "SPDXRef-" + re.sub(r"[^\w.-]", "-", f"{name}-{version}").replace("_", "-")
    return {"SPDXID": identifier, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": license, "licenseDeclared": license,
            "copyrightText": "NOASSERTION", **more}


def libraries(cross, target):
    """Yields the libraries in the static command for the target."""
    for name, license, header, pattern in LIBRARIES:
        text = (cross / f"{target}-prefix/include" / header).read_text(encoding="utf-8")
        yield package(name, ".".join(re.findall(pattern, text)[:3]), license)
    zig = re.search(r"^zig_version=(.*)$", pathlib.Path(".ci/cross").read_text(encoding="utf-8"), re.M)[1]
    yield package("musl", f"of zig {zig}", "MIT")
    yield package("libc++", f"of zig {zig}", "Apache-2.0 WITH LLVM-exception")


def main(version, dist, cross):
    packages, relations = {}, []

    def relate(one, kind, other):
        relations.append({"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other})

    for path in sorted(path for path in dist.rglob("*") if path.is_file() and path.name != "sbom.spdx.json"):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        made = package(path.name, version, "Apache-2.0", packageFileName=path.relative_to(dist).as_posix(),
                       checksums=[{"algorithm": "SHA256", "checksumValue": digest}])
        packages[made["SPDXID"]] = made
        relate("SPDXRef-DOCUMENT", "DESCRIBES", made["SPDXID"])
        static = re.fullmatch(r"tamis-.*-linux-(\w+)\.tar\.gz", path.name)
        for library in libraries(cross, f"{static[1]}-linux-musl") if static else ():
            packages[library["SPDXID"]] = library
            relate(made["SPDXID"], "CONTAINS", library["SPDXID"])
    everything = hashlib.sha256(json.dumps(list(packages.values())).encode()).hexdigest()
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    print(json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"tamis-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/tamis-{version}-{everything}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: cmake/sbom.py"]},
        "packages": list(packages.values()), "relationships": relations}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
