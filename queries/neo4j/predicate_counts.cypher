// summary: How many edges each predicate has; relationships that say the same are one.
// $5 INTEGER: Rows at most.
MATCH (s:{labels})
WHERE s.{id} IS :: STRING NOT NULL
CALL (s) {{
  MATCH (s)-[r]->(o:{labels})
  WHERE o.{id} IS :: STRING NOT NULL AND {rule}
  WITH DISTINCT type(r) AS predicate, o
  RETURN predicate, count(*) AS own
}}
WITH predicate, sum(own) AS found
LIMIT $5
WITH [predicate, found] AS row
{chunks}
