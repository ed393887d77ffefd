"""Names to nodes: which entities have a name that fits what a user typed. `gateway.sparql.nodes` goes the other way."""
