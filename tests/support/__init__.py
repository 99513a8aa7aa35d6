"""What tests of several packages share; `pythonpath` in pytest's table makes it importable for all of them."""

import pytest

pytest.register_assert_rewrite("tests.support.submission_store")
