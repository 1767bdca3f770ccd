"""Builds the site: the pages of the repository, the reference of C++, C and Python, and the measured machines.

Usage: build.py OUT      writes OUT/site, with Doxygen

Doxygen reads changed copies of the files, in OUT/site-input:
- In headers, a comment documents the declaration below it. It also documents the next ones, up to a blank line or
  comment, if they have the same name, or if the comment is about several ("Return", "Query"). A comment at the end of
  a line documents the member before it. The first comment documents the file. `---- Title ----` begins a group.
- In pages, headings get the anchors of GitHub, and links lead to the pages of the site.
- Other files to which pages link, and all examples, become examples of Doxygen.
"""
import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = [*(f"{part}/include" for part in ("core", "bank", "formats", "join", "plan", "live", "redis", "parquet", "cuda")),
           "bindings/c/include"]

# A comment of whole lines, a directive with its continuations, a line of code.
TOKEN = re.compile(r"(?P<comment>(?:[ \t]*//[^\n]*\n)+|[ \t]*/\*(?:(?!\*/).)*\*/[ \t]*\n)|"
                   r"(?P<directive>[ \t]*#(?:[^\n]*\\\n)*[^\n]*\n)|(?P<code>[^\n]*\n)", re.DOTALL)
TRAILING = re.compile(r"(?P<code>.*[;,\w)}])\s*(?://|/\*)\s*(?P<text>.*?)(?:\s*\*/)?$")
NO_CODE = re.compile(r"""//.*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])'""")
SCOPE = re.compile(r"\s*(?:template\s*<.*>\s*)?(?:typedef\s+|inline\s+)?"
                   r"(namespace|class|struct|enum|union|extern)\b[^(]*$")
SEVERAL = re.compile(r"(Query|Queries|Insert|Return|Call|Load|Run|Create|Erase|Do|Throw|Require|Override|Add|"
                     r"Estimates|Limits|Bitmaps|The bounds|The range|One key|Many keys|(Like|See) the functions)\b")
ACCESS = re.compile(r"\s*(public|protected|private):")


def escaped(line):
    """Escapes what Doxygen would read as a command, a tag, or the end of the first sentence."""
    parts = re.split(r"(`[^`]*`)", line)
    parts[::2] = (re.sub(r"<(?=[\w/])", "&lt;", re.sub(r"([@\\])", r"\\\1", part)) for part in parts[::2])
    # Doxygen takes `x' for a quotation.
    parts[1::2] = (f"`{part}`" if "'" in part else part for part in parts[1::2])
    return re.sub(r"(\.\.|\bal\.) ", r"\1\\ ", "".join(parts))


def text_of(comment):
    comment = re.sub(r"\s*\*/\s*$", "", comment)
    return [escaped(re.sub(r"^\s*(//|/\*|\*) ?", "", line)) for line in comment.rstrip().split("\n")]


def name_of(text):
    """Returns the name of the function whose declaration begins the text. It is the same for keys and hashes."""
    text = re.sub(r"\btemplate\s*<.*>\n|\brequires\s*\(.*?\)\)?", "", text[:text.find(";")])
    match = re.search(r"(operator\W+|[\w~]+)\s*\(", text)
    return match and re.sub(r"Hash|_(u64|string|hash)$", "", match[1])


