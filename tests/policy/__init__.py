"""What never leaves the gateway: drawn graphs, a naive rule of what is hidden, and drawn questions."""
