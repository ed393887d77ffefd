"""From a topology to the page that a model reads: filters, metadata, labels, size."""
