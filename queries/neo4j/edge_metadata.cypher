// summary: What relationships say about some edges: each one that an edge stands for.
// $1 LIST<STRING>: The subjects of the edges.
// $2 LIST<STRING>: Their predicates.
// $3 LIST<STRING>: Their objects.
// $4 INTEGER: Bytes of the properties of one relationship at most, about; larger ones are marked.
// $5 INTEGER: Rows at most.
UNWIND range(0, size($1) - 1) AS place
MATCH (s:{labels} {{{id}: $1[place]}})-[r]->(o:{labels} {{{id}: $3[place]}})
WHERE type(r) = $2[place]
WITH s, r, o, {size_of_r} AS size
LIMIT $5
WITH [
  s.{id}, type(r), o.{id}, null, size > $4,
  CASE WHEN size <= $4 THEN {json_of_r} END, CASE WHEN size <= $4 THEN r {{.*{without_of_r}}} END
] AS row
{chunks}
