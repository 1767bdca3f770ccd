"""tamis.h declares at most 60 names in namespace tamis, and prints them.

Usage: public_names.py CLANG INCLUDE [HEADER...]

Status 77: there is no clang. HEADER: other headers than tamis/tamis.h, to see what each of them adds.
"""
import json
import shutil
import subprocess
import sys

MOST = 60
# What is declared again, or belongs to another declaration.
NOT_NAMES = {"NamespaceDecl", "StaticAssertDecl", "CXXDeductionGuideDecl", "FriendDecl", "LinkageSpecDecl",
             "ClassTemplateSpecializationDecl", "ClassTemplatePartialSpecializationDecl"}


def names_of(clang, include, headers):
    """Types, functions, constants and aliases directly in namespace tamis, each name once."""
    source = "".join(f"#include <{header}>\n" for header in headers)
    dump = subprocess.run(
        [clang, "-std=c++20", "-fsyntax-only", "-I", include, "-x", "c++", "-", "-Xclang", "-ast-dump=json",
         "-Xclang", "-ast-dump-filter=tamis"], input=source, check=True, capture_output=True, text=True).stdout
    names, decoder, at = set(), json.JSONDecoder(), 0
    while dump[at:].strip():
        at += len(dump[at:]) - len(dump[at:].lstrip())
        node, at = decoder.raw_decode(dump, at)
        if node.get("kind") == "NamespaceDecl" and node.get("name") == "tamis":
            names |= {inner["name"] for inner in node.get("inner", [])
                      if inner["kind"] not in NOT_NAMES and "name" in inner}
    return names


def main(clang, include, *headers):
    if not shutil.which(clang):
        print(f"there is no {clang}")
        return 77
    names = names_of(clang, include, headers or ["tamis/tamis.h"])
    print("\n".join(sorted(names)))
    print(f"{len(names)} names; allowed: {MOST}")
    return 0 if 0 < len(names) <= MOST else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
