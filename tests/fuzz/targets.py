"""The five kinds of hostile input, each one round: what is wrong with what came of it, and what a model may read."""

import gzip
import json
import random
import re
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pyoxigraph
from mcp import Client
from mcp_types import CallToolResult

from gateway import resources
from gateway.answers.models import Answer
from gateway.api import open_gateway
from gateway.errors import ConfigurationError, GatewayError
from gateway.files.loading import load_files
from gateway.graph.call import Deadline, Spend, unpaid
from gateway.server.app import build
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.inprocess import InProcess
from tests.fuzz import hostile
from tests.fuzz.hostile import CANARY
from tests.fuzz.parsed_files import parsed_files
from tests.hostile import hidden_in

_CURIE: Final = re.compile(r"[A-Za-z][A-Za-z0-9._-]*:[A-Za-z0-9._-]+")
_MOST_OF_A_CURIE: Final = 80
_MOST_OF_AN_ERROR: Final = 4_000
_LEAST_BYTES: Final = 4_096
"""An answer that holds nothing but what it must may be as long, whatever `max_tokens`."""


def wrong_with(result: CallToolResult, max_tokens: int) -> list[str]:
    """Return what is wrong with a tool result: hidden characters, its size, or two shapes that differ.

    Args:
        result: The result as a client got it.
        max_tokens: The size that was asked for; a token is 4 bytes.
    """
    text = "".join(getattr(content, "text", "") for content in result.content)
    problems = [f"shows U+{ord(one):04X}" for one in sorted(set(hidden_in(text)))]
    if result.is_error:
        return problems + ([f"an error of {len(text)} characters"] if len(text) > _MOST_OF_AN_ERROR else [])
    if len(text.encode()) > max(4 * max_tokens, _LEAST_BYTES):
        problems.append(f"{len(text.encode())} bytes for max_tokens {max_tokens}")
    if json.loads(text) != result.structured_content:
        problems.append("the text is not the structured content")
    return problems


async def wrong_with_texts(client: Client) -> list[str]:
    """Return what stands in instructions and descriptions that is text of the graph, and no plain CURIE."""
    tools = (await client.list_tools()).tools
    texts = [
        client.instructions or "",
        *(tool.description or "" for tool in tools),
        *(tool.title or "" for tool in tools),
    ]
    problems: list[str] = []
    for text in texts:
        if not text.isascii() or not text.isprintable():
            problems.append(f"not plain ASCII: {ascii(text)[:200]}")
        for word in re.split(r"[\s,;()]+", text):
            bare = word.rstrip(".")
            if CANARY in word.lower() and not (_CURIE.fullmatch(bare) and len(bare) <= _MOST_OF_A_CURIE):
                problems.append(f"text of the graph: {word[:200]!r}")
    return problems


async def called(client: Client, tool: str, arguments: dict[str, Any]) -> list[str]:
    """Call a tool and return what is wrong with the result, with the call."""
    result = await client.call_tool(tool, arguments)
    given = arguments.get("max_tokens")
    tokens = given if isinstance(given, int) and not isinstance(given, bool) else 12_000
    failed = ["fails with a defect"] if "This gateway has a defect" in str(result.content) else []
    return [f"{tool}({str(arguments)[:300]}): {problem}" for problem in failed + wrong_with(result, tokens)]


Round = Callable[[random.Random], Awaitable[list[str]]]
"""One round of a target: returns what went wrong, nothing where all is well."""

_MAX_BYTES: Final = 1 << 24
_LABEL: Final = "http://www.w3.org/2000/01/rdf-schema#label"
_TYPE: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_FORMATS: Final[Mapping[str, pyoxigraph.RdfFormat]] = {
    ".ttl": pyoxigraph.RdfFormat.TURTLE,
    ".nt": pyoxigraph.RdfFormat.N_TRIPLES,
    ".nq": pyoxigraph.RdfFormat.N_QUADS,
    ".trig": pyoxigraph.RdfFormat.TRIG,
    ".rdf": pyoxigraph.RdfFormat.RDF_XML,
    ".jsonld": pyoxigraph.RdfFormat.JSON_LD,
}


