// summary: The same among the entities that a full-text index gives, the best ones first; and a row [null, null, whether it gave as many as it may].
// $1 to $3: See `parts/matching.cypher`.
// $4 STRING: The name of the index.
// $5 STRING: Words for the index, in the syntax of Lucene.
// $6 INTEGER: Entities that the index gives at most.
// $7 INTEGER: Rows at most, and that row.
CALL () {{
  CALL db.index.fulltext.queryNodes($4, $5, {{limit: $6}}) YIELD node
  RETURN collect(node) AS nodes
}}
CALL (nodes) {{
  RETURN [null, null, size(nodes) >= $6] AS row
  UNION ALL
  UNWIND nodes AS n
  WITH n WHERE n:{labels}
  WITH n
  {matching}
  RETURN row LIMIT $7
}}
WITH row
{chunks}
