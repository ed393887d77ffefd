"""Engines that no other test needs, each as the project of its own publishes it, bound to loopback."""
