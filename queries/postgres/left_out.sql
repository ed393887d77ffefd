-- summary: How many edges of some nodes were left out when the graph was loaded, because their other end is no node.
-- $4 text[]: The nodes.
-- $5 text[]: Predicates of outgoing edges; null: all.
-- $6 text[]: Predicates of incoming edges; null: all.
-- $7 bigint: Rows at most.
SELECT x.n, sum(x.count)::bigint AS found FROM (
  SELECT e.s AS n, e.count FROM {left_out} AS e
  WHERE e.s = ANY ($4::text[]) AND ($5::text[] IS NULL OR e.p = ANY ($5)) AND {rule}
  UNION ALL
  SELECT e.o, e.count FROM {left_out} AS e
  WHERE e.o = ANY ($4::text[]) AND ($6::text[] IS NULL OR e.p = ANY ($6)) AND {rule}
) AS x
GROUP BY x.n
LIMIT $7
