"""The sentences that a model reads in answers and errors, by what they are about.

Those about one noun stand with it: the schema, shapes, IDs, names in conditions and traversals in `tools/`, members in
`members/`, other graphs in `answers/crossing.py`. IDs and names in their arguments are quoted or bounded already. The
errors of wrong arguments are in `arguments`.
"""

from __future__ import annotations

from collections.abc import Sequence

from gateway.arguments import MAX_HITS
from gateway.errors import DeadlinePassed, InputError, UnknownTermError, as_beginning, counted
from gateway.graph.values import Degree, NamelessNodes
from gateway.terms.iri import MAX_IRI
from gateway.terms.prefixes import in_prose

# --- every tool ---

_NOT_SENDABLE = f"an ID of them is no IRI, or has more than {MAX_IRI} characters, and could not be sent back"


def above_ceiling(argument: str, asked: int, ceiling: int) -> str:
    """Return a warning: the operator does not allow so much."""
    return f"{argument}: {asked} is above this gateway's ceiling; {ceiling} was used."


LARGER_THAN_ASKED = "max_tokens: this answer takes more than that, although only what it must have is left in it."


def nothing_said(listed: str, elsewhere: str) -> str:
    """Return a warning: this part of a split graph says nothing about some nodes."""
    return f"Nothing is said here about {listed}; it may be in {elsewhere}."


def edges_uncounted(listed: str) -> str:
    """Return a warning: not all edges of some entities were counted."""
    return (
        f"edges_failed: the edges of {listed} could not all be counted, so there may be more. Ask again, or "
        "follow a predicate that you know with bfs_query."
    )


def metadata_failed(listed: str) -> str:
    """Return a warning: what some entities say, or blank nodes beside them, could not all be read."""
    return f"metadata_failed: what {listed}, or blank nodes beside it, say could not all be read. Ask again."


# --- traversals: seeds ---


def no_seed_exists(seeds: Sequence[str], hint: str, elsewhere: str, doubt: str) -> InputError:
    """Return the error of a question without any seed that exists here or, in a split graph, elsewhere."""
    place = f" They may be in {elsewhere}." if elsewhere else ""
    doubt = f" But {doubt}, so they may exist." if doubt else ""
    return InputError(
        f"None of the seeds exists in this graph: {', '.join(seeds)}.{place}{doubt}",
        valid=hint,
        next_step="Call search_entities with a name to find an ID.",
    )


def nearest_by_name(nearest: Sequence[str]) -> str:
    """Return which entities are nearest to an ID that the graph does not have; empty where none are."""
    return f"Nearest by name: {', '.join(nearest)}." if nearest else ""


def seeds_are_types(listed: str, count: int) -> str:
    """Return a warning: so many seeds are types, and what to do to find their nodes."""
    are, these = ("is a type", "this type") if count == 1 else ("are types", "these types")
    return (
        f"{listed} {are}: a node's type is its entity_type and no edge, so nodes of {these} are not neighbors. To find "
        "some, call search_entities with a name and node_types."
    )


def missing_seeds(hint: str) -> str:
    """Return a warning about missing seeds whose prefix nobody declared."""
    return f"missing_seeds: {hint}"


# --- traversals: steering ---


_NO_EDGES_EITHER = (
    "A predicate that only leads to literals, or only says something about edges, is no edge: call describe_entity for "
    "the metadata of a node, and bfs_query for that of an edge."
)


def wrong_number_of_lists(tool: str, lists: int, wanted: int, each: str) -> InputError:
    """Return the error of lists of predicates that are not one a hop, or one a seed."""
    return InputError(
        f"{tool}: only_predicates has {counted(lists, 'list')}, but there {_are(wanted, each)}.",
        valid=f"A list of lists has one list for each {each}, and [] for any predicate; a flat list holds for all.",
    )


_WALK = "A walk is one to four predicates with / between them, and ^ before one whose edge comes in: p/^q."


def of_evidence(argument: str, predicate: str) -> UnknownTermError:
    """Return the error of a name that no predicate of nodes has, and one of what is stated about edges."""
    where = f"{argument}: " if argument else ""
    return UnknownTermError(
        f"{where}{predicate} is stated about edges, as evidence: as such it cannot be followed, compared or listed.",
        next_step="Call bfs_query, which shows it in the metadata of edges.",
    )


def unknown_step(name: str, *nearest: str, are_all: bool = True) -> InputError:
    """Return the error of a step of a walk that names no predicate, or none of those that were seen."""
    near = ", ".join(filter(None, nearest))
    seen = "" if are_all else " that was seen"
    return InputError(
        f"No predicate of this graph{seen} is called {name}.",
        valid=f"Nearest: {near}." if near else _WALK,
        next_step="Call describe_schema for predicates of edges and of values, or describe_entity for those of a node.",
    )


