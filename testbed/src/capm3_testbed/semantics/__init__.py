"""What an API server must do, written once, for `World`, the embedded server and a real kube-apiserver.

Apart from the tests of each: only cases that hold on the real one are here, so that trust in the two stand-ins rests on
something other than their authors.
"""

from capm3_testbed.semantics import deletion, http_answers, lists, schemas, watches, writes
from capm3_testbed.semantics.cases import CASES, Case, Subject

# Importing a theme adds its cases.
THEMES = (writes, deletion, lists, watches, schemas, http_answers)

__all__ = ["CASES", "THEMES", "Case", "Subject"]
