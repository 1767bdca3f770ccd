"""Makes the first part of a page: bars over machines and filters, with controls. The scripts in
script/ draw it from the text of rows_csv."""
import html
import json
import pkgutil

from . import looks, rows_csv

# The scripts share one scope, in this order.
SCRIPTS = ["data", "axes", "elements", "looks", "bars", "scatter", "shares", "state", "theme",
           "overview", "tables"]

MARKUP = """<section id="overview" data-looks="{looks}" data-machines="{machines}">
<noscript><p class="warning">The overview needs a script. The rest of the page does not.</p>
</noscript>
<details id="controls" open><summary>What to compare</summary>
<div id="sets"></div><div id="axes"></div></details>
<p id="followed" role="status"></p>
<h2>Speed</h2>
<p id="point" class="verdict" aria-live="polite"></p><p><small id="better"></small></p>
<div id="notes"></div><div id="bars"></div>
<h2>Time against false positives</h2>
<p>Every filter with about the same number of bits per key, at the same point. Nearer to the lower
left is better: faster, and fewer false positives. Hollow marks are other libraries.</p>
<div id="scatter-bits"></div><div id="scatter"></div>
<h2>Share of each machine's own limit</h2>
<p><small>Keys per second, divided by the machine's random memory reads per second in the same run,
at each size of the filter. The line is the limit. Small shares in L1 are normal: there the
arithmetic takes the time.</small></p>
<div id="shares"></div>
<p><a id="download" download="tamis-bench.csv">All measurements as CSV</a></p>
<pre id="csv" hidden>{csv}</pre>
</section>"""


def _json(value):
    return html.escape(json.dumps(value))


def _facts(one):
    context = one.context
    parts = [context["processor"], f"{context['processors']} processors", one.data["mode"],
             context.get("date", "no date"), f"commit {context['commit']}", context.get("notes")]
    return " - ".join(part for part in parts if part)


def markup(results):
    of_kinds = {kind: {"color": look["color"], "marker": look["marker"],
                       "hollow": "markerfacecolor" in look}
                for kind, look in looks.of_kinds(results).items()}
    return MARKUP.format(looks=_json(of_kinds),
                         machines=_json([[rows_csv.label(one), _facts(one)] for one in results]),
                         csv=html.escape(rows_csv.text(results)))


def script():
    texts = [pkgutil.get_data(__package__, f"script/{name}.js").decode() for name in SCRIPTS]
    return '"use strict";\n(() => {\n' + "\n".join(texts) + "})();\n"
