-- summary: How many edges each predicate has, the most frequent first.
-- $4 bigint: Rows at most.
SELECT x.p, count(*) AS found
FROM (SELECT DISTINCT e.s, e.p, e.o FROM {edges} AS e WHERE {rule}) AS x
GROUP BY x.p
ORDER BY found DESC
LIMIT $4
