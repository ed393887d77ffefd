-- summary: Some edges of each of some nodes: of each direction, so many at most.
-- $4 text[]: The nodes.
-- $5 text[]: Predicates of outgoing edges; null: all.
-- $6 text[]: Predicates of incoming edges; null: all.
-- $7 bigint: Edges of one node in one direction at most.
-- $8 bigint: Rows at most.
SELECT n.id AS n, x.is_incoming, x.s, x.p, x.o
FROM unnest($4::text[]) AS n(id)
CROSS JOIN LATERAL (
  (
    SELECT false AS is_incoming, e.s, e.p, e.o FROM {edges} AS e
    WHERE e.s = n.id AND ($5::text[] IS NULL OR e.p = ANY ($5)) AND {rule}
    LIMIT $7
  )
  UNION ALL
  (
    SELECT true, e.s, e.p, e.o FROM {edges} AS e
    WHERE e.o = n.id AND ($6::text[] IS NULL OR e.p = ANY ($6)) AND {rule}
    LIMIT $7
  )
) AS x
LIMIT $8
