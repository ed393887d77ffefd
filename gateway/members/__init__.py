"""Members: the nodes that a call finds, and what is asked about their values: conditions and order.

Nothing here asks a store. Conditions and walks are read from texts, and decided by ends that a store has read.
"""
