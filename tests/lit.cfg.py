"""The golden tests as LLVM's lit and FileCheck see them: lit tests/golden

The tool is taken from $GRADUS, else from target/release or target/debug; FileCheck and `not` from $LLVM_TOOLS, else from
where LLVM 22 is usually installed, else from the path. Golden files that are compared with a snapshot are left out: only
`cargo test --test golden` can tell whether they are right (see lit_golden.py).
"""

import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from lit_golden import Golden  # noqa: E402

def tool():
    if "GRADUS" in os.environ:
        return os.path.abspath(os.environ["GRADUS"])
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(HERE, "..", "target"))
    found = [os.path.join(target, profile, "gradus") for profile in ("release", "debug")]
    found = [path for path in found if os.path.exists(path)]
    if not found:
        lit_config.fatal("gradus is not built: run cargo build --release, or set GRADUS")
    return os.path.abspath(found[0])


def llvm():
    places = [os.environ.get("LLVM_TOOLS"), "/usr/lib/llvm-22/bin", "/usr/local/opt/llvm@22/bin"]
    on_path = shutil.which("FileCheck") or ""
    for place in [*places, os.path.dirname(on_path)]:
        if place and os.path.exists(os.path.join(place, "FileCheck")):
            return os.path.abspath(place)
    lit_config.fatal("LLVM's FileCheck was not found: install llvm-22-tools, or set LLVM_TOOLS to its folder")


config.name = "gradus"
config.suffixes = [".mlir"]
config.test_format = Golden(execute_external=False)
config.test_source_root = HERE
config.test_exec_root = os.path.join(tempfile.gettempdir(), "gradus-lit")
config.environment["PATH"] = os.pathsep.join([os.path.dirname(tool()), llvm(), config.environment["PATH"]])
