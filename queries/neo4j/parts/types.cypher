// summary: The types of a node `n`: its labels, without those that are no types.
[label IN labels(n) WHERE NOT label IN keys({{{no_types}}})]
