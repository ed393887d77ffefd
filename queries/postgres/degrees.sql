-- summary: How many edges each of some nodes has, counted up to a bound.
-- $4 text[]: The nodes.
-- $5 text[]: Predicates of outgoing edges; null: all.
-- $6 text[]: Predicates of incoming edges; null: all.
-- $7 bigint: Edges of one node in one direction that are counted at most.
-- $8 bigint: Rows at most.
SELECT n.id AS n, d.found, d.is_all
FROM unnest($4::text[]) AS n(id)
CROSS JOIN LATERAL (
  WITH outgoing AS (
    SELECT e.s, e.p, e.o FROM {edges} AS e
    WHERE e.s = n.id AND ($5::text[] IS NULL OR e.p = ANY ($5)) AND {rule}
    LIMIT $7
  ), incoming AS (
    SELECT e.s, e.p, e.o FROM {edges} AS e
    WHERE e.o = n.id AND ($6::text[] IS NULL OR e.p = ANY ($6)) AND {rule}
    LIMIT $7
  )
  SELECT (SELECT count(*) FROM (SELECT * FROM outgoing UNION SELECT * FROM incoming) AS u) AS found,
    (SELECT count(*) FROM outgoing) < $7 AND (SELECT count(*) FROM incoming) < $7 AS is_all
) AS d
LIMIT $8
