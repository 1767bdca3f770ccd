"""Results of machines that do not exist, for tests of the page. No number in them was measured."""
from report_fixture import limit, results, row

KIB, MIB = 1 << 10, 1 << 20
# Name: (library, bits per key, false-positive rate, time relative to the first kind).
KINDS = {"split_block": ("tamis", 12, 0.0054, 1), "cuckoo8": ("tamis", 8.3, 0.03, 1.3),
         "cuckoo12": ("tamis", 12.4, 0.002, 1.35), "cuckoo16": ("tamis", 16.6, 0.00012, 1.4),
         "bloom": ("tamis", 12, 0.0032, 2.4), "boost_multiblock": ("Boost 1.90", 12, 0.0053, 1.7)}
OPERATIONS = {"contains": 1, "select": 1.1, "one_key": 2.5, "build": 1.5}


def machine(name, speed=1.0, processors=2, backends=("AVX2", "SSE4"), llc=16 * MIB, mode="quick",
            kinds=KINDS, gpu=False, **context):
    """Returns a file as tamis-bench would write it. `speed` is relative to the default machine."""
    sizes = {"L1": 24 * KIB, "L2": MIB, "LLC": llc}
    rows, limits = [], []

    def add(kind, operation, size, ns, backend=backends[0], threads=1, hits=50, keys="u64", **more):
        library, bits, fpr, times = kinds[kind]
        own = library != "tamis"
        lookup = operation in ("contains", "select", "one_key")
        rows.append(row(
            operation, "own" if own else backend, size, ns * times / speed, kind=kind,
            library=library, default_backend=own or backend == backends[0], threads=threads,
            hit_percent=hits if lookup else None, keys=keys, filter_bytes=sizes[size],
            num_keys=int(8 * sizes[size] / bits), bits_per_key=bits, fpr=fpr, expected_fpr=fpr,
            name=f"{kind}/{operation}/{backend}/{threads}/{size}/{hits}/{keys}/{len(rows)}",
            **more))

    first = next(iter(kinds))
    for size, ns in (("L1", 1.2), ("L2", 1.6), ("LLC", 4.0)):
        for threads in (1, processors):
            limits.append(limit(2e9 * speed / ns * threads, size=size, threads=threads))
        for kind in kinds:
            for operation, times in OPERATIONS.items():
                if size != "L1" or kind == first:
                    add(kind, operation, size, ns * times)
        for backend in backends[1:]:
            add(first, "contains", size, 1.8 * ns, backend=backend)
        add(first, "contains", size, ns / processors, threads=processors)
        for hits in (0, 100):
            add(first, "contains", size, ns, hits=hits)
    add(first, "contains", "L2", 6, keys="url")
    for call_keys, ns in ((1, 9.0), (64, 2.0)):
        add(first, "contains", "L2", ns, call_keys=call_keys)
    if gpu:
        sizes["GPU_1024MiB"] = 1024 * MIB
        limits.append(limit(8e10, "random_sectors", "GPU_1024MiB", unit="sectors"))
        add(first, "contains", "GPU_1024MiB", 0.02 * speed, backend="CUDA:device")
    data = results(rows, backends[0], sizes, limits, processor=f"fixture: {name}",
                   processors=processors, backends=list(backends), commit="0123456789ab",
                   notes="a machine that does not exist", **context)
    return {**data, "mode": mode}
