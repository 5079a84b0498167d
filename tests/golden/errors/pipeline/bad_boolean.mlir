// RUN: gradus opt %s --canonicalize=top-down=maybe

// expected-error@unknown {{for the --top-down option: 'maybe' is invalid value for boolean argument! Try 0 or 1}}
module {
}
