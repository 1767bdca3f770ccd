"""Computes speed-ups between two files, and whether they exceed the spread of the measurements."""
import dataclasses
import itertools
import math

from . import load, words

# Sizes that differ by less count as the same. The size "memory" may depend on the physical memory,
# which the system rounds.
SAME_SIZE = 0.01
# Explains the figures beside a speed-up.
LEGEND = ("Then the share of the limit, divided by that of the other machine. If it is near 1, the "
          "limit (the memory) makes the difference. If it is far from 1, the code, or how the "
          "processor runs it, makes the difference. Filters of other sizes are compared only by "
          "this share.")


@dataclasses.dataclass(frozen=True)
class Ratio:
    """`over` divided by `under`, which are statistics of the files."""
    over: dict
    under: dict

    @property
    def middle(self):
        return self.over["median"] / self.under["median"]

    @property
    def range(self):
        """The smallest and the largest ratio of a quartile of `over` to a quartile of `under`."""
        return self.over["q1"] / self.under["q3"], self.over["q3"] / self.under["q1"]

    def verdict(self, tolerance=0.02):
        """Returns "faster" or "slower" if the quartiles do not overlap and the medians differ by
        more than the tolerance, otherwise "same"."""
        low, high = self.range
        if low > 1 and self.middle > 1 + tolerance:
            return "faster"
        if high < 1 and self.middle < 1 / (1 + tolerance):
            return "slower"
        return "same"


def same_size(a, b):
    return max(a, b) <= (1 + SAME_SIZE) * min(a, b)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """How many times as fast `new` is as `old`: in time, and as a share of the machine's limit."""
    old: load.Row
    new: load.Row

    @property
    def same_size(self):
        """Whether the filters have the same size. If not, the times cannot be compared."""
        return same_size(self.old.bytes, self.new.bytes)

    @property
    def sizes(self):
        """The sizes of both filters, in words."""
        return f"{words.bytes_text(self.new.bytes)} against {words.bytes_text(self.old.bytes)}"

    @property
    def classes(self):
        """The size classes of both rows: (old, new)."""
        return self.old.key.size_class, self.new.key.size_class

    @property
    def speed(self):
        return Ratio(self.old.data["ns_per_key"], self.new.data["ns_per_key"])

    @property
    def at_one_clock(self):
        """The speed in cycles of the processor's clock, whose rate may change. The speed in time if
        a file has no cycles."""
        old, new = self.old.cycles, self.new.cycles
        return Ratio(old, new) if old and new else self.speed

    @property
    def share(self):
        """The ratio of the shares of the limit. If the ratio is about 1, the machine makes the
        difference. None unless both rows have a limit."""
        old, new = self.old.data["share_of_limit"], self.new.data["share_of_limit"]
        return Ratio(new, old) if old and new else None

    @property
    def speedup(self):
        return self.speed.middle


def _point(row):
    """Returns the key that matches rows of two machines, without the size. Default backends match
    whatever their names."""
    backend = "default backend" if row.default_backend else row.key.backend
    return dataclasses.replace(row.key, backend=backend, size_class="")


def by_role(old, new):
    """Returns comparisons of the rows that the files have in common. A row is compared with the row
    of its size class if that has the same size. If not, it is compared with all rows of the same
    size, and also with the row of its size class, which is then not `same_size`."""
    old_rows = {}
    for row in old.rows.values():
        old_rows.setdefault(_point(row), {})[row.key.size_class] = row
    found = []
    for row in new.rows.values():
        others = old_rows.get(_point(row), {})
        partner = others.get(row.key.size_class)
        if partner and same_size(partner.bytes, row.bytes):
            found.append(Comparison(partner, row))
            continue
        found += [Comparison(other, row) for other in others.values()
                  if other is partner or same_size(other.bytes, row.bytes)]
    return found


def by_backend(old, new):
    """Returns (comparisons of rows with the same name and size, the number of pairs with the same
    name and other sizes)."""
    pairs = [Comparison(old.rows[key], row) for key, row in new.rows.items() if key in old.rows]
    alike = [c for c in pairs if c.same_size]
    return alike, len(pairs) - len(alike)


def require_common(old, new, comparisons):
    if not comparisons:
        def text(one):
            return ", ".join(f"{name} {words.bytes_text(size)}" for name, size in one.sizes.items())
        raise load.BadInput(f"{new.label} and {old.label} have no measurement in common: sizes "
                            f"{text(new)} and {text(old)}")


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(math.log(value) for value in values) / len(values))


def sort_key(key):
    def place(order, value):
        return order.index(value) if value in order else len(order)
    return (place(load.OPERATION_ORDER, key.operation), place(load.SIZE_ORDER, key.size_class))


def _counts(ratios):
    verdicts = [ratio.verdict() for ratio in ratios]
    return (f"{verdicts.count('faster')} faster, {verdicts.count('slower')} slower, "
            f"{verdicts.count('same')} the same within their spread")


def _times(comparisons):
    if not comparisons:
        return ["no measurement of the same size in common."]
    def near(ratios):
        return sum(0.95 <= ratio.middle <= 1.05 for ratio in ratios) / len(comparisons)
    clocks = ""
    if all(c.old.cycles and c.new.cycles for c in comparisons):
        clocks = f" ({near(c.at_one_clock for c in comparisons):.0%} in cycles)"
    said = [f"{len(comparisons)} measurements in common, {_counts(c.speed for c in comparisons)}; "
            f"{near(c.speed for c in comparisons):.0%} are within 5% of each other{clocks}; "
            f"{geometric_mean(c.speedup for c in comparisons):.2f} times as fast on average."]
    shares = [c.share for c in comparisons if c.share]
    if shares:
        mean = geometric_mean(share.middle for share in shares)
        said.append("By the share of each machine's own limit (share of the limit): "
                    f"{_counts(shares)}; {mean:.2f} times on average.")
    return said


