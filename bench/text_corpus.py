"""Writes a corpus of JSON lines with repeated paragraphs: text_corpus.py BYTES [SEED] > corpus.jsonl

30% of the paragraphs repeat an earlier paragraph, half of them with one word changed. The words are random letters of
Latin, Cyrillic, Arabic and Chinese script, with the frequencies of Zipf's law. Equal arguments give equal bytes.
"""
import itertools
import json
import random
import sys

SCRIPTS = {
    "en": ("abcdefghijklmnopqrstuvwxyz", (2, 9), " "),
    "ru": ("".join(map(chr, range(0x430, 0x450))), (2, 9), " "),
    "ar": ("".join(map(chr, range(0x627, 0x64B))), (2, 7), " "),
    "zh": ("".join(map(chr, range(0x4E00, 0x5A00))), (1, 2), ""),
}
SHARES = [0.7, 0.1, 0.1, 0.1]
WORDS = 50_000
KEPT = 20_000  # paragraphs that may be repeated


def main(wanted, seed=47):
    rng = random.Random(seed)
    weights = list(itertools.accumulate(1 / rank for rank in range(1, WORDS + 1)))
    words = {name: ["".join(rng.choices(letters, k=rng.randint(*sizes))) for _ in range(WORDS)]
             for name, (letters, sizes, _) in SCRIPTS.items()}
    kept, written, number = {name: [] for name in SCRIPTS}, 0, 0
    while written < wanted:
        name = rng.choices(list(SCRIPTS), SHARES)[0]
        paragraphs = []
        for _ in range(rng.randint(1, 12)):
            repeats = kept[name] and rng.random() < 0.3
            chosen = list(rng.choice(kept[name])) if repeats else rng.choices(
                words[name], cum_weights=weights, k=rng.randint(5, 120))
            if repeats and rng.random() < 0.5:
                chosen[rng.randrange(len(chosen))] = rng.choice(words[name])
            if not repeats:
                if len(kept[name]) < KEPT:
                    kept[name].append(chosen)
                else:
                    kept[name][rng.randrange(KEPT)] = chosen
            paragraphs.append(SCRIPTS[name][2].join(chosen) + ".")
        record = {"id": number, "lang": name, "meta": {"url": f"https://example.org/{name}/{number}"},
                  "text": "\n".join(paragraphs)}
        line = json.dumps(record, ensure_ascii=False) + "\n"
        sys.stdout.write(line)
        written += len(line.encode())
        number += 1


main(*map(int, sys.argv[1:]))
