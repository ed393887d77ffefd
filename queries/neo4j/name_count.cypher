// summary: How many entities have a name, or a synonym.
// $1 BOOLEAN: Whether synonyms are asked for, not names.
// $2 INTEGER: Rows at most.
MATCH (n:{labels})
WHERE n.{id} IS :: STRING NOT NULL AND size(CASE WHEN $1 THEN tail({names}) + {synonyms} ELSE {names} END) > 0
WITH [count(DISTINCT n.{id})] AS row
LIMIT $2
{chunks}