async def terms(dice: random.Random) -> list[str]:
    """Serve a graph of hostile terms and call every tool."""
    engine, nodes = _hostile_graph(dice)
    prefixes = PrefixMap(
        {"x": "https://example.org/x/", "h": "http://e.org/canary/", "rdfs": _LABEL.removesuffix("label")}
    )
    gateway = Gateway(SparqlStore(InProcess(engine, max_bytes=_MAX_BYTES), Profile()), Profile(), prefixes)
    tokens = dice.choice((200, 200, 1_000, 8_000))
    seeds = [f"<{node}>" for node in dice.sample(nodes, 2)]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("describe_schema", {}),
        ("search_entities", {"query": dice.choice(("canary", hostile.text(dice)[:1_000]))}),
        ("bfs_query", {"seeds": seeds, "max_hops": 2, "max_tokens": tokens}),
        ("intersect_subgraphs", {"seeds": seeds, "k": 2, "via": True, "max_tokens": tokens}),
        ("describe_entity", {"id": seeds[0], "max_tokens": tokens}),
        ("describe_entities", {"ids": seeds, "max_tokens": tokens}),
    ]
    async with gateway, Client(await build(gateway)) as client:
        problems = await wrong_with_texts(client)
        for tool, arguments in calls:
            problems += await called(client, tool, arguments)
    return problems


async def arguments(dice: random.Random) -> list[str]:
    """Call every tool of a small graph with hostile arguments."""
    async with (
        open_gateway(resources.folder("fixtures") / "films.ttl") as gateway,
        Client(await build(gateway)) as client,
    ):
        problems: list[str] = []
        for tool in (await client.list_tools()).tools:
            known = list(tool.input_schema["properties"])
            for _ in range(10):
                names = [dice.choice([*known, hostile.text(dice)[:40]]) for _ in range(dice.randint(0, 6))]
                required = {name: ["person:Harrison_Ford", "film:Alien"] for name in ("seeds", "ids") if name in known}
                given = {
                    **(required if dice.random() < 0.5 else {}),
                    **{name: hostile.json_value(dice) for name in names},
                }
                problems += await called(client, tool.name, given)
        return problems


async def rows(dice: random.Random) -> list[str]:
    """Answer queries with mutated bodies; a traversal that says that it is complete is the right one."""
    engine = pyoxigraph.Store()
    engine.load(path=str(resources.folder("fixtures") / "films.ttl"), format=pyoxigraph.RdfFormat.TURTLE)
    transport = _Mutating(engine, dice)
    gateway = Gateway(SparqlStore(transport, Profile()), Profile(), PrefixMap({}))
    base = "https://example.org/films/"
    question = {
        "seeds": [f"{base}person/{dice.choice(('Harrison_Ford', 'George_Lucas', 'Bill_Paxton'))}"],
        "max_hops": 2,
    }
    async with gateway:
        clean = await gateway.call("bfs_query", {**question, "topology_only": True})
        gateway.forget()
        transport.share = 0.3
        try:
            answer = await gateway.call("bfs_query", {**question, "topology_only": True})
            await gateway.call("describe_schema", {})
            await gateway.call("search_entities", {"query": "alien"})
        except GatewayError:
            return []
    if transport.cut and not transport.altered and answer.complete and _topology(answer) != _topology(clean):
        return [f"wrong and complete after {transport.cut} at {question}"]
    return []


