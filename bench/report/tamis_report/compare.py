"""Speed-ups between two files, and whether they exceed the spread of the measurements."""
import dataclasses
import itertools
import math

from . import load


@dataclasses.dataclass(frozen=True)
class Comparison:
    """How many times as fast `new` is as `old`."""
    old: load.Row
    new: load.Row

    @property
    def speedup(self):
        return self.old.ns / self.new.ns

    @property
    def range(self):
        """From the quartiles of both that are nearest to each other to those farthest apart."""
        (old_low, old_high), (new_low, new_high) = self.old.quartiles, self.new.quartiles
        return old_low / new_high, old_high / new_low

    def verdict(self, tolerance=0.02):
        """"faster" or "slower" if the quartiles do not overlap and the medians differ by more than
        the tolerance, else "same"."""
        low, high = self.range
        if low > 1 and self.speedup > 1 + tolerance:
            return "faster"
        if high < 1 and self.speedup < 1 / (1 + tolerance):
            return "slower"
        return "same"


def _role(row):
    """A key under which the default backends of two machines meet, whatever their names."""
    backend = "default backend" if row.default_backend else row.key.backend
    return dataclasses.replace(row.key, backend=backend)


def by_role(old, new):
    """Comparisons of what the files have in common, the default backends with each other."""
    old_rows = {_role(row): row for row in old.rows.values()}
    pairs = [(old_rows.get(_role(row)), row) for row in new.rows.values()]
    return [Comparison(old_row, row) for old_row, row in pairs if old_row]


def by_backend(old, new):
    """Comparisons of rows whose backends have the same name."""
    return [Comparison(old.rows[key], row) for key, row in new.rows.items() if key in old.rows]


def require_common(old, new, comparisons):
    if not comparisons:
        raise load.BadInput(f"{new.label} and {old.label} have no measurement in common: sizes "
                            f"{', '.join(new.sizes)} and {', '.join(old.sizes)}")


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(math.log(value) for value in values) / len(values))


def sort_key(key):
    def place(order, value):
        return order.index(value) if value in order else len(order)
    return (place(load.OPERATION_ORDER, key.operation), place(load.SIZE_ORDER, key.size_class))


def sentence(old, new, comparisons):
    """What a comparison comes to, in words."""
    verdicts = [comparison.verdict() for comparison in comparisons]
    backends = (old.context["default_backend"], new.context["default_backend"])
    text = f"{new.label} against {old.label}"
    if backends[0] != backends[1]:
        text += f" (backend {backends[1]} against {backends[0]})"
    near = sum(0.95 <= c.speedup <= 1.05 for c in comparisons) / len(comparisons)
    text += (f": {len(verdicts)} measurements in common, {verdicts.count('faster')} faster, "
             f"{verdicts.count('slower')} slower, {verdicts.count('same')} the same within their "
             f"spread; {near:.0%} are within 5% of each other; "
             f"{geometric_mean(c.speedup for c in comparisons):.2f} times as fast on average.")
    # Peers and the other backends are the same code in both files: what differs is the default.
    ours = [c for c in comparisons if c.new.default_backend and c.new.data["library"] == "tamis"]
    groups = {}
    for comparison in ours:
        key = comparison.new.key
        groups.setdefault((key.operation, key.size_class), []).append(comparison.speedup)
    if groups:
        means = {group: geometric_mean(speedups) for group, speedups in groups.items()}
        least, most = min(means, key=means.get), max(means, key=means.get)
        text += (f" Of the default backends, the least is {means[least]:.2f} ({least[0]}, "
                 f"{least[1]}), the most {means[most]:.2f} ({most[0]}, {most[1]}).")
    return text


def regressions(bases, news, tolerance):
    """Rows that are slower in every new file than in every base, beyond the spread of both and the
    tolerance: in each the comparison that is nearest to none. And the number of rows in common.

    What the machine does for minutes at a time is not in the spread of one run; runs of the old and
    the new version in turn have it on both sides.
    """
    slower = None
    total = 0
    for base, new in itertools.product(bases, news):
        comparisons = by_backend(base, new)
        require_common(base, new, comparisons)
        total = max(total, len(comparisons))
        found = {c.new.key: c for c in comparisons if c.verdict(tolerance) == "slower"}
        if slower is None:
            slower = found
        else:
            slower = {key: max(slower[key], c, key=lambda one: one.speedup)
                      for key, c in found.items() if key in slower}
    return sorted(slower.values(), key=lambda c: c.speedup), total
