-- summary: Names or synonyms, in the order of the IDs.
-- $1 boolean: Whether synonyms are asked for, not names.
-- $2 text: The ID after which the page begins; null: the first page.
-- $3 bigint: Rows at most.
SELECT n.id AS n, left(f.text, 4000) AS text FROM {nodes} AS n
CROSS JOIN LATERAL (
  SELECT n.name AS text WHERE n.name ~ '\S' AND NOT $1::boolean
  UNION ALL
  SELECT s.text FROM jsonb_array_elements_text(n.synonyms) AS s(text) WHERE s.text ~ '\S' AND $1::boolean
) AS f
WHERE $2::text IS NULL OR n.id > $2
ORDER BY n.id
LIMIT $3
