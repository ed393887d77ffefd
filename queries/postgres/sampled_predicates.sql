-- summary: The predicates of some edges, with how many of these have them, the most frequent first.
-- $4 bigint: Edges that are looked at, at most.
-- $5 bigint: Rows at most.
SELECT e.p, count(*) AS found
FROM (SELECT * FROM {edges} AS e WHERE {rule} LIMIT $4) AS e
GROUP BY e.p
ORDER BY found DESC
LIMIT $5
