// summary: The indexes on labels: kind, state, labels and properties of each.
// $1 INTEGER: Rows at most.
SHOW INDEXES YIELD entityType, type, state, labelsOrTypes, properties
WHERE entityType = 'NODE'
RETURN collect([type, state, labelsOrTypes, properties])[0 .. $1] AS rows,
  size(collect([type, state, labelsOrTypes, properties])[0 .. $1]) AS total
