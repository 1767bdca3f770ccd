"""Plain English in comments, docstrings, pages, and texts for users: the part that a program can check.

Finds old words, openings that hide the subject of a sentence, and sentences that nobody reads in one pass.
"""
import re

WORDS = re.compile(r"\b(anew|amid|amiss|beforehand|seldom|for ever|lest|mend(?:s|ed|ing)?|thereof|withal|whoever|"
                   r"once more|in place of|all the same|is (?-i:none))\b", re.IGNORECASE)
OPENING = re.compile(r"(Of(?! course)|Else|Who(?!.*\?$)|What(?!.*\?$)|That of|Those of)\b")
MOST_WORDS = 40  # without numbers
WORD = re.compile(r"\S*[A-Za-z]{2}\S*")
# A table, a session of Python, or a list of commands is not a sentence.
TABLE = re.compile(r"\S {2,}\S|>>> |^\s*(?:Usage|usage|examples):", re.MULTILINE)
# Files that have these words as data.
ALLOWED = {f"tests/rules/{name}.py" for name in ("commits", "prose", "rules_selftest")}

STRING = r'"(?P<string>(?:\\.|[^"\\\n])*)"'
CODE = re.compile(r'(?P<line>//[^\n]*)|/\*(?P<block>.*?)\*/|R"(?P<end>[^(\s]*)\((?P<raw>.*?)\)(?P=end)"|'
                  + STRING + r"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
PYTHON = re.compile(r'(?:^|(?<=\n))[ \t]*"""(?P<block>.*?)"""|"""(?P<raw>.*?)"""|(?P<line>#[^\n]*)|' + STRING, re.DOTALL)
MARKER = re.compile(r"^[ \t]*(?://+|\*|#+)[ \t]?", re.MULTILINE)
FENCED = re.compile(r"^[ \t]*```.*?^[ \t]*```", re.MULTILINE | re.DOTALL)
# What ends a paragraph: an empty line, an item of a list, a row or cell of a table, a heading.
BREAK = re.compile(r"\n[ \t]*(?:\n|(?=[-*] |\d+\. |\||#))|\|")


def split(begin, text, is_string=False):
    for match in re.finditer(rf"(.*?)(?:{BREAK.pattern}|\Z)", text, re.DOTALL):
        if match[1].strip():
            yield begin + match.start(), match[1], is_string


def paragraphs(name, text):
    """(position, text, whether it is a string literal) of comments, docstrings, strings and pages."""
    if name.endswith(".md"):
        yield from split(0, FENCED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text))
        return
    lines, begin, end = "", 0, 0  # of a comment of several lines
    for match in (PYTHON if name.endswith((".py", ".pyi")) else CODE).finditer(text):
        if match["line"] is not None:
            if not re.fullmatch(r"\n[ \t]*", text[end:match.start()]):
                yield from split(begin, MARKER.sub("", lines))
                lines, begin = "", match.start()
            lines += "\n" + match[0]
            end = match.end()
        elif match["block"] is not None:
            yield from split(match.start(), MARKER.sub("", match["block"]))
        elif match["string"] is not None:
            yield match.start(), match["string"], True
        elif match.groupdict().get("raw") is not None:
            yield from split(match.start(), match["raw"], True)
    yield from split(begin, MARKER.sub("", lines))


def problems(text, is_string):
    is_table = TABLE.search(text)
    text = re.sub(r"`[^`]*`", "X", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for sentence in re.split(r"(?<=[.!?:])\s+", " ".join(text.split())):
        if match := WORDS.search(sentence):
            yield f'"{match[0]}" in "{sentence[:80]}"'
        if is_string or len(sentence.split()) < 4:
            continue
        if match := OPENING.match(sentence.lstrip("-* ")):
            yield f'"{match[0]}" begins "{sentence[:80]}"'
        count = len(WORD.findall(sentence))
        if count > MOST_WORDS and not is_table:
            yield f'{count} words in "{sentence[:80]}"'


def check(name, text):
    """(position, problem) of each problem of a file."""
    if name not in ALLOWED:
        for position, paragraph, is_string in paragraphs(name, text):
            for problem in problems(paragraph, is_string):
                yield position, problem
