-- summary: The texts of a column with lists or JSON, as a JSON list: also numbers, and the values of value objects.
(
  jsonb_path_query_array(to_jsonb({column}), '$[*][*] ? (@.type() != "object" && @.type() != "array" && @.type() != "null")')
  || jsonb_path_query_array(to_jsonb({column}), '$[*][*]."@value" ? (@.type() == "string")')
)