def _other_sizes(comparisons):
    if not comparisons:
        return []
    said = (f"{len(comparisons)} more pairs have filters of other sizes, and are compared by share "
            "of the limit alone")
    shares = [c.share for c in comparisons if c.share]
    if shares:
        mean = geometric_mean(share.middle for share in shares)
        said += f": {mean:.2f} times on average"
    return [said + "; tamis-bench --keys measures the same sizes on every machine."]


def sentence(old, new, comparisons):
    """Returns a summary of a comparison, in words."""
    backends = (old.context["default_backend"], new.context["default_backend"])
    text = f"{new.label} against {old.label}"
    if backends[0] != backends[1]:
        text += f" (backend {backends[1]} against {backends[0]})"
    alike = [c for c in comparisons if c.same_size]
    said = _times(alike) + _other_sizes([c for c in comparisons if not c.same_size])
    # Peers and other backends are the same code in both files. Only the default backend differs.
    groups = {}
    for comparison in alike:
        row = comparison.new
        if row.default_backend and row.data["library"] == "tamis":
            group = row.key.operation, row.key.size_class
            groups.setdefault(group, []).append(comparison.speedup)
    if groups:
        means = {group: geometric_mean(speedups) for group, speedups in groups.items()}
        least, most = min(means, key=means.get), max(means, key=means.get)
        said.append(f"Of the default backends, the least is {means[least]:.2f} ({least[0]}, "
                    f"{least[1]}), the most {means[most]:.2f} ({most[0]}, {most[1]}).")
    return f"{text}: {' '.join(said)}"


def limit_changes(old, new):
    """Returns the limits that differ by more than their spread, as (limit, Ratio), largest
    difference first. Also returns the number of limits that both files have at the same size. If
    the files name different processors, returns ([], 0).

    Hashing is left out, because this limit depends on the code of the library."""
    if old.context["processor"] != new.context["processor"]:
        return [], 0
    before = {load.limit_key(limit): limit for limit in old.data["limits"]}
    pairs = [(limit, Ratio(limit["per_second"], before[load.limit_key(limit)]["per_second"]))
             for limit in new.data["limits"]
             if limit["name"] != "hash" and load.limit_key(limit) in before and
             same_size(new.sizes[limit["size_class"]], old.sizes[limit["size_class"]])]
    changed = [(limit, ratio) for limit, ratio in pairs if ratio.verdict() != "same"]
    return sorted(changed, key=lambda pair: -abs(math.log(pair[1].middle))), len(pairs)


def program_warning(old, new):
    """Returns a warning that the programs were built differently, or None."""
    said = [f"{name} {new.context[name]} against {old.context[name]}"
            for name in ("compiler", "flags") if new.context[name] != old.context[name]]
    if not said:
        return None
    return (f"{new.label} and {old.label} are of programs that were built differently: "
            f"{', '.join(said)}. That alone makes rows faster or slower.")


def machine_warning(old, new, most=4):
    """Returns a warning that the machine was in different states for the two files, or None."""
    changed, total = limit_changes(old, new)
    if not changed:
        return None
    shown = [f"{words.limit_text(limit)} in {limit['size_class']} {ratio.middle:.2f} times"
             for limit, ratio in changed[:most]]
    if len(changed) > most:
        shown.append(f"and {len(changed) - most} more")
    return (f"{new.label} and {old.label} name the same processor ({new.context['processor']}), "
            f"but {len(changed)} of {total} limits of the machine differ beyond their spread: "
            f"{'; '.join(shown)}. So the machine was in another state (neighbours, clock, memory), "
            "and that alone makes rows faster or slower: compare shares of the limit, or run both "
            "in turn.")


def busy_warning(old, new):
    """Returns a warning that other programs ran during a measurement, or None if no file reports
    that."""
    said = [f"during {one.label} other programs used {one.context['other_processors']:.1f} of "
            f"{one.context['processors']} processors"
            for one in (old, new) if one.context.get("busy")]
    if not said:
        return None
    text = " and ".join(said)
    return f"{text[0].upper()}{text[1:]}. That alone makes rows slower: measure again without them."


def warnings(old, new):
    """Returns warnings that make a comparison of two files doubtful."""
    return [said for warning in (program_warning, machine_warning, busy_warning)
            if (said := warning(old, new))]


def all_warnings(results):
    """Returns the warnings of all comparisons: each file with the first."""
    return [said for other in results[1:] for said in warnings(results[0], other)]


def regressions(bases, news, tolerance):
    """Returns the rows that are slower in every new file than in every base, at the same clock, by
    more than the spread of both and the tolerance. For each row, this is the comparison with the
    smallest difference. Also returns the number of rows in common, and the number of rows that were
    not compared because their filters have other sizes.

    The spread of one run does not show changes of the machine that last for minutes. Runs of the
    old and the new version in turn have these changes on both sides.
    """
    slower = None
    total = left_out = 0
    for base, new in itertools.product(bases, news):
        comparisons, other_sizes = by_backend(base, new)
        require_common(base, new, comparisons)
        total, left_out = max(total, len(comparisons)), max(left_out, other_sizes)
        found = {c.new.key: c for c in comparisons
                 if c.at_one_clock.verdict(tolerance) == "slower"}
        if slower is None:
            slower = found
        else:
            slower = {key: max(slower[key], c, key=lambda one: one.at_one_clock.middle)
                      for key, c in found.items() if key in slower}
    return sorted(slower.values(), key=lambda c: c.at_one_clock.middle), total, left_out
