-- summary: What the table of edges says about some edges.
-- $1 text[]: Their subjects.
-- $2 text[]: Their predicates.
-- $3 text[]: Their objects.
-- $4 int: Bytes of the properties of one edge at most; larger ones are marked.
-- $5 bigint: Rows at most.
SELECT e.s, e.p, e.o, e.key, length(e.properties::text) > $4 OR length(e.columns::text) > $4 AS is_too_large,
  CASE WHEN length(e.properties::text) <= $4 THEN e.properties::text END AS properties,
  CASE WHEN length(e.columns::text) <= $4 THEN e.columns::text END AS columns
FROM unnest($1::text[], $2::text[], $3::text[]) AS q(s, p, o)
JOIN {edges} AS e ON e.s = q.s AND e.p = q.p AND e.o = q.o
LIMIT $5
