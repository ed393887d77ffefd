// summary: The full-text indexes of nodes that are online: name, labels and properties of each.
// $1 INTEGER: Rows at most.
SHOW FULLTEXT INDEXES YIELD name, entityType, state, labelsOrTypes, properties
WHERE entityType = 'NODE' AND state = 'ONLINE'
RETURN collect([name, labelsOrTypes, properties])[0 .. $1] AS rows,
  size(collect([name, labelsOrTypes, properties])[0 .. $1]) AS total
