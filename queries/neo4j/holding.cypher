// summary: The nodes with a value that may be one of those asked for: a number, a text or a date between bounds.
// $1 LIST<STRING>: The keys of the values; null: all.
// $2 BOOLEAN: Whether names and synonyms are values, too.
// $3 BOOLEAN: Whether numbers are asked for, and texts that read as numbers.
// $4 STRING: The smallest of these; null: none.
// $5 STRING: The largest of these; null: none.
// $6 BOOLEAN: Whether dates are asked for.
// $7 STRING: The first year of these; null: none.
// $8 STRING: The last year of these; null: none.
// $9 LIST<STRING>: Texts that are asked for, without case; null: none.
// $10 STRING: Whether a value is to be one of these (`equal`), to begin with one (`starts`), or to have one in it.
// $11 INTEGER: Rows at most.
// A superset: what is compared or written in another way elsewhere is not left out, and no JSON is read.
MATCH (n:{labels})
WHERE n.{id} IS :: STRING NOT NULL
WITH n, {json_of_n} IS NOT NULL AND (
    $1 IS NULL OR {json_of_n} CONTAINS '\\' OR any(key IN $1 WHERE {json_of_n} CONTAINS key)
  ) AS in_json,
  reduce(found = [], key IN coalesce($1, keys(n)) | found + coalesce(n[key], [])) AS values,
  CASE WHEN $2 THEN {names} + {synonyms} ELSE [] END AS names
WITH n, in_json, [value IN values | [
    toStringOrNull(value), value IS :: STRING NOT NULL OR value IS :: INTEGER NOT NULL OR value IS :: BOOLEAN NOT NULL
  ]] + [name IN names | [name, true]] AS pairs
WHERE in_json OR any(pair IN pairs WHERE any(text IN [pair[0]] WHERE
  $3 AND CASE
    WHEN text =~ '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{{1,4}})?' THEN
      coalesce(toFloatOrNull(text) >= toFloat($4), true) AND coalesce(toFloatOrNull(text) <= toFloat($5), true)
    ELSE text =~ '\\s*[+-]?([0-9.][0-9.eE+-]*|[iI][nN][fF][a-zA-Z]*)\\s*'
  END
  OR $6 AND CASE
    WHEN text =~ '(?s)\\s*(-[0-9]{{1,20}}|[0-9]{{4,20}})([^0-9].*)?' THEN
      all(year IN [toFloatOrNull(
        CASE WHEN trim(text) STARTS WITH '-' THEN '-' + split(trim(text), '-')[1] ELSE split(trim(text), '-')[0] END
      )] WHERE coalesce(year >= toFloat($7), true) AND coalesce(year <= toFloat($8), true))
    ELSE false
  END
  OR $9 IS NOT NULL AND (
    NOT pair[1]
    OR text =~ '(?s).*[^\\x01-\\x7f].*'
    OR text =~ '\\s*([01]|[tT][rR][uU][eE]|[fF][aA][lL][sS][eE])\\s*'
    OR any(sought IN $9 WHERE CASE $10
      WHEN 'equal' THEN toLower(text) = sought
      WHEN 'starts' THEN toLower(text) STARTS WITH sought
      ELSE toLower(text) CONTAINS sought
    END)
  )
))
WITH DISTINCT [n.{id}] AS row
LIMIT $11
{chunks}
