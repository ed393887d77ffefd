// summary: The edges of one node that come after an edge, in order.
// $5 LIST<STRING>: The node, in each way in which its ID may be written.
// $6 LIST<STRING>: Types of outgoing relationships; null: all.
// $7 LIST<STRING>: Types of incoming relationships; null: all.
// $8 LIST<STRING>: Subject, predicate and object of the last edge of the page before; null: none.
// $9 INTEGER: Rows at most.
UNWIND $5 AS id
MATCH (n:{labels} {{{id}: id}})
CALL (n) {{
  MATCH (n)-[r]->(o:{labels})
  WHERE o.{id} IS :: STRING NOT NULL AND ($6 IS NULL OR type(r) IN $6) AND {rule}
  RETURN n.{id} AS subject, type(r) AS predicate, o.{id} AS object
  UNION ALL
  MATCH (s:{labels})-[r]->(n)
  WITH s, r, n AS o
  WHERE s.{id} IS :: STRING NOT NULL AND ($7 IS NULL OR type(r) IN $7) AND {rule}
  RETURN s.{id} AS subject, type(r) AS predicate, o.{id} AS object
}}
WITH DISTINCT subject, predicate, object
WHERE $8 IS NULL OR subject > $8[0] OR subject = $8[0] AND (
  predicate > $8[1] OR predicate = $8[1] AND object > $8[2]
)
ORDER BY subject, predicate, object
LIMIT $9
WITH [subject, predicate, object] AS row
{chunks}
