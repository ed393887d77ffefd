"""A graph whose names are markup and hide or reorder text, and which has a hub."""

from pathlib import Path
from typing import Final

NAME: Final = (
    "alpha <img src=x onerror=\"document.title='run'\"><script>document.title='run'</script></script><!--"
    "\u202e gnp.exe " + "long " * 2_000
)
"""More than 10,000 characters."""

HUB_EDGES: Final = 400


def hostile_graph(folder: Path) -> Path:
    """Write the graph, and return its file."""
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    text = NAME.replace("\\", "\\\\").replace('"', '\\"')
    lines = [f'<http://e.org/a> {label} "{text}" .', f'<http://e.org/hub> {label} "hub" .']
    lines += [f"<http://e.org/a> <http://e.org/p> <http://e.org/n{n}> ." for n in range(5)]
    lines += [f"<http://e.org/hub> <http://e.org/has> <http://e.org/m{n}> ." for n in range(HUB_EDGES)]
    lines += ["<http://e.org/hub> <http://e.org/rare> <http://e.org/a> ."]
    graph = folder / "hostile.nt"
    graph.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return graph
