"""The generator: parsing, snapshots, policy, emission, commands."""