class Header:
    """The state while a header is read from top to bottom."""

    def __init__(self):
        self.out = ["/// @file"]
        self.doc = []  # the comment for the next declarations
        self.fresh = False  # whether no declaration has had it
        self.name = ""  # the name of the function that has had it
        self.scopes = ["file"]  # None: the body of a function or an initializer
        self.statement = ""  # the declaration so far
        self.group = 0  # the number of scopes around the open group, or 0
        self.private = 0  # the number of scopes around the private part of a class, or 0
        self.hidden = False  # whether this is a friend or a private class, to which Doxygen would link

    def write(self, *lines):
        self.out += [f"/// {line}" for line in lines if not self.hidden]

    def comment(self, comment, _):
        lines = text_of(comment)
        section = re.fullmatch(r"---- (.*?)(?:\. (.*?))?\.? ----", " ".join(lines))
        if self.scopes[-1] is None or self.statement.strip():
            return
        if len(self.out) == 1:
            self.write(*lines)
        elif section:
            self.end_group()
            self.group = len(self.scopes)
            self.write(f"@name {section[1]}", section[2] or "", "@{")
        else:
            self.doc, self.fresh = lines, True

    def directive(self, line, _):
        if self.fresh and re.match(r"\s*#\s*define", line):
            self.write(*self.doc)
        self.doc = []
        self.out.append(line.rstrip("\n"))

    def code(self, line, rest):
        line = line.rstrip("\n")
        code = NO_CODE.sub("", line)
        access = ACCESS.match(code)
        if access and self.private in (0, len(self.scopes)):
            self.private = len(self.scopes) if access[1] == "private" else 0
        if not line.strip() or access:
            self.doc = []
            self.out.append(line)
            return
        starts = self.scopes[-1] and not self.statement.strip() and not code.lstrip().startswith("}")
        if starts and len(self.scopes) <= self.private:
            self.hidden = bool(re.match(r"\s*friend\b", code) or SCOPE.match(re.sub(r"[{;].*", "", code)))
        if starts and self.doc:
            name = name_of(rest)
            other = SCOPE.match(re.sub(r"[{;].*", "", code)) or re.match(r"\s*(friend|using)\b", code)
            if self.fresh or not other and (SEVERAL.match(self.doc[0]) or name and name == self.name):
                self.write(*self.doc)
            self.name = name
        self.fresh = self.fresh and not starts
        trailing = TRAILING.match(line)
        if self.scopes[-1] and trailing and code != line and re.search(r"\w", trailing["code"]):
            line = f"{trailing['code']}  ///< {escaped(trailing['text'])}"
        for character in code:
            self.advance(character)
        if len(self.scopes) < self.private:
            self.private = 0
            self.hidden = False
        if not self.hidden:
            self.out.append(line)
        self.statement += " "

    def advance(self, character):
        if character == "{":
            scope = self.scopes[-1] and SCOPE.match(self.statement)
            self.scopes.append(scope[1] if scope else None)
            if scope:
                self.doc, self.statement = [], ""
        elif character == "}":
            self.end_group()
            self.scopes.pop()
            if self.scopes[-1] and self.statement.count("(") == self.statement.count(")"):
                self.statement = ""
        elif character == ";" or (character == "," and self.scopes[-1] == "enum"):
            self.statement = "" if self.scopes[-1] else self.statement
        elif self.scopes[-1]:
            self.statement += character

    def end_group(self):
        if self.group == len(self.scopes):
            self.write("@}")
            self.group = 0


def header(text):
    # The public functions of this base class are the functions of Filter.
    text = re.sub(r"\bdetail::FilterBase\b", "Filter", text)
    # Doxygen knows the include guards of files named .h only.
    text = re.sub(r"^#define TAMIS_\w+_CUH_\n", "", text, flags=re.MULTILINE)
    state = Header()
    for token in TOKEN.finditer(text):
        getattr(state, token.lastgroup)(token[0], text[token.start():])
    if state.scopes != ["file"]:
        sys.exit(f"build.py: braces that do not match: {state.scopes}")
    return "\n".join(state.out)


def label(path):
    """Returns the name of a page: docs-filters for docs/filters.md."""
    return re.sub(r"\W", "-", os.path.splitext(path)[0])


def example(path):
    """Returns the page of an example, by Doxygen's rule for names of files."""
    return path.replace("/", "_2").replace(".", "_8") + "-example.html"


