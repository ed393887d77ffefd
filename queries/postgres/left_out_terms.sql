-- summary: What was left out of the whole graph when it was loaded: edges by predicate, what has a type, and a name.
-- $1 text[]: Predicates that are no edges.
-- $2 text[]: Patterns of LIKE for predicates that alone are edges; null: all.
-- $3 text[]: Patterns of LIKE for objects, which say nothing of these.
-- $4 bigint: Rows at most.
SELECT e.kind, e.p, e.type, e.count FROM {left_out} AS e
WHERE e.kind IN ('type', 'name') OR e.kind = 'predicate'
  AND e.p <> ALL ($1::text[]) AND ($2::text[] IS NULL OR e.p LIKE ANY ($2)) AND ($3::text[] IS NULL OR true)
LIMIT $4
