-- summary: A column with a name that is blank, which is none; null where it has a name.
CASE WHEN {column}::text !~ '\S' THEN {column}::text END