def page(text, path, targets):
    """Returns the page for Doxygen. Adds the files to which it links to `targets`."""
    name = label(path)
    text = re.sub(r"\A\[tamis\].*\n\n", "", text)  # the way back, which the site has on every page
    anchors = iter([""])  # of the title

    def heading(match):
        anchor = "-" + re.sub(r"[^\w -]", "", match[2].lower()).replace(" ", "-")
        return f"{match[0]} {{#{name}{next(anchors, anchor)}}}"

    def link(match):
        target, _, anchor = match[2].partition("#")
        if re.match(r"\w+:", match[2]):
            return match[0]
        target = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
        if target == "examples":
            return f"{match[1]}(examples.html)"
        targets.append(target)
        if target.endswith(".svg"):
            return f"{match[1]}({os.path.basename(target)})"
        if target.endswith(".md"):
            file = "index" if target == "README.md" else label(target)
            return f"{match[1]}({file}.html{anchor and f'#{label(target)}-{anchor}'})"
        if target.endswith((".h", ".cuh")):
            return f"{match[1]}(@ref {target.split('/include/')[1]})"
        return f"{match[1]}({example(target)})"

    if text.count("\n## ") > 3:
        text = text.replace("\n", "\n[TOC]\n", 1)
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    for i in range(0, len(parts), 2):
        lines = (re.sub(r"^(#+) (.*)$", heading, line) if line.startswith("#") else escaped(line)
                 for line in parts[i].split("\n"))
        parts[i] = re.sub(r"(!?\[[^\]]*\])\(([^)\s]+)\)", link, "\n".join(lines))
    return "".join(parts)


def python_reference():
    """Returns a page with the signatures of the Python package, from its stubs."""
    lines = ["# Reference of Python {#python-reference}", "[TOC]", "",
             "`help()` shows the text of each class and function. @ref bindings-python-README explains them.", ""]
    for module, stub in {"tamis": "__init__", "tamis.join": "join", "tamis.live": "live", "tamis.redis": "redis"}.items():
        text = (ROOT / f"bindings/python/tamis/{stub}.pyi").read_text(encoding="utf-8")
        nodes = [node for node in ast.parse(text).body if not getattr(node, "name", "_").startswith("_")]
        for name in sorted({node.name for node in nodes}):
            code = (ast.get_source_segment(text, node) for node in nodes if node.name == name)
            anchor = f"{module}-{name}".replace(".", "-")
            lines += [f"## {module}.{name} {{#python-{anchor}}}", "", "```py", *code, "```", ""]
    return "\n".join(lines)


def prepare(out):
    """Writes the input of Doxygen into the folder `out`."""
    waiting = ["README.md", "docs/README.md"]
    for folder in HEADERS:
        waiting += (path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob(f"{folder}/**/*.*h")))
    waiting += (f"examples/{path.name}" for path in sorted(ROOT.glob("examples/*.c*")))
    done = set()
    while waiting:
        path = waiting.pop()
        if path in done or "/detail/" in path or path.endswith(".svg"):
            continue
        done.add(path)
        text = (ROOT / path).read_text(encoding="utf-8")
        copy = out / path
        if path.endswith(".md"):
            text = page(text, path, waiting)
        elif path.endswith((".h", ".cuh")):
            text, copy = header(text), out / path.split("/include/")[1]
        else:
            # Doxygen reads every file in the folder of the examples, so they have a folder of their own.
            example_copy = out.parent / "site-examples" / path
            example_copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, example_copy)
            text, copy = f"/** @example {path} */\n", out / f"{path}.dox"
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")
    (out / "python-reference.md").write_text(python_reference(), encoding="utf-8")


def main():
    out = pathlib.Path(sys.argv[1]).resolve()
    for name in ("site", "site-input", "site-examples", "site-xml"):
        shutil.rmtree(out / name, ignore_errors=True)
    prepare(out / "site-input")
    shutil.copy(ROOT / "docs/site/namespaces.dox", out / "site-input")
    version = re.search(r'TAMIS_VERSION_STRING "(.*)"', (ROOT / "core/include/tamis/version.h").read_text())[1]
    here = ROOT / "docs/site"
    subprocess.run(["doxygen"], cwd=here, check=True, env={**os.environ, "OUT": str(out), "VERSION": version})
    with open(out / "site/search/search.css", "a", encoding="utf-8") as style:
        style.write((here / "search.css").read_text())
    report = [sys.executable, "-B", ROOT / "bench/report", *sorted((ROOT / "bench/results").glob("*.json"))]
    subprocess.run([*report, "-o", out / "site/machines.html"], check=True)


main()
