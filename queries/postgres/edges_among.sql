-- summary: The edges from some nodes to some nodes.
-- $4 text[]: The subjects.
-- $5 text[]: The objects; null: any.
-- $6 text[]: Predicates; null: all.
-- $7 bigint: Rows at most.
-- A sub-select in the place of a second ANY, which a plan for any parameters would compare row by row.
SELECT DISTINCT e.s, e.p, e.o FROM {edges} AS e
WHERE e.s = ANY ($4::text[]) AND ($5::text[] IS NULL OR e.o IN (SELECT unnest($5::text[])))
  AND ($6::text[] IS NULL OR e.p = ANY ($6)) AND {rule}
LIMIT $7
