#!/usr/bin/env bash
# Makes seeds, runs a target, minimizes a corpus, or runs the regressions; README.md says more.
set -euo pipefail
cd "$(dirname "$0")"
targets=(reader readers onnx artifact plan passes rules)
bin=target/x86_64-unknown-linux-gnu/release
limits=(-timeout=30 -rss_limit_mb=2048 -max_len=4096)

# split FILE FOLDER: the parts of a golden file, each as a file of at most 4096 bytes
split_golden() {
    python3 - "$1" "$2" <<'PY'
import hashlib, pathlib, sys
for part in pathlib.Path(sys.argv[1]).read_bytes().split(b"// -----"):
    if len(part) <= 4096:
        (pathlib.Path(sys.argv[2]) / hashlib.sha1(part).hexdigest()[:16]).write_bytes(part)
PY
}

seeds() {
    for target in "${targets[@]}"; do mkdir -p "corpus/$target"; done
    find ../tests/golden -name '*.mlir' | while read -r file; do split_golden "$file" corpus/reader; done
    tar xzf ../tests/conformance/mlir-dev.tar.gz -C corpus --wildcards '*/invalid/*.mlir' --transform 's,.*/,reader/,'
    cp corpus/reader/* corpus/readers/
    tar xzf ../tests/conformance/onnx-node-dev.tar.gz -C corpus --wildcards '*.onnx' --transform 's,/,-,g;s,^,onnx/,'
    find ../tests/golden -path '*addr*' -name '*.mlir' | while read -r file; do split_golden "$file" corpus/artifact; done
    printf '\0id,lower,upper,size,alignment,offset\na,0,3,5,4,\nb,1,2,9,,7\n' > corpus/plan/all
}

run() { # TARGET SECONDS
    mkdir -p "corpus/$1" "artifacts/$1"
    "$bin/$1" "corpus/$1" -max_total_time="$2" -artifact_prefix="artifacts/$1/" -print_final_stats=1 "${limits[@]}"
}

minimize() { # TARGET
    mkdir -p "corpus/$1.less"
    "$bin/$1" -merge=1 "corpus/$1.less" "corpus/$1" "${limits[@]}"
    rm -r "corpus/$1" && mv "corpus/$1.less" "corpus/$1"
}

regressions() {
    for target in "${targets[@]}"; do
        find "regressions/$target" -type f -print0 2>/dev/null | xargs -0r "$bin/$target" "${limits[@]}"
    done
}

"$@"
