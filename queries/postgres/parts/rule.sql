-- summary: Which rows of the table of edges are edges; $1, $2 and $3 in each query that has it.
-- $1 text[]: Predicates that are no edges.
-- $2 text[]: Patterns of LIKE for predicates that alone are edges; null: all.
-- $3 text[]: Patterns of LIKE for objects that edges alone lead to; null: any.
(
  e.p <> ALL ($1::text[]) AND ($2::text[] IS NULL OR e.p LIKE ANY ($2)) AND ($3::text[] IS NULL OR e.o LIKE ANY ($3))
)
