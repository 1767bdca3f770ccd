"""Chooses the colour, mark and line of a filter. They are the same in every plot."""

# The colours of Okabe and Ito, which readers with any colour vision can distinguish, without black
# and yellow. The others are visible on a light and on a dark page.
COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]
MARKERS = "osD^vPX*"
LINES = ["-", (0, (6, 1.5)), (0, (3, 1, 1, 1)), (0, (2, 1)), (0, (6, 1, 1, 1, 1, 1)), (0, (9, 4))]
# Other libraries have other colours, open marks and dotted lines.
PEER_COLORS = ["#8c564b", "#9467bd", "#8a8a00", "#6b7a8c"]
PEER_MARKERS = "<>xdp1+2"
PEER_LINES = [":", (0, (1, 3)), (0, (1, 1, 1, 4))]


def _look(i, colors, markers, lines, filled):
    # Marks and lines alone distinguish len(markers) * len(lines) filters, without colours.
    return {"color": colors[i % len(colors)], "marker": markers[i % len(markers)],
            "linestyle": lines[i // len(markers) % len(lines)],
            **({} if filled else {"markerfacecolor": "none"})}


def ours(i):
    return _look(i, COLORS, MARKERS, LINES, True)


def peer(i):
    return _look(i, PEER_COLORS, PEER_MARKERS, PEER_LINES, False)


def of_kinds(results):
    """Returns {kind: look} for all kinds in the files, of tamis and of other libraries."""
    libraries = {}
    for one in results:
        for part in (one.data["rows"], one.data["accuracy"]):
            for entry in part:
                libraries.setdefault(entry["kind"], entry["library"])
    tamis = [kind for kind, library in libraries.items() if library == "tamis"]
    peers = [kind for kind in libraries if kind not in tamis]
    return {**{kind: ours(i) for i, kind in enumerate(tamis)},
            **{kind: peer(i) for i, kind in enumerate(peers)}}
