-- summary: Entities with a name or synonym that equals a text, in any case.
-- $1 text: The text.
-- $2 text[]: Types of the entities; null: any.
-- $3 bigint: Rows at most.
SELECT f.id AS n, left(f.text, 4000) AS text, f.is_synonym FROM (
  SELECT n.id, n.type, n.properties, n.name AS text, false AS is_synonym FROM {nodes} AS n
  WHERE lower(n.name) = lower($1::text)
  UNION ALL
  SELECT n.id, n.type, n.properties, s.text, true FROM {nodes} AS n
  CROSS JOIN LATERAL jsonb_array_elements_text(n.synonyms) AS s(text)
  WHERE lower(s.text) = lower($1::text)
) AS f
WHERE $2::text[] IS NULL OR f.type = ANY ($2) OR f.properties -> '@type' ?| $2
LIMIT $3
