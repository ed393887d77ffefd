-- summary: Removes the table of what is left out, where that is nothing.
DROP TABLE {left_out}
