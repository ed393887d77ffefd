-- summary: The rows of the table of edges, under the names that the other queries use.
(
  SELECT {subject} AS s, {predicate} AS p, {object} AS o, {id}::text AS key, to_jsonb({properties}) AS properties,
    (SELECT to_jsonb(c) FROM (SELECT {columns}) AS c) AS columns
  FROM {table}
  WHERE {subject} IS NOT NULL AND {predicate} IS NOT NULL AND {object} IS NOT NULL
)
