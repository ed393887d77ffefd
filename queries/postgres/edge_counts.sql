-- summary: How many edges some nodes have by predicate and direction, with the first and the last neighbour.
-- $4 text[]: The nodes.
-- $5 bigint: Rows at most.
SELECT e.s AS n, e.p, false AS is_incoming, count(DISTINCT e.o) AS found,
  min(e.o COLLATE "C") AS first, max(e.o COLLATE "C") AS last
FROM {edges} AS e WHERE e.s = ANY ($4::text[]) AND {rule} GROUP BY e.s, e.p
UNION ALL
SELECT e.o, e.p, true, count(DISTINCT e.s), min(e.s COLLATE "C"), max(e.s COLLATE "C")
FROM {edges} AS e WHERE e.o = ANY ($4::text[]) AND {rule} GROUP BY e.o, e.p
LIMIT $5
