// summary: The edges from some nodes to some nodes.
// $5 LIST<STRING>: The subjects.
// $6 LIST<STRING>: The objects; null: any.
// $7 LIST<STRING>: Types of the relationships; null: all.
// $8 INTEGER: Rows at most.
UNWIND $5 AS id
MATCH (s:{labels} {{{id}: id}})-[r]->(o:{labels})
WHERE o.{id} IS :: STRING NOT NULL AND ($6 IS NULL OR o.{id} IN $6) AND ($7 IS NULL OR type(r) IN $7) AND {rule}
WITH DISTINCT s.{id} AS subject, type(r) AS predicate, o.{id} AS object
LIMIT $8
WITH [subject, predicate, object] AS row
{chunks}
