"""PM4 tables, encoder, decoder and lowering of the runtime."""
