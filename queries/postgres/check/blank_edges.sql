-- summary: How many edges there are, and how many have a blank node at an end, counted up to a bound.
-- $1 text: Begins the IDs of blank nodes.
-- $2 bigint: Edges that are counted at most.
-- $3 bigint: Rows at most.
-- An IRI stands in brackets where a declared prefix would change it.
SELECT count(*) AS found, count(*) FILTER (WHERE starts_with(ltrim(x.s, '<'), $1::text) OR starts_with(ltrim(x.o, '<'), $1::text)) AS blank
FROM (SELECT {subject}::text AS s, {object}::text AS o FROM {table} LIMIT $2) AS x
LIMIT $3