def walk_too_long(name: str, longest: int) -> InputError:
    """Return the error of a walk of too many steps."""
    return InputError(f"only_predicates: {name} has more than {counted(longest, 'step')}.", valid=_WALK)


def too_many_walks(name: str) -> InputError:
    """Return the error of a walk whose names mean too many predicates."""
    return InputError(f"only_predicates: the names of {name} mean too many predicates.", valid="Write IDs in a walk.")


def walks_need_one_hop(tool: str) -> InputError:
    """Return the error of walks in an intersection of several hops."""
    return InputError(f"{tool}: with a walk of several predicates, k is 1.", valid=_WALK)


def walks_too_long(tool: str, steps: int, most: int) -> InputError:
    """Return the error of walks that are too long together."""
    return InputError(
        f"{tool}: the longest walks of all hops together are {counted(steps, 'step')} long.",
        valid=f"They may be {counted(most, 'step')} long.",
    )


def _are(count: int, noun: str) -> str:
    return f"{_is(count)} {counted(count, noun)}"


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _was(count: int) -> str:
    return "it was" if count == 1 else "they were"


def _has(count: int) -> str:
    return "has" if count == 1 else "have"


# --- traversals: gaps ---


def may_have_more_edges(doubt: str) -> str:
    """Return the detail of a gap: nothing that is read is all there is."""
    return f"{doubt}, so any of these may have more edges"


TYPES_LEFT_OUT = f"their types are left out: {_NOT_SENDABLE}"
REDIRECTED_TOO_FAR = "This node was merged into another one, in a circle or over more steps than are followed."


def edges_left_out(count: int) -> str:
    """Return the detail of a gap: edges have IDs that no caller could send back."""
    return f"{counted(count, 'edge')} of these {_is(count)} left out: {_NOT_SENDABLE}"


MALFORMED_LIST = "A malformed list is shown as the blank nodes that it is made of, by rdf:first and rdf:rest."


BLANK_NODES = (
    "edges of these lead to blank nodes that cannot be followed: these, and what is behind them, are not in the "
    "answer. describe_entity shows what a blank node of one of them says, two levels deep"
)


def made_of_blank_nodes(listed: str) -> str:
    """Return a warning: neosemantics made these nodes of blank nodes."""
    return f"Made of a blank node: {listed}. Such an ID holds until the database is loaded anew."


def blank_nodes_beside(listed: str) -> str:
    """Return a warning: some entities have edges to blank nodes, of which not all content is in the answer."""
    return f"Blank nodes beside {listed} cannot be followed: what they say is shown in part, or not at all."


def elsewhere(place: str) -> str:
    """Return the detail of a gap: this part of a split graph says nothing about some nodes."""
    return f"nothing is said about these here; they and their edges may be in {place}"


def hub(max_degree: int | None) -> str:
    """Return the detail of a gap: nodes are not expanded."""
    return f"more than {counted(max_degree or 0, 'edge')}"


def edges_capped(max_edges: int | None) -> str:
    """Return the detail of a gap: nodes show some of their edges."""
    return f"only {counted(max_edges or 0, 'edge')} {_is(max_edges or 0)} shown"


def nodes_used_up(nodes: int) -> str:
    """Return the detail of a gap: a traversal has reached all the nodes that it may."""
    return f"This traversal may reach {counted(nodes, 'node')}, and has reached more; these were not expanded."


def hop_done(hop: int, hops: int, nodes: int) -> str:
    """Return the progress of a traversal."""
    return f"hop {hop} of {hops}: {counted(nodes, 'node')}"


def with_degrees(detail: str, degrees: Sequence[tuple[str, Degree]]) -> str:
    """Return the detail of a gap with the degrees of its nodes."""
    return f"{detail}: " + ", ".join(f"{in_prose(node)} has {edges_of(degree)}" for node, degree in degrees)


def edges_of(degree: Degree) -> str:
    """Return a number of edges, with "at least" where they were not all counted."""
    return f"{degree.count:,}" if degree.exact else f"at least {degree.count:,}"


# --- merged nodes ---


def _merged_too(node: str, others: str) -> str:
    return f"According to this graph, {node} was also merged into {others}. Ask about that too."


def seed_merged(seed: str, target: str) -> str:
    """Return a warning: another node is asked for instead of a seed."""
    return f"seeds: {seed} was merged into {target}, which was asked for instead."


def seed_merged_too(seed: str, others: str) -> str:
    """Return a warning: a seed was merged into several."""
    return f"seeds: {_merged_too(seed, others)}"


