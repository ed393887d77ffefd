-- summary: The edges of one node that come after an edge, in order.
-- $4 text[]: The node, in each way in which its ID may be written.
-- $5 text[]: Predicates of outgoing edges; null: all.
-- $6 text[]: Predicates of incoming edges; null: all.
-- $7 text[]: Subject, predicate and object of the last edge of the page before; null: none.
-- $8 bigint: Rows at most.
SELECT x.s, x.p, x.o FROM (
  SELECT e.s, e.p, e.o FROM {edges} AS e
  WHERE e.s = ANY ($4::text[]) AND ($5::text[] IS NULL OR e.p = ANY ($5)) AND {rule}
  UNION
  SELECT e.s, e.p, e.o FROM {edges} AS e
  WHERE e.o = ANY ($4::text[]) AND ($6::text[] IS NULL OR e.p = ANY ($6)) AND {rule}
) AS x
WHERE $7::text[] IS NULL OR (x.s, x.p, x.o) > (($7::text[])[1], ($7::text[])[2], ($7::text[])[3])
ORDER BY x.s, x.p, x.o
LIMIT $8
