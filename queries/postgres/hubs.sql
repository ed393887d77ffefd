-- summary: The nodes to which most edges lead.
-- $4 bigint: Edges that make a node one of them, at least.
-- $5 bigint: Rows at most.
SELECT e.o AS n, count(DISTINCT (e.s, e.p)) AS found FROM {edges} AS e WHERE {rule}
GROUP BY e.o HAVING count(*) >= $4
ORDER BY found DESC
LIMIT $5
