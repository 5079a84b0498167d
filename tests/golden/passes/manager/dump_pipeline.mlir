// RUN: gradus opt %s --cse --canonicalize="max-iterations=3 top-down=false disable-patterns={a,{b,c},'d e'} disable-patterns=q" --dump-pass-pipeline

func.func private @f()
