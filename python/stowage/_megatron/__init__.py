"""Packing schedulers in the place of those of Megatron-LM and verl."""
