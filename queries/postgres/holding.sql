-- summary: The nodes with a value that may be one of those asked for: a number, a text or a date between bounds.
-- $1 text[]: The keys of the values; null: all, at any depth.
-- $2 boolean: Whether names and synonyms are values, too.
-- $3 boolean: Whether numbers are asked for, and texts that read as numbers: between $4 and $5, as texts; null: no bound.
-- $6 boolean: Whether dates are asked for: of years between $7 and $8, as texts; null: no bound.
-- $9 text[]: Texts that are asked for, without case; null: none.
-- $10 text: Whether a value is to be one of these (`equal`), to begin with one (`starts`), or to have one in it.
-- $11 bigint: Rows at most.
-- A superset: what is compared in another way elsewhere is not left out: lists, whose members are the values, too. No
-- cast is of a text that may be no number.
SELECT DISTINCT n.id AS n
FROM {nodes} AS n
WHERE jsonb_typeof(n.properties) <> 'object'
  OR ($1::text[] IS NULL OR $2::boolean OR n.properties ?| $1 OR n.columns ?| $1) AND EXISTS (
    SELECT FROM (
      SELECT v.value #>> '{{}}' AS text
      FROM jsonb_path_query(
        CASE
          WHEN $1 IS NULL THEN jsonb_build_array(n.properties, n.columns)
          WHEN n.properties ?| $1 OR n.columns ?| $1 THEN (
            SELECT jsonb_agg(jsonb_build_array(n.properties -> k.key, n.columns -> k.key)) FROM unnest($1) AS k(key)
          )
        END,
        '$.** ? (@.type() == "string" || @.type() == "number" || @.type() == "boolean")'
      ) AS v(value)
      UNION ALL
      SELECT n.name WHERE $2
      UNION ALL
      SELECT s.text FROM jsonb_array_elements_text(n.synonyms) AS s(text) WHERE $2
    ) AS t
    WHERE t.text = 'urn:x-bfsql-blank:array'
      OR $3::boolean AND CASE
        WHEN length(t.text) < 300 AND t.text ~ '^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{{1,4}})?$' THEN
          coalesce(t.text::numeric >= $4::text::numeric, true) AND coalesce(t.text::numeric <= $5::text::numeric, true)
        ELSE t.text ~ '^\s*[+-]?([0-9.][0-9.eE+-]*|[iI][nN][fF][a-zA-Z]*)\s*$'
      END
      OR $6::boolean AND CASE
        WHEN t.text ~ '^\s*(-[0-9]{{1,20}}|[0-9]{{4,20}})([^0-9]|$)' THEN
          coalesce(substring(t.text FROM '-?[0-9]+')::numeric >= $7::text::numeric, true)
            AND coalesce(substring(t.text FROM '-?[0-9]+')::numeric <= $8::text::numeric, true)
        ELSE false
      END
      OR $9::text[] IS NOT NULL AND (
        t.text ~ '[^\x01-\x7f]'
        OR t.text ~ '^\s*([01]|[tT][rR][uU][eE]|[fF][aA][lL][sS][eE])\s*$'
        OR EXISTS (
          SELECT FROM unnest($9) AS x(text) WHERE CASE $10::text
            WHEN 'equal' THEN lower(t.text COLLATE "C") = x.text
            WHEN 'starts' THEN starts_with(lower(t.text COLLATE "C"), x.text)
            ELSE position(x.text IN lower(t.text COLLATE "C")) > 0
          END
        )
      )
  )
LIMIT $11