def seed_perhaps_merged(seed: str, fault: str) -> str:
    """Return a warning: whether a seed was merged is not known."""
    return (
        f"seeds: whether {seed} was merged into another node could not be read: "
        f"{fault} It has edges of its own, so it probably was not."
    )


def describe_merged(node: str, target: str, others: str) -> str:
    """Return advice about an entity that was merged into another, and perhaps into others too."""
    return f"{node} was merged into {target}; describe that one.{f' {_merged_too(node, others)}' if others else ''}"


# --- traversals: filters, pages, evidence ---


def seed_stays(argument: str, seed: str) -> str:
    """Return a warning: a filter would remove a seed."""
    return f"{argument} would remove the seed {seed}; a seed always stays."


def on_the_way(count: int, argument: str) -> str:
    """Return a warning: nodes that a filter leaves out are shown only as steps, and do not show how many there are."""
    nodes, steps = ("other node is", "a step") if count == 1 else ("other nodes are", "steps")
    return (
        f"on_the_way: {count:,} {nodes} shown only as {steps} of a shortest path to a node of {argument}. Their "
        "other edges and paths are not shown: do not count such nodes."
    )


def undecided(argument: str, count: int) -> str:
    """Return a warning: a filter could not be applied to some nodes."""
    return (
        f"{argument}: the data that decide on {counted(count, 'node')} could not all be fetched; {_was(count)} not "
        "removed, so node_count and edge_count may be too large."
    )


def labels_unread(count: int) -> str:
    """Return a warning: filters by name may miss types and predicates without a known label."""
    return (
        f"The names of {count:,} of the types and predicates of this answer could not be read, so a filter may miss "
        "what it means by a name: ask again, or use IDs."
    )


def offset_past_end(offset: int, nodes: int) -> str:
    """Return a warning: the page is behind the last one."""
    return f"offset: {offset} is past the end; there {_are(nodes, 'node')}."


def negated(edges: int, wholly: int) -> str:
    """Return a warning: assertions deny edges."""
    return (
        f"negated: {edges} of the edges shown {_is(edges)} denied by an assertion "
        f"that says the contrary, {wholly} of them by every assertion there is. Do not read these as facts."
    )


def answer_too_late(nodes: int, edges: int) -> DeadlinePassed:
    """Return the error of a traversal that ended in time, and whose answer did not."""
    return DeadlinePassed(
        f"The time of this call ended while the answer about {counted(nodes, 'node')} and {counted(edges, 'edge')} was "
        "being written.",
        next_step="Ask for fewer seeds or hops, or ask again when the gateway has fewer calls to answer.",
    )


def reading_names(total: int) -> str:
    """Return the progress of a call that waits for the names of so many entities."""
    return f"Reading names of {counted(total, 'entity')}"


EVIDENCE_REFUSED = (
    "This endpoint refuses the queries that read what is stated about edges: no edge has its confidence, sources or "
    "negation here, and nodes that only state such things are nodes like others."
)

# --- descriptions ---


def values_may_be_missing(doubt: str) -> str:
    """Return a warning: nothing that is read is all there is."""
    return f"{as_beginning(doubt)}, so values may be missing, and what is not found may exist."


NAME_KEYS_UNKNOWN = (
    "Which predicates carry names here could not be found out yet, so a name may stand under another key; ask again."
)


def no_such_entity(asked: str, hint: str, nearest: Sequence[str], elsewhere: str, doubt: str) -> InputError:
    """Return the error of an entity that does not exist."""
    place = f"; it may be in {elsewhere}" if elsewhere else ""
    doubt = f" But {doubt}, so it may exist." if doubt else ""
    others = nearest_by_name(nearest)
    return InputError(
        f"There is no entity {asked} in this graph{place}.{doubt}",
        valid=" ".join(filter(None, [hint, others])),
        next_step="Call search_entities with a name to find its ID.",
    )


def unrefined(listed: str) -> str:
    """Return a warning: precisions and units of some entities could not be read."""
    return (
        f"The precision of dates and the units of quantities could not be read of {listed}: a first of January may be "
        "a year only. Ask again."
    )


def unsure_whether_said(listed: str) -> str:
    """Return a warning: it is not known whether this part of a split graph says anything about some nodes."""
    return f"Whether anything is said here about {listed} could not be found out; ask again."


def not_here(listed: str, elsewhere: str) -> str:
    """Return a warning: this part of a split graph does not have some nodes."""
    return f"{listed} is not in this graph; it may be in {elsewhere}."


# --- searches ---


