"""Functions of the processes that test_text.py starts. They import little, so that a spawned process starts soon."""
import os

from tamis.text import DedupFilter


def work(step, texts, barrier, queue):
    """Puts what a worker keeps into the queue. All workers begin at the same time."""
    barrier.wait(60)
    queue.put([text for text in map(step.clean, texts) if text is not None])


def open_shared(path, barrier, queue):
    barrier.wait(60)
    step = DedupFilter(unit="paragraph", capacity=1000, shared=path)
    queue.put([step.filter(f"{os.getpid()} {i}") for i in range(20)])
