"""Generator of libredline.so's shims: header -> model -> policy -> emitted files."""
