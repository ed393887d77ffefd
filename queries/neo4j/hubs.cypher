// summary: The nodes to which most edges lead.
// $5 INTEGER: Edges that make a node one of them, at least.
// $6 INTEGER: Rows at most.
MATCH (o:{labels})
WHERE o.{id} IS :: STRING NOT NULL AND COUNT {{ (o)<--() }} >= $5
CALL (o) {{
  MATCH (s:{labels})-[r]->(o)
  WHERE s.{id} IS :: STRING NOT NULL AND {rule}
  WITH DISTINCT s, type(r) AS predicate
  RETURN count(*) AS found
}}
WITH o, found
WHERE found >= $5
ORDER BY found DESC
LIMIT $6
WITH [o.{id}, found] AS row
{chunks}
