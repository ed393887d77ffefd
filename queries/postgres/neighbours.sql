-- summary: The nodes that are one hop from some nodes.
-- $4 text[]: The nodes.
-- $5 bigint: Rows at most.
SELECT e.o AS n FROM {edges} AS e WHERE e.s = ANY ($4::text[]) AND {rule}
UNION
SELECT e.s FROM {edges} AS e WHERE e.o = ANY ($4::text[]) AND {rule}
LIMIT $5
