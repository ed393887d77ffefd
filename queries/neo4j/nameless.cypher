// summary: How many ends of edges have no name, among all ends or those of some edges.
// $5 INTEGER: Edges whose ends are looked at, at most.
// $6 INTEGER: Rows at most.
MATCH (s:{labels})-[r]->(o:{labels})
WHERE s.{id} IS :: STRING NOT NULL AND o.{id} IS :: STRING NOT NULL AND {rule}
WITH s, o
LIMIT $5
UNWIND [s, o] AS n
WITH DISTINCT n
WITH count(*) AS found, count(CASE WHEN size({names} + {synonyms}) = 0 THEN 1 END) AS nameless
WITH [found, nameless] AS row
LIMIT $6
{chunks}