def others_may_match(doubt: str) -> str:
    """Return a warning: nothing that is read is all there is."""
    return f"{as_beginning(doubt)}, so there may be others."


OTHER_TYPES_MAY_MATCH = (
    "node_types: not all types of this graph are known, so others may have such a name too; their IDs leave no doubt."
)
NAMES_MAY_BE_MISSED = (
    "Which predicates carry names here could not be found out yet, so names may have been missed; ask again."
)


OTHERS_MAY_HAVE_THIS_NAME = "for an exact name, which was found; others may have it too"
_ANOTHER_VALUE = (
    'To find a node by another value, such as a code: search_entities with node_types and where="any = ...".'
)
NOTHING_NEAR = f"No name is like this: try another spelling or a part of the name. {_ANOTHER_VALUE}"
NOTHING_NEAR_OF_TYPES = (
    "No name of these types is like this: try another spelling or a part of the name, or leave node_types out. "
    f"{_ANOTHER_VALUE}"
)
NONE_OF_THESE_TYPES = "No entity has one of these node_types: describe_schema lists the types."
BY_MEANING = "No name fits. What by_meaning lists may be meant: see whether it is before you use it."
IDS_ARE_GUESSES = "No name fits; guesses are nodes whose IDs have such words."
NO_NAME_FITS = "No name fits; guesses have some of the words, or are spelt alike."


def no_name_has(listed: str, *, several: bool, of_types: bool, in_parts: bool = False) -> str:
    """Say which words of a query no name has; `in_parts`: as words, and hits have them within others."""
    names = f"No name{' of these types' * of_types}"
    if in_parts:
        as_words = "as words of their own" if several else "as a word of its own"
        return f"{names} has {listed} {as_words}: the hits have {'them' if several else 'it'} within other words."
    return f"{names} has the word{'s' * several} {listed}."


def listed_in_part(shown: int, found: int, *, at_least: bool, may_show_more: bool) -> str:
    """Say how to see the rest of a list of all entities of some types."""
    more = f"a larger limit shows more, and {MAX_HITS} at most; " if may_show_more and shown < MAX_HITS else ""
    return f"{shown} of {'at least ' * at_least}{found:,} {_is(shown)} listed: {more}a query narrows the list."


def about_nameless_nodes(found: NamelessNodes | None) -> str:
    """Return how many nodes have no name, and how to find one; empty if none of those that were looked at lacks one."""
    if found is None or not found.count:
        return ""
    return f"{without_names(found)}. Find such a node by what it is connected to: intersect_subgraphs, or bfs_query."


def without_names(found: NamelessNodes) -> str:
    """Return how many of the nodes that were looked at have no name."""
    among = "of the" if found.exact else "of"
    where = "" if found.exact else " in a sample"
    return f"{found.count:,} {among} {counted(found.of, 'node')} with edges{where} {_has(found.count)} no name"


def nameless_nodes(found: NamelessNodes | None) -> str:
    """Return that nodes have no name, or may have none; empty if every node has one. The schema says what to do."""
    if found is not None and found.exact and not found.count:
        return ""
    return "Nodes may have no name." if found is None or not found.count else f"{without_names(found)}."


def names_left_out(count: int) -> str:
    """Return a warning: names fit whose IDs no caller could send back."""
    return f"{counted(count, 'name')} that would fit {_is(count)} left out: {_NOT_SENDABLE}."


def descriptions_not_read(listed: str) -> str:
    """Return a warning: entities may have descriptions that could not be read."""
    return f"The descriptions of {listed} could not be read; they may have one."


def entities_gone(count: int) -> str:
    """Return a warning: the graph does not have entities that an index of names has."""
    return f"{count:,} of the entities that were found by name {_is(count)} not in the graph any more."


def nothing_to_search(query: str) -> InputError:
    """Return the error of a query, quoted, without words and symbols."""
    problem = f"has no letter, digit or symbol: {query}" if query else "must not be empty without queries or node_types"
    return InputError(
        f"search_entities: query {problem}.",
        valid="query: a name, an alias or a part of it; queries: several. Without either, node_types lists all "
        "entities of these types.",
    )


def others_elsewhere(where: str) -> str:
    """Return a warning: another part of a split graph may have entities of the types, too."""
    return f"Entities that only the rest of the graph has ({where}) are not listed."


# --- the graph as a whole ---

