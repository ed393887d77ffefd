-- summary: The edges of some nodes, in both directions.
-- $4 text[]: The nodes.
-- $5 text[]: Predicates of outgoing edges; null: all.
-- $6 text[]: Predicates of incoming edges; null: all.
-- $7 bigint: Rows at most.
SELECT e.s, e.p, e.o FROM {edges} AS e
WHERE e.s = ANY ($4::text[]) AND ($5::text[] IS NULL OR e.p = ANY ($5)) AND {rule}
UNION
SELECT e.s, e.p, e.o FROM {edges} AS e
WHERE e.o = ANY ($4::text[]) AND ($6::text[] IS NULL OR e.p = ANY ($6)) AND {rule}
LIMIT $7
