// summary: Names or synonyms, in the order of the IDs.
// $1 BOOLEAN: Whether synonyms are asked for, not names.
// $2 STRING: The ID after which the page begins; null: the first page.
// $3 INTEGER: Rows at most.
MATCH (n:{labels})
WHERE n.{id} > coalesce($2, '') OR $2 IS NULL AND n.{id} = ''
WITH n, {names} AS names
UNWIND CASE WHEN $1 THEN tail(names) + {synonyms} ELSE names[.. 1] END AS text
WITH n.{id} AS id, left(text, 4000) AS text
ORDER BY id
LIMIT $3
WITH [id, text] AS row
{chunks}
