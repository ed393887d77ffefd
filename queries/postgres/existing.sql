-- summary: Which of some nodes are in a table: as a row, as a subject, or as an object.
-- $1 text[]: The nodes.
-- $2 boolean: Whether to look among the objects.
-- $3 bigint: Rows at most.
SELECT n.id AS n FROM unnest($1::text[]) AS n(id)
WHERE EXISTS (SELECT FROM {nodes} AS x WHERE x.id = n.id)
  OR EXISTS (SELECT FROM {edges} AS e WHERE e.s = n.id)
  OR ($2::boolean AND EXISTS (SELECT FROM {edges} AS e WHERE e.o = n.id))
LIMIT $3
