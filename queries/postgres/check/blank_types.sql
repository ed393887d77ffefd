-- summary: The types of blank nodes, with how many have each, the most frequent first.
-- $1 text: Begins their IDs.
-- $2 bigint: Blank nodes that are looked at, at most.
-- $3 bigint: Rows at most.
-- An IRI stands in brackets where a declared prefix would change it.
SELECT x.type, count(*) AS found
FROM (SELECT n.type FROM {nodes} AS n WHERE starts_with(ltrim(n.id::text, '<'), $1::text) LIMIT $2) AS x
WHERE x.type IS NOT NULL
GROUP BY x.type
ORDER BY found DESC, x.type
LIMIT $3