TOOL_USAGE_NOTES = (
    "search_entities resolves a name to IDs: never invent an ID. describe_entity shows in edges which predicates lead "
    "on from an entity; bfs_query with only_predicates follows them; intersect_subgraphs finds what several entities "
    "share. Without only_predicates begin with max_hops=1 and topology_only=true. node_types and predicates decide how "
    "much detail an item has, not whether it is there; only_node_types, exclude_node_types and min_mentions decide "
    "that. "
    "complete=true means that nothing was cut and an absence is a fact; when it is false, incomplete says what is "
    "missing, and an absence proves nothing. degraded says what was left out to keep the answer small; ask for "
    "fewer hops or more filters to see it. next_offset is the offset of the next page; send snapshot back with it, and "
    "next_edge, where there is one, as edge_offset. "
    "Types and predicates may be written as the ID, the local name or the label."
)


BLANK_NAMES = "Blank nodes of this graph have names, which were not compared: they cannot be followed."


BLANK_NODES_OF_TYPES = "Not listed: blank nodes of these types, which cannot be followed."

BLANK_NODES_NOT_LOOKED_FOR = (
    "Blank nodes, which cannot be followed, may fit too: whether there are any could not be found out."
)


def blank_nodes_of_types(count: int) -> str:
    """Return a warning: so many blank nodes have the types, and are not listed."""
    return f"Not listed: {counted(count, 'blank node')} of these types, which cannot be followed."


# --- names in filters ---


def several_meant(argument: str, name: str, kind: str, meant: str) -> str:
    """Return a warning: a name means several terms."""
    return f"{argument}: {name} means several {kind}s, and all are meant: {meant}."


def taken_by_alias(argument: str, name: str, kind: str, term: str) -> str:
    """Return a warning: a name is no label, and was taken for the term of which it is an alias."""
    return f"{argument}{': ' if argument else ''}{name} was taken for the {kind} {term}, by an alias."


def alias_of_several(argument: str, name: str, kind: str, terms: str) -> InputError:
    """Return the error of a name that is an alias of several terms."""
    return InputError(
        f"{argument}: {name} is an alias of several {kind}s: {terms}.", next_step="Write the ID of the one meant."
    )


def more_names(argument: str, count: int) -> str:
    """Return what stands for further warnings about names."""
    return f"{argument}: {counted(count, 'more name')} like these."


_MOST_ERRORS = 5
"""Bad items of which an error says what is wrong."""


def all_wrong(errors: Sequence[InputError]) -> InputError:
    """Return one error that says what is wrong with every item of an argument."""
    first, *others = errors
    if not others:
        return first
    said = [f"{one.wrong} {one.valid}".strip() for one in errors[:_MOST_ERRORS]]
    more = len(errors) - len(said)
    return InputError(
        " ".join([*dict.fromkeys(said), *([f"{more} more {_is(more)} wrong."] if more > 0 else [])]),
        next_step=first.next_step,
    )


def left_out(error: InputError) -> str:
    """Return a warning: one of several items means nothing, and the answer is about the others."""
    return f"{error.wrong} {error.valid}".strip() + " It was left out."


def unknown_name(
    argument: str, name: str, kind: str, nearest: str, some: str, *, are_all: bool = True
) -> UnknownTermError:
    """Return the error of a name that matches nothing in a graph, or nothing of it that is known."""
    step = "Call describe_schema for the list."
    if kind == "predicate":
        # What a predicate may be instead says nothing to who misspelt one.
        step = f"describe_entity lists those of a node.{'' if nearest else f' {_NO_EDGES_EITHER}'}"
    return UnknownTermError(
        f"{argument}: no {kind} of this graph{'' if are_all else ' that was seen'} is called {name}.",
        valid=f"Nearest: {nearest}." if nearest else f"Known: {some}.",
        next_step=step,
    )


def perhaps_unknown_name(argument: str, name: str, kind: str, nearest: str) -> str:
    """Return a warning: a name matches nothing that is known; see `unknown_name`."""
    hint = f"; nearest known: {nearest}" if nearest else ""
    return (
        f"{argument}: {name} is no {kind} that is known here or stands in this answer{hint}. "
        "The list of this graph is not comprehensive, so it may exist elsewhere."
    )


def absent_term(argument: str, name: str, kind: str, nearest: str) -> str:
    """Return a warning: the graph, of which all terms are known, does not have an IRI that is asked for."""
    hint = f" Nearest: {nearest}." if nearest else ""
    return f"{argument}: no edge of this graph has the {kind} {name}.{hint} {_NO_EDGES_EITHER}"


def subclasses_unread(argument: str, types: str) -> str:
    """Return a warning: the subclasses of some types could not all be read."""
    return f"{argument}: the subclasses of {types} could not all be read, so the filter may miss some."


def too_many_subclasses(argument: str, most: int) -> str:
    """Return a warning: a filter has more subclasses than are read."""
    return f"{argument}: there are more subclasses than {most:,}; name narrower types."
