"""Compares decisions of tamis dedup with those of exact sets, and prints recall and precision.

tamis dedup --unit UNIT --remove annotate --jsonl --field text corpus.jsonl | text_exact.py UNIT

UNIT is document, paragraph or ngram, with 13 words and the threshold 0.8. The corpus is that of text_corpus.py: for its
scripts, the regular expression below finds the words that tamis finds. The set of n-grams has hashes of 64 bits.
"""
import json
import math
import re
import sys

WORDS = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+").findall
NGRAM, THRESHOLD = 13, 0.8


def ngrams(paragraph):
    """Returns the n-grams of a paragraph, or all its words if they are fewer."""
    words = WORDS(paragraph)
    if len(words) < NGRAM:
        return [hash(tuple(words))] if words else []
    return list(map(hash, zip(*(words[i:] for i in range(NGRAM)))))


def units(unit, text):
    """Yields the first byte of each unit, and its keys."""
    if unit == "document":
        yield 0, [text]
        return
    begin = 0
    for paragraph in text.split("\n"):
        keys = ngrams(paragraph) if unit == "ngram" else [stripped] if (stripped := paragraph.strip(" \t\r")) else []
        if keys:
            yield begin, keys
        begin += len(paragraph.encode()) + 1


def main(unit):
    seen = set()
    counts = {(exact, found): 0 for exact in (True, False) for found in (True, False)}
    for line in sys.stdin.buffer:
        record = json.loads(line)
        found = {begin for begin, _, _ in record.get("tamis_repeated", ())}
        for begin, keys in units(unit, record["text"]):
            repeated = sum(map(seen.__contains__, keys)) >= math.ceil(THRESHOLD * len(keys) - 1e-9)
            if not repeated:
                seen.update(keys)
            counts[repeated, begin in found] += 1
    both, missed, lost = counts[True, True], counts[True, False], counts[False, True]
    new = lost + counts[False, False]
    print(f"{unit}: {both + missed + new:,} units, {both + missed:,} repeated, {len(seen):,} keys; found {both:,} of "
          f"them and {lost:,} others; recall {both / (both + missed):.7f}, precision {both / (both + lost):.7f}, "
          f"share of the new units {lost / new:.2g}")


if __name__ == "__main__":
    main(*sys.argv[1:])
