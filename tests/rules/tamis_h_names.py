"""Checks that tamis.h declares few names in namespace tamis. Prints them, and fails if there are more than LIMIT.

Usage: tamis_h_names.py ROOT

Counts each name that is declared directly in namespace tamis once, however often it is declared or overloaded:
types, also those that are only declared, aliases, templates, functions, variables, and enumerators of enums without
`class`. Does not count namespaces, names inside them, members of classes, friends that are declared nowhere else,
or macros. Reads the syntax tree of clang++. Exits with 77 if clang++ is missing.
"""
import json
import pathlib
import shutil
import subprocess
import sys

LIMIT = 60
NO_NAMES = {"NamespaceDecl", "UsingDirectiveDecl", "LinkageSpecDecl", "StaticAssertDecl", "EmptyDecl"}


def trees(include_folder, compiler):
    """Yields the namespaces tamis of a file that includes tamis.h, as clang prints them: a series of JSON objects."""
    command = [compiler, "-std=c++20", "-fsyntax-only", "-I", str(include_folder), "-Xclang", "-ast-dump=json",
               "-Xclang", "-ast-dump-filter=tamis", "-x", "c++", "-"]
    done = subprocess.run(command, input="#include <tamis/tamis.h>\n", stdout=subprocess.PIPE, text=True, check=True)
    decoder, text, at = json.JSONDecoder(), done.stdout, 0
    while at < len(text):
        tree, at = decoder.raw_decode(text, at)
        if tree["kind"] == "NamespaceDecl" and tree["name"] == "tamis":
            yield tree
        while at < len(text) and text[at].isspace():
            at += 1


def names(declarations):
    for declaration in declarations:
        kind = declaration["kind"]
        if kind == "NamespaceDecl" and declaration.get("isInline"):
            yield from names(declaration.get("inner", ()))
        elif kind not in NO_NAMES and "parentDeclContextId" not in declaration:  # not a member defined outside
            if "name" in declaration:
                yield declaration["name"]
            if kind == "EnumDecl" and "scopedEnumTag" not in declaration:
                yield from names(declaration.get("inner", ()))


def main():
    compiler = shutil.which("clang++")
    if compiler is None:
        print("skipped: there is no clang++")
        return 77
    include_folder = pathlib.Path(sys.argv[1]) / "core/include"
    found = sorted({name for tree in trees(include_folder, compiler) for name in names(tree.get("inner", ()))})
    print(*found, sep="\n")
    print(f"{len(found)} names, at most {LIMIT} are allowed")
    return 0 if 0 < len(found) <= LIMIT else 1


sys.exit(main())
