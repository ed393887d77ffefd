// summary: Whether a relationship `r` that leads to a node `o` is an edge; $1 to $4 in each query that has it.
// $1 LIST<STRING>: Types that are no edges.
// $2 LIST<STRING>: Types that alone are edges, beside those of $3; null: all.
// $3 LIST<STRING>: Beginnings of types that are edges.
// $4 LIST<STRING>: Beginnings of the IDs of nodes that edges alone lead to; null: any.
NOT type(r) IN $1
  AND ($2 IS NULL OR type(r) IN $2 OR any(beginning IN $3 WHERE type(r) STARTS WITH beginning))
  AND ($4 IS NULL OR any(beginning IN $4 WHERE o.{id} STARTS WITH beginning))
