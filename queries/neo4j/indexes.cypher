// summary: The indexes of a database that serve queries, with what they are over.
// $1 INTEGER: Rows at most.
SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, state
WHERE state = 'ONLINE'
RETURN [[name, type, entityType, labelsOrTypes, properties]] AS rows
LIMIT $1
