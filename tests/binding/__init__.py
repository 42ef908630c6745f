"""The binding proof over real libraries; see proof.py."""
