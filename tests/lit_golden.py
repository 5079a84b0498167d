"""Which golden files lit runs; a module of its own, because lit sends its tests to other processes."""

import lit.formats

DECIDES = ("FileCheck", "gradus filecheck", "gradus check", "--verify-diagnostics")


class Golden(lit.formats.ShTest):
    """All files whose RUN lines decide about them."""

    def getTestsInDirectory(self, *args):
        for test in super().getTestsInDirectory(*args):
            with open(test.getSourcePath(), encoding="utf-8") as file:
                runs = [line for line in file if "RUN:" in line]
            if any(word in run for word in DECIDES for run in runs):
                yield test
