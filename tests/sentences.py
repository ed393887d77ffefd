"""Where the sentences stand that a model reads."""

from gateway import messages
from gateway.answers import crossing
from gateway.members import ordering, reading
from gateway.tools import member_names, readers, schema, shapes, steering_reader, traversal, whole_subgraph

SENTENCES = (
    messages,
    *(crossing, ordering, reading),
    *(member_names, readers, schema, shapes, steering_reader, traversal, whole_subgraph),
)
