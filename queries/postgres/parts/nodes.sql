-- summary: The rows of the table of nodes, under the names that the other queries use.
(
  SELECT {id} AS id, {type}::text AS type, {name} AS name,
    {synonyms} AS synonyms, to_jsonb({properties}) AS properties,
    (SELECT to_jsonb(c) FROM (SELECT {columns}) AS c) AS columns
  FROM {table}
  WHERE {id} IS NOT NULL AND {status}::text IS DISTINCT FROM 'merged'
)
