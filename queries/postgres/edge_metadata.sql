-- summary: What the table of edges says about some edges.
-- $1 text[]: Their subjects.
-- $2 text[]: Their predicates.
-- $3 text[]: Their objects.
-- $4 int: Bytes of the properties and the other columns of one edge at most, together; larger ones are marked.
-- $5 bigint: Rows at most.
-- OFFSET lets the size be computed once for each row.
SELECT e.s, e.p, e.o, e.key, s.size > $4 AS is_too_large,
  CASE WHEN s.size <= $4 THEN e.properties::text END AS properties,
  CASE WHEN s.size <= $4 THEN e.columns::text END AS columns
FROM unnest($1::text[], $2::text[], $3::text[]) AS q(s, p, o)
JOIN {edges} AS e ON e.s = q.s AND e.p = q.p AND e.o = q.o
CROSS JOIN LATERAL (
  SELECT coalesce(length(e.properties::text), 0) + coalesce(length(e.columns::text), 0) AS size
  OFFSET 0
) AS s
LIMIT $5
