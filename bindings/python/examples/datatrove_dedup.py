"""Drops repeated paragraphs in a pipeline of datatrove, with several processes that share one filter.

Usage: datatrove_dedup.py INPUT_FOLDER OUTPUT_FOLDER, with folders of JSON lines.
"""
import os
import sys

import tamis.text
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.filters.base_filter import BaseFilter
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter


class Dedup(BaseFilter):
    """Keeps what a tamis.text.DedupFilter keeps. datatrove pickles it for its workers."""
    name = "tamis"

    def __init__(self, step, exclusion_writer=None):
        super().__init__(exclusion_writer)
        self.step = step

    def filter(self, doc):
        text = self.step.clean(doc)
        if text is None:
            return False, "repeated"
        doc.text = text
        return True


def main(source, output, tasks=4, workers=4, capacity=1_000_000, start_method="forkserver"):
    os.makedirs(output)
    shared = os.path.join(output, "seen")
    step = tamis.text.DedupFilter(unit="paragraph", remove="paragraph", capacity=capacity, shared=shared)
    LocalPipelineExecutor(
        [JsonlReader(source), Dedup(step), JsonlWriter(output, compression=None)], tasks=tasks, workers=workers,
        logging_dir=os.path.join(output, "logs"), start_method=start_method).run()
    os.remove(shared)
    return step.inserted_count


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