async def files(dice: random.Random) -> list[str]:
    """Load a mutated file; it loads or is refused by name."""
    name = dice.choice(("films", "medical", "awkward", "associations"))
    suffix = dice.choice(list(_FORMATS))
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder) / f"hostile{suffix}{dice.choice(('', '', '.gz'))}"
        body = hostile.mutated(_serialised(name, suffix), dice)
        path.write_bytes(hostile.mutated(gzip.compress(body), dice) if path.suffix == ".gz" and dice.random() < 0.5 else
                         gzip.compress(body) if path.suffix == ".gz" else body)  # fmt: skip
        try:
            load_files([path])
        except ConfigurationError as error:
            if path.name not in str(error):
                return [f"a refusal that does not name the file: {error}"]
            if len(str(error)) > 4_000:
                return [f"a refusal of {len(str(error))} characters"]
    return []


TARGETS: Final[Mapping[str, Round]] = {
    "terms": terms,
    "arguments": arguments,
    "rows": rows,
    "files": files,
    "parsed files": parsed_files,
}


class _Mutating(InProcess):
    """A transport that mutates a share of the bodies.

    Attributes:
        share: The share of the answers that are mutated, from 0 to 1.
        cut: What was done to bodies that are broken by it.
        altered: Whether a body may have other values and be whole.
    """

    def __init__(self, engine: pyoxigraph.Store, dice: random.Random) -> None:
        super().__init__(engine, max_bytes=_MAX_BYTES)
        self._dice = dice
        self.share = 0.0
        self.cut: list[str] = []
        self.altered = False

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a query, and return its answer or what became of it."""
        body = await super().select(query, deadline, spend)
        if self._dice.random() >= self.share:
            return body
        kind = self._dice.choice(("cut off", "second results", "second document", "empty rows", "bytes"))
        if kind == "bytes":
            self.altered = True
            return hostile.mutated(body, self._dice)
        self.cut.append(kind)
        match kind:
            case "cut off":
                return body[: self._dice.randrange(len(body))]
            case "second results":
                return body.rstrip()[:-1] + b',"results":{"bindings":[]}}'
            case "second document":
                return body + b'{"head":{"vars":[]},"results":{"bindings":[]}}'
            case _:
                answer = json.loads(body)
                answer["results"]["bindings"][:0] = [{}] * 1_000
                return json.dumps(answer).encode()


def _topology(answer: Answer) -> object:
    written = answer.as_json()
    return [(node["id"]) for node in written["nodes"]], written["edges"]


def _hostile_graph(dice: random.Random) -> tuple[pyoxigraph.Store, list[str]]:
    """Return a store of nodes, types, predicates and texts that are hostile, and its nodes."""
    engine = pyoxigraph.Store()
    made: list[pyoxigraph.NamedNode] = []
    while len(made) < 12:
        try:
            made.append(pyoxigraph.NamedNode(hostile.iri(dice)))
        except ValueError:
            continue
    label, kind = pyoxigraph.NamedNode(_LABEL), pyoxigraph.NamedNode(_TYPE)
    types, predicates, nodes = made[:3], made[3:6], made[6:]
    short = [node.value for node in nodes if len(node.value) <= 900]
    for node in nodes:
        for other in dice.sample(nodes, 3):
            engine.add(pyoxigraph.Quad(node, dice.choice(predicates), other))
        engine.add(pyoxigraph.Quad(node, kind, dice.choice(types)))
    for term in (*nodes, *types, *predicates):
        language = dice.choice((None, "en"))
        value = hostile.text(dice).encode("utf-8", "replace").decode()
        engine.add(
            pyoxigraph.Quad(term, dice.choice((label, *predicates)), pyoxigraph.Literal(value, language=language))
        )
    return (engine, short) if len(short) > 1 else _hostile_graph(dice)


def _serialised(name: str, suffix: str) -> bytes:
    written = _FORMATS[suffix]
    source = resources.folder("fixtures") / f"{name}.ttl"
    triples = (quad.triple for quad in pyoxigraph.parse(path=str(source), format=pyoxigraph.RdfFormat.TURTLE))
    plain = (triple for triple in triples if not isinstance(triple.object, pyoxigraph.Triple))
    body = pyoxigraph.serialize(plain if suffix in {".rdf", ".jsonld"} else triples, format=written)
    assert body is not None
    return body
