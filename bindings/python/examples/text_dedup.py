"""Drops repeated paragraphs of JSON lines, with several processes that share one filter.

Usage: text_dedup.py OUTPUT_FOLDER INPUT.jsonl ...

Each worker is a step of a pipeline such as datatrove: it reads documents, and writes those that are
left to a file of the same name.
"""
import functools
import json
import multiprocessing
import pathlib
import sys

import tamis.text


def clean_file(step, output, path):
    """Writes what is left of the documents in one file. Returns the numbers of documents read and written."""
    read = written = 0
    with open(path, encoding="utf-8") as lines, open(output / path.name, "w", encoding="utf-8") as out:
        for line in lines:
            document = json.loads(line)
            text = step.clean(document)
            read += 1
            if text is not None:
                out.write(json.dumps({**document, "text": text}, ensure_ascii=False) + "\n")
                written += 1
    return read, written


def main(output, paths, workers=4, capacity=1_000_000):
    output = pathlib.Path(output)
    output.mkdir()
    shared = output / "seen"  # in /dev/shm it would take memory only, and no disk
    step = tamis.text.DedupFilter(unit="ngram", ngrams=13, threshold=0.8, remove="paragraph",
                                  capacity=capacity, shared=shared)
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        counts = pool.map(functools.partial(clean_file, step, output), map(pathlib.Path, paths), chunksize=1)
    read, written = map(sum, zip(*counts))
    print(f"{read:,} documents: {written:,} written; {step.inserted_count:,} n-grams; a new n-gram is "
          f"mistaken for a repeated one at a rate of {step.expected_fpr:.1g}")
    shared.unlink()
    return read, written


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
