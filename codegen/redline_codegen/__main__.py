# SPDX-License-Identifier: Apache-2.0
"""`python -m redline_codegen`."""

import sys

from .cli import main

sys.exit(main())
