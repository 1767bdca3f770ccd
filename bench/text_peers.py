"""Times steps of plain Python that drop repeated texts: text_peers.py PEER UNIT corpus.jsonl KEYS

PEER is `parse`, which reads the lines only, `set`, `rbloom`, `abloom`, or `tamis` for tamis.text.DedupFilter. UNIT is
document, paragraph or ngram, by the rules of text_exact.py. KEYS is the capacity of the filter. The rates are the
defaults of tamis: 1e-6, and 1e-3 for n-grams. Paragraphs are left out of texts, and the rest is counted.
"""
import json
import math
import os
import sys
import time

from text_exact import THRESHOLD, units


def filter_of(peer, keys, fpr):
    if peer == "set":
        return set()
    if peer == "rbloom":
        from rbloom import Bloom
        return Bloom(keys, fpr)
    from abloom import BloomFilter
    return BloomFilter(keys, fpr)


def step(peer, unit, keys):
    """Returns a function of a text that returns what is left of it, or None."""
    if peer == "parse":
        return lambda text: text
    if peer == "tamis":
        from tamis.text import DedupFilter
        return DedupFilter(unit=unit, capacity=keys, remove="document" if unit == "document" else "paragraph").clean
    seen = filter_of(peer, keys, 1e-3 if unit == "ngram" else 1e-6)
    contains, add, update = seen.__contains__, seen.add, seen.update

    def document(text):
        if text in seen:
            return None
        add(text)
        return text

    def parts(text):
        repeated = set()
        for begin, keys in units(unit, text):
            if sum(map(contains, keys)) >= math.ceil(THRESHOLD * len(keys) - 1e-9):
                repeated.add(begin)
            else:
                update(keys)
        if not repeated:
            return text
        left, begin = [], 0
        for paragraph in text.split("\n"):
            if begin not in repeated:
                left.append(paragraph)
            begin += len(paragraph.encode()) + 1
        return "\n".join(left) if left else None

    return document if unit == "document" else parts


def main(peer, unit, path, keys):
    clean, left, begin = step(peer, unit, int(keys)), 0, time.perf_counter()
    with open(path, "rb") as lines:
        for line in lines:
            left += len(clean(json.loads(line)["text"]) or "")
    seconds, size = time.perf_counter() - begin, os.path.getsize(path)
    print(f"{peer} {unit}: {seconds:.2f} s, {size / seconds / 1e6:.1f} MB/s, {left:,} characters left")


main(*sys.argv[1:])
